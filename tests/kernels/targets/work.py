# SPDX-License-Identifier: MIT
"""Works in one way until it has used its CPU time: work.py WAY SECONDS. The ways are the functions below.

Prints @NAME pid=N tid=N for each process and thread when it begins.
"""
import mmap
import os
import sys
import threading
import time

SECONDS = float(sys.argv[2])


def say(name):
    print("@%s pid=%d tid=%d" % (name, os.getpid(), threading.get_native_id()), flush=True)


def spin(end):
    while time.thread_time() < end:
        sum(range(500))


def spinning():
    spin(time.thread_time() + SECONDS)


def calling():
    end = time.thread_time() + SECONDS
    while time.thread_time() < end:
        for _ in range(20):
            os.stat("/usr/bin/python3")


def touch(area):
    for place in range(0, len(area), 4096):
        area[place] = sum(range(100)) & 1


def faulting():
    area = mmap.mmap(-1, 4 << 20)
    if hasattr(area, "madvise"):
        area.madvise(mmap.MADV_NOHUGEPAGE)
    touch(area)


def in_thread(name):
    say(name)
    spinning()


def threading_():
    threads = [threading.Thread(target=in_thread, args=("thread%d" % i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def in_child(name):
    say(name)
    spinning()
    os._exit(0)


def forking():
    for i in range(3):
        if os.fork() == 0:
            in_child("child%d" % i)
    for _ in range(3):
        os.wait()


def deep(depth):
    if depth:
        deep(depth - 1)
    else:
        spinning()


def recursing():
    sys.setrecursionlimit(1000)
    deep(300)


say("main")
{"spin": spinning, "call": calling, "fault": faulting, "thread": threading_, "fork": forking,
 "deep": recursing}[sys.argv[1]]()
