# SPDX-License-Identifier: MIT
"""Works in machine code without a file; argv[1] says what /tmp/perf-PID.map is."""
import ctypes
import mmap
import os
import sys
import time

LOOP = bytes.fromhex("48c7c080f0fa0248ffc875fbc3")  # mov $50000000,%rax; 1: dec %rax; jnz 1b; ret
PATH = "/tmp/perf-%d.map" % os.getpid()
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(LOOP)
address = ctypes.addressof(ctypes.c_char.from_buffer(page))


def write(path, size=0):
    with open(path, "wb") as file:
        file.write(b"%x 1000 believed\n" % address)
        if size:
            file.truncate(size)


if sys.argv[1] == "fifo":
    os.mkfifo(PATH)
elif sys.argv[1] == "link":
    write(sys.argv[2])
    os.symlink(sys.argv[2], PATH)
elif sys.argv[1] == "foreign":
    write(PATH)
    os.chown(PATH, 65534, 65534)
elif sys.argv[1] == "huge":
    write(PATH, 20 << 30)
else:
    write(PATH)
try:
    print("@main", flush=True)
    end = time.process_time() + 1
    while time.process_time() < end:
        ctypes.CFUNCTYPE(None)(address)()
finally:
    os.unlink(PATH)
print("@done", flush=True)
