# SPDX-License-Identifier: MIT
"""Processes and their cost: interpreters on this machine, CPU time, memory, BPF run statistics."""
import contextlib
import glob
import os
import re
import signal
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TEN = os.path.join(HERE, 'ten.py')
DEEP = os.path.join(HERE, 'deep.py')
OLDEST, NEWEST = (3, 8), (3, 13)
STATISTICS = '/proc/sys/kernel/bpf_stats_enabled'
PERF_EVENT_PROGRAM = '7'  # BPF_PROG_TYPE_PERF_EVENT


def interpreters():
    """{'3.11.7 shared': path} of every supported CPython found, oldest first."""
    paths = []
    for folder in os.environ.get('PATH', '').split(':') + ['/usr/bin', '/usr/local/bin']:
        paths += glob.glob(os.path.join(folder, 'python3.[0-9]*'))
    root = os.environ.get('PYENV_ROOT', os.path.expanduser('~/.pyenv'))
    paths += glob.glob(os.path.join(root, 'versions', '*', 'bin', 'python3.[0-9]*'))
    found, seen = {}, set()
    for path in paths:
        if not re.fullmatch(r'python3\.\d+', os.path.basename(path)) or '/shims/' in path:
            continue
        real = os.path.realpath(path)
        if real in seen:
            continue
        seen.add(real)
        version = describe(real)
        if version:
            found.setdefault(version, real)
    return dict(sorted(found.items(), key=lambda item: [int(x) for x in re.findall(r'\d+', item[0])]))


def describe(path):
    """'3.11.7 shared' or '3.11.2 static', None if this is no CPython that is supported."""
    code = ('import sys, platform; assert platform.python_implementation() == "CPython";'
            'print("%d.%d.%d" % sys.version_info[:3], "shared" if "/libpython" in open("/proc/self/maps").read()'
            ' else "static")')
    try:
        out = subprocess.run([path, '-c', code], capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if out.returncode:
        return None
    version = tuple(int(x) for x in out.stdout.split()[0].split('.')[:2])
    return out.stdout.strip() if OLDEST <= version <= NEWEST else None


class Child:
    """A program of which the cost is wanted: start, wait, `cpu_s` and `max_rss` afterwards."""

    def __init__(self, command, **keywords):
        keywords.setdefault('stdin', subprocess.DEVNULL)
        self.popen = subprocess.Popen(command, **keywords)
        self.pid = self.popen.pid
        self.status = self.cpu_s = self.max_rss = None

    def send(self, number):
        if self.status is None:
            os.kill(self.pid, number)

    def wait(self, timeout=600):
        end = time.monotonic() + timeout
        while self.status is None:
            pid, status, usage = os.wait4(self.pid, os.WNOHANG)
            if pid:
                self.status = self.popen.returncode = os.waitstatus_to_exitcode(status)
                self.cpu_s = usage.ru_utime + usage.ru_stime
                self.max_rss = usage.ru_maxrss * 1024
            elif time.monotonic() > end:
                os.kill(self.pid, signal.SIGKILL)
                end += timeout
            else:
                time.sleep(0.01)
        return self.status


def cpu_ns(pid):
    """CPU time of all living threads of a process; to the nanosecond where the kernel keeps schedstat."""
    total = 0
    if not os.path.exists('/proc/%d/schedstat' % pid):
        with open('/proc/%d/stat' % pid) as file:
            fields = file.read().rpartition(')')[2].split()
        return (int(fields[11]) + int(fields[12])) * 1000000000 // os.sysconf('SC_CLK_TCK')
    for path in glob.glob('/proc/%d/task/*/schedstat' % pid):
        with contextlib.suppress(OSError), open(path) as file:
            total += int(file.read().split()[0])
    return total


def resident_bytes(pid):
    with open('/proc/%d/status' % pid) as file:
        return int(re.search(r'VmRSS:\s+(\d+) kB', file.read()).group(1)) * 1024


def samples_now(pid):
    """Is a perf event of this process open?"""
    for path in glob.glob('/proc/%d/fd/*' % pid):
        with contextlib.suppress(OSError):
            if 'perf_event' in os.readlink(path):
                return True
    return False


def wait_until_sampling(child, timeout=20):
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        if child.popen.poll() is not None:
            return False
        if samples_now(child.pid):
            return True
        time.sleep(0.005)
    return False


@contextlib.contextmanager
def bpf_statistics():
    """Has the kernel keep run time and count of BPF programs, and puts the switch back as it was."""
    with open(STATISTICS) as file:
        before = file.read().strip()
    try:
        with open(STATISTICS, 'w') as file:
            file.write('1')
        yield
    finally:
        with open(STATISTICS, 'w') as file:
            file.write(before)


def bpf_runs(pid):
    """(nanoseconds, runs) of the perf event programs that a process holds, as fdinfo has them."""
    programs = {}
    for path in glob.glob('/proc/%d/fdinfo/*' % pid):
        with contextlib.suppress(OSError), open(path) as file:
            fields = dict(re.findall(r'^(\w+):\s*(\S+)$', file.read(), re.M))
            if fields.get('prog_type') == PERF_EVENT_PROGRAM:
                programs[fields['prog_id']] = int(fields['run_time_ns']), int(fields['run_cnt'])
    return sum(ns for ns, _ in programs.values()), sum(runs for _, runs in programs.values())


def tree_bytes(path):
    return sum(os.path.getsize(os.path.join(folder, name))
               for folder, _, names in os.walk(path) for name in names)
