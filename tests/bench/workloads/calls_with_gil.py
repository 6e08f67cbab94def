# SPDX-License-Identifier: MIT
"""Long calls into C that keep the GIL: a signal comes at once, its Python handler would not. calls_with_gil.py [ROUNDS]"""
import sys


def power(n):
    return pow(3, 30011 + n, (1 << 6000) - 1) & 0xFFFF


def order(n):
    return sorted(((i * 7919 + n) % 100003 for i in range(60000)), reverse=True)[5]


def text(n):
    return len(str(7 ** (20000 + n)))


if hasattr(sys, 'set_int_max_str_digits'):
    sys.set_int_max_str_digits(0)
total = 0
for i in range(int(sys.argv[1]) if len(sys.argv) > 1 else 25):
    total += power(i) + order(i) + text(i)
print('calls with the GIL', total)
