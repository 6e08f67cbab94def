# SPDX-License-Identifier: MIT
"""Ten functions with known shares of one linear burner: the program that accuracy is measured on.

ten.py --seconds S [--clock thread|wall] [--cycle MS] [--wait S] [--out FILE]

Runs whole cycles of the ten functions for S seconds (of that clock) and writes, as JSON, what share each had by the
program's own clock, read only between two functions. `thread` is the thread's CPU time, for samplers of
CPU time. Reading it is a system call, and a sampler that stops the program from outside is drawn to
these (one run had 26 % of its samples there), so for those take `wall`, which the vDSO answers.
A cycle lasts 70 ms: the reads are then less than 0.01 % of the time, and no share is a multiple of a period.
Runs on CPython 3.8 and later.
"""
import argparse
import json
import os
import sys
import time

SHARES = [50, 20, 15, 5, 5, 1, 1, 1, 1, 1]


def burn(n):
    x = 12345
    for _ in range(n):
        x = (x * 1103515245 + 12345) & 0x3FFFFFFF
    return x


def f_00(n): return burn(n)
def f_01(n): return burn(n)
def f_02(n): return burn(n)
def f_03(n): return burn(n)
def f_04(n): return burn(n)
def f_05(n): return burn(n)
def f_06(n): return burn(n)
def f_07(n): return burn(n)
def f_08(n): return burn(n)
def f_09(n): return burn(n)


FUNCTIONS = [f_00, f_01, f_02, f_03, f_04, f_05, f_06, f_07, f_08, f_09]


def thread_clock():
    return time.clock_gettime_ns(time.CLOCK_THREAD_CPUTIME_ID)


def calibrate(milliseconds):
    """How many iterations make one hundredth of a cycle of so many milliseconds; the best of some tries."""
    best = min(timed_burn() for _ in range(20))
    return max(1, int(milliseconds * 1e6 / 100 / (best / 10000.0)))


def timed_burn():
    start = thread_clock()
    burn(10000)
    return thread_clock() - start


def run(seconds, chunk, now):
    """Returns the time at every boundary: 10 intervals a cycle, cycle after cycle."""
    work = [(function, share * chunk) for function, share in zip(FUNCTIONS, SHARES)]
    times = [now()]
    end = now() + int(seconds * 1e9)
    while times[-1] < end:
        for function, n in work:
            function(n)
            times.append(now())
    return times


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--seconds', type=float, default=5)
    parser.add_argument('--clock', choices=['thread', 'wall'], default='thread')
    parser.add_argument('--cycle', type=float, default=70)
    parser.add_argument('--wait', type=float, default=0)
    parser.add_argument('--out')
    parser.add_argument('--truth', help='the shares alone, {function: share}, to this file')
    options = parser.parse_args()
    chunk = calibrate(options.cycle)
    time.sleep(options.wait)
    cpu, wall = time.process_time(), time.perf_counter()
    times = run(options.seconds, chunk, thread_clock if options.clock == 'thread' else time.perf_counter_ns)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    spent = [0] * 10
    for i in range(1, len(times)):
        spent[(i - 1) % 10] += times[i] - times[i - 1]
    text = json.dumps({'python': sys.version.split()[0], 'pid': os.getpid(), 'cycles': (len(times) - 1) // 10,
                       'cpu_s': cpu, 'wall_s': wall, 'share': [x / sum(spent) for x in spent],
                       'iterations': chunk * 100 * ((len(times) - 1) // 10), 'times': times})
    if options.truth:
        with open(options.truth, 'w') as file:
            json.dump({function.__name__: x / sum(spent) for function, x in zip(FUNCTIONS, spent)}, file)
    if options.out:
        with open(options.out, 'w') as file:
            file.write(text)
    else:
        print(text)


if __name__ == '__main__':
    main()
