# SPDX-License-Identifier: MIT
"""A busy loop under a given number of Python frames, in slices of equal work.

deep.py DEPTH [--seconds S] [--out FILE] [--slice MS]

The chain is of distinct functions, so that no frame equals another. Each slice does the same work; after each one the
thread's CPU time and the clock are noted. Ends after S seconds or at SIGTERM, and writes the notes as JSON:
what a slice costs more while somebody samples is what sampling costs the program.
Runs on CPython 3.8 and later.
"""
import argparse
import json
import os
import signal
import sys
import time


def burn(n):
    x = 12345
    for _ in range(n):
        x = (x * 1103515245 + 12345) & 0x3FFFFFFF
    return x


def note():
    return time.monotonic_ns(), time.clock_gettime_ns(time.CLOCK_THREAD_CPUTIME_ID)


def slices(n, seconds, stopped):
    """Runs slices of n iterations; (monotonic ns, CPU ns) at every boundary."""
    notes = [note()]
    end = time.monotonic_ns() + int(seconds * 1e9)
    while not stopped and notes[-1][0] < end:
        burn(n)
        notes.append(note())
    return notes


def chain(depth, innermost):
    """A function that calls `innermost` with `depth` frames of distinct functions around it."""
    scope = {'level_0': innermost}
    for i in range(1, depth + 1):
        exec('def level_%d(a, b, c):\n    return level_%d(a, b, c)' % (i, i - 1), scope)
    return scope['level_%d' % depth]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('depth', type=int)
    parser.add_argument('--seconds', type=float, default=3600)
    parser.add_argument('--slice', type=float, default=10)
    parser.add_argument('--out')
    options = parser.parse_args()
    stopped = []
    signal.signal(signal.SIGTERM, lambda *_: stopped.append(1))
    start = note()
    burn(100000)
    iterations = max(1, int(options.slice * 1e6 * 100000 / (note()[1] - start[1])))
    # the module, main, slices and burn are frames too
    notes = chain(max(0, options.depth - 4), slices)(iterations, options.seconds, stopped)
    if options.out:
        with open(options.out, 'w') as file:
            json.dump({'python': sys.version.split()[0], 'pid': os.getpid(), 'iterations': iterations,
                       'notes': notes}, file)


if __name__ == '__main__':
    main()
