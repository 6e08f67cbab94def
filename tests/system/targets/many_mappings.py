# SPDX-License-Identifier: MIT
"""Maps pieces of a file again and again, executable, then loads a library and works in it.

argv: library with work_late(CPU seconds), how many mappings, CPU seconds. Prints @main when it has them.
"""
import ctypes
import mmap
import os
import sys

sys.dont_write_bytecode = True
from compat import say  # noqa: E402

LIBRARY, COUNT, SECONDS = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int,
                      ctypes.c_long]


def map_many():
    handle = os.open(sys.executable, os.O_RDONLY)
    for number in range(COUNT):  # neighbours of one another in the file would become one mapping
        place = libc.mmap(None, mmap.PAGESIZE, mmap.PROT_READ | mmap.PROT_EXEC, mmap.MAP_PRIVATE,
                          handle, number % 2 * 2 * mmap.PAGESIZE)
        assert place not in (None, 2 ** 64 - 1), os.strerror(ctypes.get_errno())


def late(work):
    for _ in range(int(SECONDS * 10)):
        work(0.1)


map_many()
work_late = ctypes.CDLL(LIBRARY).work_late
work_late.argtypes = [ctypes.c_double]
say("@main pid=%d" % os.getpid())
late(work_late)
