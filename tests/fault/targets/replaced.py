# SPDX-License-Identifier: MIT
"""Works in before(), then runs argv[1:] in its place."""
import os
import sys
import time


def before():
    end = time.process_time() + 0.7
    while time.process_time() < end:
        pass


print("@main pid=%d tid=%d" % (os.getpid(), os.getpid()), flush=True)
time.sleep(1)
before()
os.execvp(sys.argv[1], sys.argv[1:])
