# SPDX-License-Identifier: MIT
"""Threads that wait in known places; prints as JSON what their stacks and variables are.

Each says by an event that it is about to wait; the stacks are those of sys._current_frames() once
nothing moves any more. The last line on stdout is "ready".
"""
import ctypes
import gc
import json
import os
import queue
import socket
import sys
import threading
import time

LOCK = threading.Lock()
LOCK.acquire()
FOREVER = 100000
READY = []


class Point:
    pass


def about_to_wait():
    READY.append(threading.current_thread().name)


def in_lock(number, text="it's", *rest, **more):
    none, yes, no = None, True, False
    zero, negative, large = 0, -7, 2 ** 100
    third, tiny, huge, whole, infinite = 1 / 3, 1e-7, 1.5e300, 3.0, float("-inf")
    quotes, lines, wide = "\"'", "a\tb\nc\\d", "\u00e9\u20ac\U0001f40d"
    data = b"x\x00'\xff"
    items, one, empty = [1, "two", [3.0, None]], ("a",), ()
    mapping = {"k": 1, 2: "two", (3,): {"deep": []}}
    point = Point()
    captured = 42
    unbound = 1
    del unbound

    def inner():
        return captured
    about_to_wait()
    LOCK.acquire()
    return locals()


def long_values():
    text = "x" * 200
    items = list(range(20))
    nested = [[[[1]]]]
    number = 1 << 2000
    about_to_wait()
    LOCK.acquire()
    return locals()


def in_sleep():
    about_to_wait()
    time.sleep(FOREVER)


def in_socket():
    near, far = socket.socketpair()
    about_to_wait()
    near.recv(1)
    return far


def in_queue():
    about_to_wait()
    queue.Queue().get()


def in_call_without_gil():
    about_to_wait()
    ctypes.CDLL(None).sleep(FOREVER)


class Key:
    def __lt__(self, other):
        about_to_wait()
        LOCK.acquire()
        return False


def in_sort():
    sorted([Key(), Key()])


def recurse(depth):
    if depth:
        recurse(depth - 1)
    else:
        about_to_wait()
        LOCK.acquire()


def deep():
    recurse(300)


def collector(phase, info):
    if phase == "start" and threading.current_thread().name == "in_collector":
        about_to_wait()
        time.sleep(FOREVER)


def in_collector():
    gc.callbacks.append(collector)
    gc.collect()


def name_of(code):
    return getattr(code, "co_qualname", code.co_name)


def stack_of(frame):
    frames = []
    while frame:
        frames.append([name_of(frame.f_code), frame.f_code.co_filename, frame.f_lineno])
        frame = frame.f_back
    return frames


def representation(value):
    known = (int, float, str, bytes, bool, type(None), list, tuple, dict)
    return repr(value) if type(value) in known else "<%s>" % type(value).__name__


def main():
    waits = [in_lock, long_values, in_sleep, in_socket, in_queue, in_call_without_gil, in_sort, deep,
             in_collector]
    for wait in waits:
        arguments = (12, "it's", "rest") if wait is in_lock else ()
        threading.Thread(target=wait, name=wait.__name__, args=arguments, daemon=True).start()
    while len(READY) < len(waits):
        time.sleep(0.01)
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    while True:  # until two looks see the same
        before = {names[ident]: stack_of(frame) for ident, frame in sys._current_frames().items()}
        time.sleep(0.3)
        after = {names[ident]: stack_of(frame) for ident, frame in sys._current_frames().items()}
        del before["MainThread"], after["MainThread"]
        if before == after:
            break
    frames = {names[ident]: frame for ident, frame in sys._current_frames().items()}
    frame = frames["in_lock"]
    values = {name: representation(value) for name, value in frame.f_locals.items()}
    del frames, frame
    json.dump({"stacks": after, "locals": values}, sys.stdout)
    print("\nready", flush=True)
    time.sleep(FOREVER)


main()
