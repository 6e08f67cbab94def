# SPDX-License-Identifier: MIT
"""Work under 10, 100 and 800 Python frames of distinct functions, also entered through C. deep.py [ROUNDS]"""
import functools
import sys

LEVELS = 800
sys.setrecursionlimit(10000)


def burn(n):
    x = n
    for _ in range(20000):
        x = (x * 1103515245 + 12345) & 0x3FFFFFFF
    return x


scope = {'level_0': burn}
for i in range(1, LEVELS + 1):
    exec('def level_%d(n):\n    return level_%d(n)' % (i, i - 1), scope)


def through_c(depth, n):
    """Each second frame is called by C: functools.reduce."""
    if not depth:
        return burn(n)
    return functools.reduce(lambda a, b: through_c(depth - 1, n), (0, 0))


total = 0
for turn in range(int(sys.argv[1]) if len(sys.argv) > 1 else 100):
    total += scope['level_10'](turn) + scope['level_100'](turn) + scope['level_%d' % LEVELS](turn)
    total += through_c(60, turn)
print('deep', total)
