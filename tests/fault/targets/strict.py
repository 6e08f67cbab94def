# SPDX-License-Identifier: MIT
"""Forbids itself every system call but read, write and exit, and works for ever: it is ended by SIGKILL."""
import ctypes
import itertools

PR_SET_SECCOMP, SECCOMP_MODE_STRICT = 22, 1


def work():
    for _ in itertools.repeat(None):
        pass


print("@main", flush=True)
if ctypes.CDLL(None).prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0:
    work()
