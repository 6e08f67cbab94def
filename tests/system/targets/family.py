# SPDX-License-Identifier: MIT
"""A parent that works, a forked child, an exec'd child and its own child; each works in its own function.

argv: CPU seconds [role].
"""
import os
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import compat  # noqa: E402,F401

SECONDS = float(sys.argv[1])
ROLE = sys.argv[2] if len(sys.argv) > 2 else "parent"


def work():
    end = time.process_time() + SECONDS
    while time.process_time() < end:
        sum(range(300))


def parent():
    work()


def forked():
    work()


def spawned():
    work()


def grandchild():
    work()


def say(role):
    os.write(1, b"@%s pid=%d tid=%d\n" % (role.encode(), os.getpid(), os.getpid()))


def spawn(role):
    return subprocess.Popen([sys.executable, os.path.abspath(__file__), str(SECONDS), role])


say(ROLE)
if ROLE == "parent":
    pid = os.fork()
    if pid == 0:
        say("forked")
        forked()
        os._exit(0)
    child = spawn("spawned")
    parent()
    os.waitpid(pid, 0)
    sys.exit(child.wait())
if ROLE == "spawned":
    child = spawn("grandchild")
    spawned()
    sys.exit(child.wait())
grandchild()
