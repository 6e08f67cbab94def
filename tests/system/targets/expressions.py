# SPDX-License-Identifier: MIT
"""A line of which one expression takes nearly all the time; argv: CPU seconds."""
import sys
import time


def many(numbers):
    return sum(numbers)


def work(numbers):
    return ('é', len(numbers), sum(numbers), numbers[0]), many(numbers)


NUMBERS = list(range(20000))
end = time.process_time() + float(sys.argv[1])
while time.process_time() < end:
    work(NUMBERS)
