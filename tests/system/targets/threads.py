# SPDX-License-Identifier: MIT
"""One thread at the start, one that begins half way, and one that only calls C without the GIL.

argv: seconds. Every thread prints @NAME pid=N tid=N when it begins.
"""
import hashlib
import os
import sys
import threading
import time

sys.dont_write_bytecode = True
from compat import say as flushed  # noqa: E402

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 3.0
END = time.perf_counter() + SECONDS
DATA = bytes(4 << 20)


def say():
    text = "@%s pid=%d tid=%d\n" % (threading.current_thread().name, os.getpid(),
                                    threading.get_native_id())
    os.write(1, text.encode())  # whole, unlike print()


def work(function, argument):
    end = time.thread_time() + SECONDS / 8  # whatever else wants the processor
    while time.perf_counter() < END or time.thread_time() < end:
        function(argument)


def early():
    say()
    work(sum, range(500))


def late():
    say()
    work(sum, range(500))


def without_gil():
    say()
    work(hashlib.sha256, DATA)


flushed("@main pid=%d" % os.getpid())
threads = [threading.Thread(target=early, name="early"), threading.Thread(target=late, name="late"),
           threading.Thread(target=without_gil, name="without_gil")]
threads[0].start()
threads[2].start()
time.sleep(SECONDS / 2)
threads[1].start()
for thread in threads:
    thread.join()
