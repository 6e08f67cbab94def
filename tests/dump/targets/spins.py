# SPDX-License-Identifier: MIT
"""Computes without end, below two functions."""


def spin():
    number = 0
    while True:
        number += 1


def outer():
    spin()


print("ready", flush=True)
outer()
