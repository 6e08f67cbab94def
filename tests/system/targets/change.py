# SPDX-License-Identifier: MIT
"""Three functions in turn; argv: how often the first is called in a turn, CPU seconds."""
import sys
import time

TIMES, SECONDS = int(sys.argv[1]), float(sys.argv[2])


def burn(count):
    value = 12345
    for _ in range(count):
        value = (value * 1103515245 + 12345) & 0x3FFFFFFF
    return value


def parse():
    return burn(300)


def render():
    return burn(600)


def store():
    return burn(300)


end = time.process_time() + SECONDS
while time.process_time() < end:
    for _ in range(TIMES):
        parse()
    render()
    store()
