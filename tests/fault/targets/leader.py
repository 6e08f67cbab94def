# SPDX-License-Identifier: MIT
"""A process whose main thread ends while worker() works for argv[1] seconds on another one."""
import ctypes
import os
import sys
import threading
import time

SYS_EXIT = 60  # of x86-64: ends the calling thread alone


def worker():
    end = time.process_time() + float(sys.argv[1])
    while time.process_time() < end:
        pass
    print("@done", flush=True)
    os._exit(0)


threading.Thread(target=worker).start()
print("@main pid=%d tid=%d" % (os.getpid(), os.getpid()), flush=True)
time.sleep(float(sys.argv[2]))
ctypes.CDLL(None).syscall(SYS_EXIT, 0)
