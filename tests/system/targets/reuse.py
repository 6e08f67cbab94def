# SPDX-License-Identifier: MIT
"""One pid after another life: a child, another one under its pid, that becomes another program, and a thread.

argv: the other interpreter. Each prints @ROLE pid=N tid=N and works in its own function. Needs
/proc/sys/kernel/ns_last_pid (exit 77).
"""
import os
import sys
import threading
import time

sys.dont_write_bytecode = True
import compat  # noqa: E402,F401

LAST_PID = "/proc/sys/kernel/ns_last_pid"
OTHER = """
import os, sys, time
def third():
    end = clock() + 0.3
    while clock() < end:
        pass
clock = getattr(time, "process_time", None) or time.clock
os.write(1, ("@third pid=%d tid=%d\\n" % (os.getpid(), os.getpid())).encode())
third()
"""


def say(role):
    os.write(1, ("@%s pid=%d tid=%d\n" % (role, os.getpid(), threading.get_native_id())).encode())


def work(seconds=0.3):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(300))


def first():
    say("first")
    work()


def second():
    say("second")
    work()


def thread():
    say("thread")
    work()


def execute():
    os.execv(sys.argv[1], [sys.argv[1], "-c", OTHER])


def prepare(pid):
    with open(LAST_PID, "w") as file:
        file.write(str(pid - 1))


def child(function, pid=0):
    """Runs the function in a child with this pid; whatever else forks meanwhile may get it first."""
    for _ in range(1000):
        if pid:
            prepare(pid)
        own = os.fork()
        if own == 0:
            if pid and os.getpid() != pid:
                os._exit(1)
            function()
            os._exit(0)
        if os.waitpid(own, 0)[1] == 0:
            return own
    sys.exit(77)


def thread_with(tid):
    def run():
        if threading.get_native_id() == tid:
            thread()
            done.append(tid)

    done = []
    for _ in range(1000):
        prepare(tid)
        one = threading.Thread(target=run)
        one.start()
        one.join()
        if done:
            return
    sys.exit(77)


try:
    prepare(os.getpid())
except (OSError, IOError):
    sys.exit(77)
pid = child(first)
child(second, pid)
child(execute, pid)
thread_with(pid)
