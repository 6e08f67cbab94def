# SPDX-License-Identifier: MIT
"""Four threads that spend their time in C without the GIL: two in numpy. argv: CPU seconds of each."""
import hashlib
import os
import sys
import threading
import time
import zlib

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # what it computes, the caller's thread shall compute
import numpy  # noqa: E402

MATRIX = numpy.random.rand(300, 300)
NUMBERS = numpy.random.rand(200000)
DATA = os.urandom(1 << 20)


def run(work):
    end = time.thread_time() + float(sys.argv[1])
    while time.thread_time() < end:
        work()


def multiply():
    run(lambda: MATRIX @ MATRIX)


def sort():
    run(lambda: numpy.sort(NUMBERS))


def digest():
    run(lambda: hashlib.sha256(DATA).digest())


def squeeze():
    run(lambda: zlib.compress(DATA, 1))


threads = [threading.Thread(target=target) for target in (multiply, sort, digest, squeeze)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
