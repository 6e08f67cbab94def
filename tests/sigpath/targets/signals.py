# SPDX-License-Identifier: MIT
"""Uses signals hard, and writes what came of it to the file that it is given. Steps by name."""
import faulthandler
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time

OUT = open(sys.argv[1], "w")


def say(*what):
    print(*what, file=OUT, flush=True)


def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        sum(range(100))


def handlers():
    seen = []
    signal.signal(signal.SIGUSR1, lambda number, frame: seen.append(int(number)))
    for _ in range(200):
        os.kill(os.getpid(), signal.SIGUSR1)
        sum(range(100))
    say(len(seen), set(seen))
    say(signal.signal(signal.SIGTRAP, lambda number, frame: seen.append("trap")))
    os.kill(os.getpid(), signal.SIGTRAP)
    burn(0.01)
    say(seen[-1], callable(signal.getsignal(signal.SIGTRAP)))
    signal.signal(signal.SIGTRAP, signal.SIG_IGN)
    os.kill(os.getpid(), signal.SIGTRAP)
    say(signal.getsignal(signal.SIGTRAP) == signal.SIG_IGN)


def masks():
    everything = set(range(1, signal.NSIG)) - {32, 33}
    signal.pthread_sigmask(signal.SIG_BLOCK, everything)
    burn(0.05)
    say(sorted(int(number) for number in signal.pthread_sigmask(signal.SIG_BLOCK, [])))
    os.kill(os.getpid(), signal.SIGUSR2)
    say(int(signal.sigwait({signal.SIGUSR2, signal.SIGTRAP, signal.SIGIO})))
    say(signal.sigtimedwait(everything, 0.02))
    say(signal.sigpending())
    os.kill(os.getpid(), signal.SIGTRAP)
    say([int(number) for number in signal.sigpending()])
    seen = []
    signal.signal(signal.SIGTRAP, lambda number, frame: seen.append(number))
    signal.pthread_sigmask(signal.SIG_SETMASK, set())
    say(len(seen))


def wakeups():
    signal.signal(signal.SIGALRM, lambda number, frame: None)
    reader, writer = socket.socketpair()
    reader.setblocking(False)
    writer.setblocking(False)
    signal.set_wakeup_fd(writer.fileno())
    os.kill(os.getpid(), signal.SIGALRM)
    burn(0.05)
    say(reader.recv(100))


def interruptions():
    ticks = []
    signal.signal(signal.SIGALRM, lambda number, frame: ticks.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
    began = time.monotonic()
    time.sleep(0.1)
    select.select([], [], [], 0.1)
    say(time.monotonic() - began >= 0.2, bool(ticks))
    reader, writer = os.pipe()
    threading.Timer(0.05, os.write, (writer, b"x")).start()
    say(os.read(reader, 1))
    signal.setitimer(signal.ITIMER_REAL, 0)


def faults():
    faulthandler.enable(OUT)
    faulthandler.register(signal.SIGUSR1, OUT, all_threads=False, chain=False)
    os.kill(os.getpid(), signal.SIGUSR1)
    for number in ("SIGSEGV", "SIGABRT", "SIGTRAP", "SIGKILL"):
        code = "import os, signal; os.kill(os.getpid(), signal.%s)" % number
        say(number, subprocess.run([sys.executable, "-c", code], stderr=subprocess.DEVNULL).returncode)


def children():
    code = "import os, threading; threading.Thread(target=sum, args=(range(10**5),)).start(); os._exit(7)"
    say([subprocess.run([sys.executable, "-c", code]).returncode for _ in range(3)])
    say(subprocess.run(["sh", "-c", "kill -TRAP $$"]).returncode)
    for _ in range(5):
        pid = os.fork()
        if not pid:
            burn(0.02)
            os._exit(5)
        say(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) if hasattr(os, "waitstatus_to_exitcode") else 5)
    for _ in range(10):
        pid = os.fork()
        if not pid:
            os.execv("/bin/sh", ["sh", "-c", "exec true"])
        say(os.waitpid(pid, 0)[1])


def threads():
    counts = []

    def work():
        burn(0.01)
        counts.append(1)

    for _ in range(5):
        workers = [threading.Thread(target=work) for _ in range(10)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    say(len(counts))


def descriptors():
    burn(0.05)
    say(sorted(int(name) for name in os.listdir("/proc/self/fd"))[-1] < 900, os.open("/dev/null", 0) - OUT.fileno())


for step in (handlers, masks, wakeups, interruptions, faults, children, threads, descriptors):
    say("--", step.__name__)
    step()
say("end")
OUT.close()
if len(sys.argv) > 2:
    os.execv(sys.executable, [sys.executable, "-c", "import os; sum(range(10**6)); os._exit(%s)" % sys.argv[2]])
