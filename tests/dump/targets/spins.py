# SPDX-License-Identifier: MIT
"""Computes without end, below two functions."""
import sys


def spin():
    number = 0
    while True:
        number += 1


def outer():
    spin()


print("ready")
sys.stdout.flush()
outer()
