# SPDX-License-Identifier: MIT
"""Runs functions whose line tables lie on pages that never come; prints @none if it may not."""
import ctypes
import fcntl
import struct
import sys
import time
import types

SYS_USERFAULTFD = 323  # of x86-64
UFFDIO_API, UFFDIO_REGISTER, MADV_DONTNEED = 0xc018aa3f, 0xc020aa00, 4  # linux/userfaultfd.h, sys/mman.h
PAGE = 4096
TABLE = "co_linetable" if sys.version_info >= (3, 10) else "co_lnotab"
libc = ctypes.CDLL(None, use_errno=True)


def work():
    end = time.process_time() + 0.1
    while time.process_time() < end:
        pass


def trap(table):
    """Takes the pages away that a long bytes object lies on, but for the first and the last."""
    start = (id(table) + 2 * PAGE) & -PAGE
    size = (id(table) + len(table)) // PAGE * PAGE - start
    fcntl.ioctl(descriptor, UFFDIO_REGISTER, struct.pack("<4Q", start, size, 1, 0))
    libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(size), MADV_DONTNEED)


descriptor = libc.syscall(SYS_USERFAULTFD, 0)
if descriptor < 0:
    print("@none", flush=True)
    sys.exit()
fcntl.ioctl(descriptor, UFFDIO_API, struct.pack("<3Q", 0xaa, 0, 0))
functions = []
for number in range(5):
    table = bytes([number + 1]) * 600000
    trap(table)
    functions.append(types.FunctionType(work.__code__.replace(**{TABLE: table}), globals()))
print("@main", flush=True)
time.sleep(0.5)
end = time.monotonic() + 30
while time.monotonic() < end:
    for function in functions:
        function()
    work()
