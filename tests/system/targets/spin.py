# SPDX-License-Identifier: MIT
"""Works for argv[1] seconds of its CPU time in heavy (three quarters) and light; prints @main first, @done last."""
import os
import sys
import time

sys.dont_write_bytecode = True
from compat import say  # noqa: E402

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 2.0


def spin(duration):
    end = time.process_time() + duration
    while time.process_time() < end:
        for _ in range(1000):
            pass


def heavy():
    spin(0.03)


def light():
    spin(0.01)


def main():
    end = time.process_time() + SECONDS
    while time.process_time() < end:
        heavy()
        light()


say("@main pid=%d tid=%d" % (os.getpid(), os.getpid()))
main()
say("@done")
