# SPDX-License-Identifier: MIT
"""Allocates, forks, makes threads, opens libraries and closes descriptors, over and over; prints what it did."""
import ctypes
import os
import subprocess
import sys
import threading

ROUNDS = int(sys.argv[1])


def allocate():
    kept = []
    for size in range(1, 400):
        kept.append(bytearray(size * 97))
        if size % 3 == 0:
            kept.pop(0)
    return sum(map(len, kept))


def in_threads():
    sums = []
    threads = [threading.Thread(target=lambda: sums.append(allocate())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(sums)


def open_libraries():
    libc = ctypes.CDLL(None)
    libm = ctypes.CDLL("libm.so.6")
    libm.cos.restype = ctypes.c_double
    return libc.abs(-3) + int(libm.cos(ctypes.c_double(0)))


def as_daemon():
    """A child that closes all its descriptors, as daemons do, and opens others with their numbers."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.dup2(writer, 2)
        os.closerange(3, 512)
        for fd in range(3, 64):
            try:
                os.close(fd)
            except OSError:
                pass
        files = [os.open("/dev/null", os.O_WRONLY) for _ in range(8)]
        total = allocate()
        for fd in files:
            os.write(fd, b"x")
            os.close(fd)
        os.write(2, b"%d" % total)
        os._exit(3)
    os.close(writer)
    text = os.read(reader, 64)
    os.close(reader)
    return text.decode(), os.WEXITSTATUS(os.waitpid(child, 0)[1])


def grandchild():
    child = os.fork()
    if not child:
        inner = os.fork()
        if not inner:
            allocate()
            os._exit(5)
        os._exit(os.WEXITSTATUS(os.waitpid(inner, 0)[1]) + 1)
    return os.WEXITSTATUS(os.waitpid(child, 0)[1])


for number in range(ROUNDS):
    done = subprocess.run([sys.executable, "-S", "-c", "print(sum(range(20000)))"], stdout=subprocess.PIPE)
    print(number, allocate(), in_threads(), open_libraries(), as_daemon(), grandchild(), done.stdout, done.returncode)
    sys.stdout.flush()
sys.exit(7)
