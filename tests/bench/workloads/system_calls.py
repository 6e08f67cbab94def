# SPDX-License-Identifier: MIT
"""Most of the time in the kernel: an overflow there becomes a signal only on the way out. system_calls.py [ROUNDS]"""
import os
import sys


def copy(source, sink, size):
    """A signal that is not synchronous cuts a long read short, which is a program's business to expect."""
    done = 0
    while done < size:
        done += os.write(sink, os.pread(source, min(65536, size - done), 0))
    return done


def ask(n):
    pid = os.getppid()
    return sum(os.getppid() == pid for _ in range(n))


def walk(n):
    return sum(len(os.listdir('/proc/self/fd')) > 0 for _ in range(n))


total = [0, 0, 0]
source, sink = os.open('/dev/zero', os.O_RDONLY), os.open('/dev/null', os.O_WRONLY)
for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 40):
    total[0] += copy(source, sink, 32 << 20)
    total[1] += ask(10000)
    total[2] += walk(300)
print('system calls', total)
