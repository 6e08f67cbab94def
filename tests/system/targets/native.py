# SPDX-License-Identifier: MIT
"""Python, C, Python, C, Python: libc's qsort calls a comparison that sorts once more. argv: CPU seconds."""
import ctypes
import sys
import time

sys.dont_write_bytecode = True
from compat import say  # noqa: E402

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 2.0
libc = ctypes.CDLL(None)
Compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))


def sort(compare):
    array = (ctypes.c_int * 2)(2, 1)
    libc.qsort(array, 2, ctypes.sizeof(ctypes.c_int), compare)


def spin():
    end = time.process_time() + 0.01
    while time.process_time() < end:
        sum(range(1000))
    return 1


@Compare
def inner(one, two):
    return spin()


@Compare
def outer(one, two):
    sort(inner)
    return 1


say("@main")
end = time.process_time() + SECONDS
while time.process_time() < end:
    sort(outer)
