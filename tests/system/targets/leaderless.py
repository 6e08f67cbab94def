# SPDX-License-Identifier: MIT
"""The main thread ends by itself, without the interpreter's knowing; another one works on.

argv: CPU seconds. Prints @worker when the main thread is gone.
"""
import ctypes
import os
import sys
import threading
import time

sys.dont_write_bytecode = True
import compat  # noqa: E402,F401


def state_of_leader():
    with open("/proc/self/task/%d/stat" % os.getpid()) as file:
        return file.read().rpartition(")")[2].split()[0]


def worker():
    while state_of_leader() != "Z":
        time.sleep(0.01)
    os.write(1, ("@worker pid=%d tid=%d\n" % (os.getpid(), threading.get_native_id())).encode())
    end = time.thread_time() + float(sys.argv[1])
    while time.thread_time() < end:
        sum(range(300))
    os._exit(0)


threading.Thread(target=worker).start()
ctypes.CDLL(None).syscall(60, 0)  # exit of this thread alone, x86-64
