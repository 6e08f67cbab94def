# SPDX-License-Identifier: MIT
"""Forks children that end at once for argv[1] seconds, and works a little in between."""
import os
import sys
import time


def work():
    for _ in range(3000):
        pass


def storm(seconds):
    end, count = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        child = os.fork()
        if not child:
            os._exit(0)
        count += 1
        work()
        os.waitpid(child, 0)
    return count


print("@main pid=%d tid=%d" % (os.getpid(), os.getpid()), flush=True)
print("@forks %d" % storm(float(sys.argv[1])), flush=True)
