# SPDX-License-Identifier: MIT
"""What tests of LTTng share: daemons of their own, sessions, and what a trace holds."""
import os
import re
import signal
import subprocess

import recording as rec


def run(*command, check=True, timeout=120):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          encoding="utf-8", errors="surrogateescape", timeout=timeout)
    assert not check or done.returncode == 0, "%s: status %d: %s" % (
        " ".join(command), done.returncode, done.stderr[-500:])
    return done


def processes(name):
    """Pids of the programs of that name which see our /run, whoever started them."""
    ours, found = os.readlink("/proc/self/ns/mnt"), []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink("/proc/%s/ns/mnt" % pid) == ours and rec.read_text(
                    "/proc/%s/comm" % pid).strip() == name[:15]:
                if rec.read_text("/proc/%s/stat" % pid).rpartition(")")[2].split()[0] != "Z":
                    found.append(int(pid))
        except OSError:
            continue
    return found


def end_daemons():
    """Ends every daemon of our namespace, whatever a test has left."""
    for name in ("lttng-sessiond", "lttng-consumerd", "lttng-relayd"):
        for pid in processes(name):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        rec.wait_for(lambda: not processes(name), 10, "end of " + name)
    for name in os.listdir("/dev/shm"):
        os.unlink("/dev/shm/" + name)


class Daemon:
    """A daemon in the foreground, for a `with`: ready inside, gone after it."""

    def __init__(self, context, *command, ready):
        self.log = context.file(command[0] + ".log")
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        rec.wait_for(lambda: ready() or self.process.poll() is not None, 30, command[0])
        assert self.process.poll() is None, rec.read_text(self.log)
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        for number in (signal.SIGCONT, signal.SIGTERM):
            if self.process.poll() is None:
                self.process.send_signal(number)
        try:
            self.process.wait(120)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        end_daemons()


def session_daemon(context):
    def ready():
        return run("lttng", "list", check=False).returncode == 0

    return Daemon(context, "lttng-sessiond", "--no-kernel", ready=ready)


def events(text):
    """[(event's name, {field: value})] of what `babeltrace2` printed."""
    found = []
    for line in text.splitlines():
        name = re.search(r" (?:sidewinder:)?(\w+): ", line)
        fields = dict(re.findall(r'(\w+) = (?:\( "(?:[^"\\]|\\.)*" : container = (?=\d))?("(?:[^"\\]|\\.)*"|-?\d+)',
                                 line[name.end():]))
        found.append((name.group(1), fields))
    return found


def read(*paths):
    """What babeltrace2 prints of traces; a warning fails."""
    done = run("babeltrace2", *paths)
    assert not done.stderr, done.stderr[-1000:]
    return events(done.stdout)
