# SPDX-License-Identifier: MIT
"""Blocks every signal for some milliseconds again and again: what comes then is late, and of several one is left.
blocked.py [ROUNDS]"""
import signal
import sys


def burn(x, n):
    for _ in range(n):
        x = (x * 1103515245 + 12345) & 0x3FFFFFFF
    return x


def blocked(x):
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals()
                                    if hasattr(signal, 'valid_signals') else range(1, signal.NSIG))
    x = burn(x, 60000)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return x


def opened(x):
    return burn(x, 60000)


value = 1
for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 60):
    value = opened(blocked(value))
print('blocked', value, sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])))
