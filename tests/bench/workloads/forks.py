# SPDX-License-Identifier: MIT
"""Forks all the time, from threads too; children work, exec, or exit at once. forks.py [ROUNDS]"""
import os
import subprocess
import sys
import threading


def burn(x, n=20000):
    for _ in range(n):
        x = (x * 1103515245 + 12345) & 0x3FFFFFFF
    return x


def child(work):
    """Forks; the child's answer comes through a pipe, and its exit status."""
    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            os.write(writer, b'%d' % work())
        finally:
            os._exit(7)
    os.close(writer)
    data = os.read(reader, 64)
    os.close(reader)
    return int(data), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) if hasattr(
        os, 'waitstatus_to_exitcode') else os.WEXITSTATUS(os.waitpid(pid, 0)[1])


def grandchild():
    return child(lambda: burn(3))[0] + 1


rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 30
results = []
for turn in range(rounds):
    results.append(child(lambda: burn(turn)))
    results.append(child(grandchild))
    results.append((subprocess.call(['/bin/sh', '-c', 'exit 3']), 0))
    if turn % 10 == 0:
        thread = threading.Thread(target=lambda: results.append(child(lambda: burn(turn + 1))))
        thread.start()
        thread.join()
print('forks', len(results), sum(value for value, _ in results), sorted({status for _, status in results}))
