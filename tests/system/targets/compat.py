# SPDX-License-Identifier: MIT
"""What targets use and old versions lack: clocks of 2.7 and 3.6, thread ids before 3.8, flushed lines."""
import sys
import threading
import time

if not hasattr(time, "process_time"):
    time.process_time = time.clock
    time.perf_counter = time.time
if not hasattr(time, "thread_time"):
    time.thread_time = time.process_time
if not hasattr(threading, "get_native_id"):
    import ctypes
    threading.get_native_id = lambda: ctypes.CDLL(None).syscall(186)  # gettid, x86-64


def say(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
