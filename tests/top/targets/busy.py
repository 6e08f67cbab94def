# SPDX-License-Identifier: MIT
"""Works until it is killed: hot() most of the time, in two threads; squeeze() in a library.

    busy.py [SECONDS]     ends by itself after so much CPU time
"""
import sys
import threading
import time
import zlib

DATA = bytes(range(256)) * 400


def squeeze():
    return zlib.compress(DATA, 6)


def hot(rounds):
    total = 0
    for number in range(rounds):
        total += number * number % 7
    return total


def a_function_whose_name_is_longer_than_any_narrow_terminal_can_show_in_a_line():
    return hot(20000)


def work(seconds):
    while not seconds or time.process_time() < seconds:
        a_function_whose_name_is_longer_than_any_narrow_terminal_can_show_in_a_line()
        hot(20000)
        squeeze()


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 0
    print("ready", flush=True)
    threading.Thread(target=work, args=(seconds,)).start()
    work(seconds)


main()
