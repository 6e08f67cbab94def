# SPDX-License-Identifier: MIT
"""Forks argv[1] children, eight at a time, that work argv[2] seconds of CPU time each; half of them stay zombies to the end.

Prints @done children=N cpu=SECONDS, of all of them.
"""
import os
import resource
import sys
import time

sys.dont_write_bytecode = True
from compat import say  # noqa: E402

COUNT, SECONDS = int(sys.argv[1]), float(sys.argv[2])


def brief():
    end = time.process_time() + SECONDS
    while time.process_time() < end:
        pass


def ended(pid):
    """Waits for its end, and leaves it a zombie."""
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)


running, zombies = [], []
for number in range(COUNT):
    pid = os.fork()
    if pid == 0:
        brief()
        os._exit(0)
    running.append(pid)
    if len(running) == 8 or number == COUNT - 1:
        for place, one in enumerate(running):
            if place % 2:
                ended(one)
                zombies.append(one)
            else:
                os.waitpid(one, 0)
        running = []
for one in zombies:
    os.waitpid(one, 0)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
say("@done children=%d cpu=%.4f" % (COUNT, used.ru_utime + used.ru_stime))
