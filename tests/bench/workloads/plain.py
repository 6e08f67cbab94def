# SPDX-License-Identifier: MIT
"""Nothing but Python functions: the ways must agree here. plain.py [ROUNDS]"""
import sys


def step(x):
    return (x * 1103515245 + 12345) & 0x3FFFFFFF


def inner(x, n):
    for _ in range(n):
        x = step(x)
    return x


def outer(x, n):
    for _ in range(n):
        x = inner(x, 1000)
    return x


print('plain', outer(1, int(sys.argv[1]) if len(sys.argv) > 1 else 10000))
