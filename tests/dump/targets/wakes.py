# SPDX-License-Identifier: MIT
"""Sleeps again and again in one place, below Python and C functions."""
import sys
import time


def nap(_):
    while True:
        time.sleep(0.02)


class Key:
    def __init__(self, value):
        self.value = value

    def __lt__(self, other):
        return list(map(nap, [0])) is self


def main():
    print("ready")
    sys.stdout.flush()
    sorted([Key(1), Key(2)])


main()
