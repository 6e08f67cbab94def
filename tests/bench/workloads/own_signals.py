# SPDX-License-Identifier: MIT
"""Uses signals hard: a timer, handlers, a wake-up descriptor, sigwait, faulthandler, interrupted calls.
own_signals.py [ROUNDS]"""
import faulthandler
import os
import select
import signal
import sys
import tempfile
import threading
import time

seen = {'user1': 0, 'user2': 0, 'alarm': 0}


def burn(x, n=30000):
    for _ in range(n):
        x = (x * 1103515245 + 12345) & 0x3FFFFFFF
    return x


def count(name):
    def handler(number, frame):
        seen[name] += 1
        assert frame is None or frame.f_code.co_name
    return handler


def interrupted(seconds):
    """A sleep and a select that signals interrupt still last as long as they were asked to."""
    begin = time.monotonic()
    time.sleep(seconds)
    select.select([], [], [], seconds)
    return time.monotonic() - begin >= 2 * seconds


def wait_for(number):
    signal.pthread_sigmask(signal.SIG_BLOCK, [number])
    os.kill(os.getpid(), number)
    got = signal.sigwait([number])
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
    return got == number


def wake(reader):
    """What the wake-up descriptor got: only this program's own signals."""
    time.sleep(0)
    os.set_blocking(reader, False)
    try:
        return os.read(reader, 65536)
    except BlockingIOError:
        return b''


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.signal(signal.SIGUSR1, count('user1'))
    signal.signal(signal.SIGUSR2, count('user2'))
    signal.signal(signal.SIGALRM, count('alarm'))
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    faulthandler.enable()
    dump = tempfile.TemporaryFile()
    faulthandler.register(signal.SIGHUP, file=dump, chain=False)
    signal.setitimer(signal.ITIMER_REAL, 0.003, 0.003)
    value, full, waited, woken = 1, 0, 0, set()
    for turn in range(rounds):
        value = burn(value)
        os.kill(os.getpid(), signal.SIGUSR1)
        thread = threading.Thread(target=lambda: (burn(turn), os.kill(os.getpid(), signal.SIGUSR2)))
        thread.start()
        thread.join()
        full += interrupted(0.002)
        waited += wait_for(signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGHUP)
        woken.update(wake(reader))
    signal.setitimer(signal.ITIMER_REAL, 0)
    woken.update(wake(reader))
    dump.seek(0)
    dumps = dump.read().count(b'Current thread')
    allowed = {signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM}
    print('own signals', value, seen['user1'], seen['user2'], seen['alarm'] > 0, full == rounds, waited,
          dumps, sorted(int(s) for s in woken - allowed), faulthandler.is_enabled())


main()
