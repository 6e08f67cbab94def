# SPDX-License-Identifier: MIT
"""Calls itself argv[1] times and works at the bottom."""
import sys
import threading
import time


def bottom():
    end = time.process_time() + 0.7
    while time.process_time() < end:
        pass


def down(left):
    if left:
        down(left - 1)
    else:
        bottom()


def main():
    down(int(sys.argv[1]))
    print("@done", flush=True)


sys.setrecursionlimit(10 ** 6)
threading.stack_size(1 << 29)
thread = threading.Thread(target=main)
thread.start()
thread.join()
