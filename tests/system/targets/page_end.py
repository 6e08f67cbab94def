# SPDX-License-Identifier: MIT
"""Runs a function whose code object and names end where no page follows. argv: CPU seconds. Prints @main.

What a profiler reads of an object in one go may be larger than the object, and reach into that page.
"""
import ctypes
import mmap
import os
import sys
import time
import types

sys.dont_write_bytecode = True
from compat import say  # noqa: E402

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
PAGE = mmap.PAGESIZE
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int,
                      ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


def at_page_end(thing, changes=()):
    """A copy of an object, the last thing before an unmapped page; words that are keys of changes replaced."""
    size = (thing.__sizeof__() + 7) & ~7
    room = (size + PAGE - 1) // PAGE * PAGE
    start = libc.mmap(None, room + PAGE, mmap.PROT_READ | mmap.PROT_WRITE,
                      mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    libc.munmap(start + room, PAGE)
    address = start + room - size
    ctypes.memmove(address, id(thing), thing.__sizeof__())
    words = (ctypes.c_uint64 * (size // 8)).from_address(address)
    for index, word in enumerate(words):
        words[index] = dict(changes).get(word, word)
    return ctypes.cast(address, ctypes.py_object).value


def edge():
    end = time.process_time() + SECONDS
    while time.process_time() < end:
        pass


names = {id(name): id(at_page_end(name)) for name in
         {edge.__code__.co_name, getattr(edge.__code__, "co_qualname", edge.__code__.co_name)}}
copy = types.FunctionType(at_page_end(edge.__code__, names), globals())
say("@main pid=%d" % os.getpid())
copy()
os._exit(0)
