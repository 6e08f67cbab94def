# SPDX-License-Identifier: MIT
"""Runs the profiler as a user does and reads back what it recorded.

Takes the path of the built program; gives exit status, output, the summary object and the samples in
the normal form of tests/cases/check.py. Used by the system tests and the runner of the cases.
"""
import json
import os
import re
import signal
import subprocess
import threading
import time

TICKS = os.sysconf("SC_CLK_TCK")
ROLE = re.compile(r"^@(\S+) pid=(\d+)(?: tid=(\d+))?", re.M)


class Skip(Exception):
    """Raised with the reason why a test cannot run on this machine."""


def slow(test):
    """Marks a test that takes too long for each `make check`."""
    test.slow = True
    return test


def alone(test):
    """Marks a test that looks at the whole machine: no other runs beside it."""
    test.alone = True
    return test


def read_text(path):
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def interpreters(every=False):
    """[(version, path)] of each CPython that interpreters.sh finds, oldest first; every: with --all."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "interpreters.sh")
    lines = subprocess.run(["sh", script, *["--all"] * every], stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return [tuple(line.split(" ", 1)) for line in lines]


def is_usual(version):
    """Is it one of the versions on which `make check` runs everything?"""
    return (3, 8) <= minor_version(version) <= (3, 13)


def is_musl(version):
    """Is it one that interpreters.sh found to be linked with musl?"""
    return version.endswith("m")


def has_symbols(python):
    """Has the file that holds the interpreter more names than those it exports?"""
    files = subprocess.check_output([python, "-c", "import re; print('\\n'.join(set(re.findall("
                                     "r'/.*/(?:libpython|python)[^/\\n]*$', open('/proc/self/maps').read(), re.M))))"],
                                    text=True).split("\n")
    held = [name for name in files if "/libpython" in name] or [name for name in files if name]
    with open(held[0], "rb") as file:
        return b"\0.symtab\0" in file.read()


def newest(pythons):
    """Of [(version, path)]: the newest usual one, otherwise the newest of all."""
    return ([found for found in pythons if is_usual(found[0])] or pythons)[-1]


def telling(test):
    """Marks a test that runs on the rarer versions too at each `make check`."""
    test.telling = True
    return test


def since(*version):
    """Marks a test of what versions before this one do not have."""
    def mark(test):
        test.since = version
        return test
    return mark


def prepare_process():
    """Makes what is started from here the same on every machine, in the background or not."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)  # a shell has its background jobs ignore some
    os.environ["XDG_CONFIG_HOME"] = "/nonexistent"  # whoever tests may have defaults of their own
    # shares and counts shall be those of a machine that has nothing else to do, as far as that goes
    os.setpriority(os.PRIO_PROCESS, 0, -10)
    try:  # where the scheduler groups processes by session, their niceness counts inside of it only
        with open("/proc/self/autogroup", "w") as file:
            file.write("-10")
    except OSError:
        pass


def minor_version(version):
    return tuple(int(part) for part in version.split(".")[:2])


def roles_of(text):
    """{role: [(pid, tid or None)]} of the @role lines that a target printed."""
    roles = {}
    for name, pid, tid in ROLE.findall(text):
        roles.setdefault(name, []).append((int(pid), int(tid) if tid else None))
    return roles


def last_summary(text):
    """The summary object in `text`, which may hold a target's own output around it; or None."""
    start, decoder = len(text), json.JSONDecoder()
    while start > 0:
        start = text.rfind("{", 0, start)
        if start == 0 or start > 0 and text[start - 1] == "\n":
            try:
                found = decoder.raw_decode(text, start)[0]
            except ValueError:
                continue
            if "overflows" in found:
                return found
    return None


def cpu_seconds(pid, tid=None, field=11):
    """CPU time of a process (or one thread of it) so far; None if it is gone. field 13: its children's."""
    try:
        if tid:
            with open("/proc/%d/task/%d/schedstat" % (pid, tid)) as file:
                return int(file.read().split()[0]) / 1e9
        with open("/proc/%d/stat" % pid, errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[field]) + int(fields[field + 1])) / TICKS
    except (OSError, IndexError, ValueError):
        return None


def bpf_programs():
    """Ids of the BPF programs of ours that are in the kernel, whoever loaded them."""
    done = subprocess.run(["bpftool", "-j", "prog", "show"], stdout=subprocess.PIPE, text=True)
    return {program["id"] for program in json.loads(done.stdout or "[]")
            if program.get("name", "").startswith("sdw_")}


def bpf_programs_held(pids=None):
    """Ids of the BPF programs that processes (all, or these) hold by a file descriptor."""
    found = set()
    for pid in pids or filter(str.isdigit, os.listdir("/proc")):
        folder = "/proc/%s/fdinfo" % pid
        try:
            for name in os.listdir(folder):
                found.update(map(int, re.findall(r"^prog_id:\s*(\d+)$",
                                                 read_text(os.path.join(folder, name)), re.M)))
        except OSError:  # the process is gone
            continue
    return found


def waiting_seconds(pid):
    """(run, waited): what the threads that a process has now ran, and waited for a processor."""
    run = waited = 0
    try:
        for name in os.listdir("/proc/%d/task" % pid):
            numbers = read_text("/proc/%d/task/%s/schedstat" % (pid, name)).split()
            if len(numbers) == 3:
                run, waited = run + int(numbers[0]) / 1e9, waited + int(numbers[1]) / 1e9
    except OSError:  # the process is gone
        pass
    return run, waited


class CpuWatch(threading.Thread):
    """Follows the roles that appear in a target's output, and the CPU time they have used."""

    PAUSE = 0.02

    def __init__(self, path, locate=lambda pid: pid):
        super().__init__(daemon=True)
        self.path = path
        self.locate = locate  # from a pid as the target sees it to ours
        self.located = {}
        self.history = {}  # (pid, tid) -> [(unix time, CPU seconds)]
        self.children = {}  # (pid, tid) -> CPU seconds of the children that it has waited for
        self.waited = {}  # pid -> (run, waited) at the last look
        self.seen = {}  # role -> unix time when its line was first there
        self.done = threading.Event()
        self.start()

    def run(self):
        roles, size = {}, -1
        while not self.done.wait(self.PAUSE):
            now_size = os.path.getsize(self.path) if os.path.exists(self.path) else 0
            if now_size != size:
                size, roles = now_size, roles_of(read_text(self.path))
            for role, ids in roles.items():
                self.seen.setdefault(role, time.time())
                for key in ids:
                    used = self.cpu_seconds(*key)
                    if used is not None:
                        now = waiting_seconds(self.located[key[0]])
                        if sum(now) >= sum(self.waited.get(key[0], (0, 0))):
                            self.waited[key[0]] = now
                        children = cpu_seconds(self.located[key[0]], None, 13)
                        self.children[key] = max(children or 0.0, self.children.get(key, 0.0))
                        self.history.setdefault(key, []).append((time.time(), used))

    def cpu_seconds(self, pid, tid):
        if pid not in self.located:
            self.located[pid] = self.locate(pid)
        outer = self.located[pid]
        return cpu_seconds(outer, tid if outer == pid else None) if outer else None

    def stop(self):
        self.done.set()
        self.join()

    def used(self, key, start, end):
        """CPU seconds that (pid, tid) used between two unix times."""

        def at(when):
            before = (when - 1, 0.0) if not points else (points[0][0] - 0.05, 0.0)
            for point in points:
                if point[0] >= when:
                    span = point[0] - before[0]
                    share = (when - before[0]) / span if span > 0 else 0
                    return before[1] + max(0.0, share) * (point[1] - before[1])
                before = point
            return before[1]

        points = self.history.get(key, [])
        return at(end) - at(start)


class Recording:
    """What one run of `sidewinder record` left: status, stdout, stderr, summary, trace."""

    def __init__(self, profiler, trace, status, stdout, stderr):
        self.profiler, self.trace, self.status = profiler, trace, status
        self.stdout, self.stderr = stdout, stderr
        self.summary = last_summary(stdout)
        self._samples = {}

    def samples(self, *options):
        """Samples in normal form, added up by thread and stack; with "--samples" one by one."""
        if options not in self._samples:
            text = self.export("jsonl", *options)
            self._samples[options] = [json.loads(line) for line in text.split("\n") if line]
        return self._samples[options]

    def looked_at(self):
        """Samples of processes that were looked at: how long that takes is up to the machine."""
        return self.summary["samples"] - self.summary["status"]["pending"]

    def overflows_of_target(self):
        """How many there should have been; the timers of a machine that is shared come late."""
        return self.summary["overflows"] - self.summary["lost"]["outside_target"]

    def export(self, to, *options):
        return self.profiler.run("export", self.trace, "--to=" + to, *options).stdout

    def report(self, *options):
        return self.profiler.run("report", self.trace, *options).stdout

    def faults(self):
        """What is wrong with the recording whatever was recorded; [] if nothing."""
        found = []
        summary = self.summary
        if summary is None:
            return ["no JSON summary on stdout"]
        samples, status, lost = (summary.get(key) for key in ("samples", "status", "lost"))
        if samples != sum(status.values()):
            found.append("samples %r is not the sum of %r" % (samples, status))
        if summary.get("overflows") != samples + sum(lost.values()):
            found.append("overflows %r != samples %r + lost %r" % (summary.get("overflows"), samples, lost))
        for reason in ("ring_full", "consumer", "no_scratch"):
            if lost.get(reason):
                found.append("lost %d: %s" % (lost[reason], reason))
        weights = sum(sample.get("w", 1) for sample in self.samples())
        if weights != samples:
            found.append("exported weights are %r, samples in the summary %r" % (weights, samples))
        if re.search(r"libbpf:|processed \d+ insns|runtime error:|AddressSanitizer", self.stderr):
            found.append("stderr is not for people: %s" % self.stderr[-300:])
        return found


class Profiler:
    """The program under test."""

    def __init__(self, path):
        self.path = os.path.abspath(path)

    def run(self, *arguments, check=True, env=None, timeout=120, **options):
        """Runs any sub-command to its end; an unexpected status is an error."""
        options.setdefault("stdin", subprocess.DEVNULL)
        done = subprocess.run([self.path, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              encoding="utf-8", errors="surrogateescape", timeout=timeout,
                              env=dict(os.environ, **(env or {})), **options)
        if check and done.returncode != 0:
            raise AssertionError("sidewinder %s: status %d: %s" % (
                " ".join(arguments), done.returncode, done.stderr.strip()[-500:]))
        return done

    def record(self, trace, *arguments, timeout=120, env=None, cwd=None):
        """Records to the end; arguments hold options and the target. Never fails by itself."""
        done = self.run("record", "--json", "-o", trace, *arguments, check=False, timeout=timeout,
                        env=env, cwd=cwd)
        return Recording(self, trace, done.returncode, done.stdout, done.stderr)

    def start(self, stdout, stderr, *arguments, env=None, **options):
        """Starts any sub-command with its output in files; gives the Popen object."""
        options.setdefault("stdin", subprocess.DEVNULL)
        with open(stdout, "wb") as out, open(stderr, "wb") as err:
            return subprocess.Popen([self.path, *arguments], stdout=out, stderr=err,
                                    env=dict(os.environ, **(env or {})), **options)


def has_begun(trace):
    """True once the recording counts: its metadata is there before, to see that it can be written, and of no time."""
    text = read_text(os.path.join(trace, "metadata"))
    return "start_ns = " in text and "start_ns = 0;" not in text


PATIENCE = 5  # bounds of waiting are those of a machine that does nothing else: others get so many times as long


def wait_for(condition, seconds=10.0, what="condition"):
    """Polls until condition() is true and gives its value; AssertionError when time is up."""
    seconds *= PATIENCE
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError("no %s within %g s" % (what, seconds))
        time.sleep(0.02)


def with_tracefs(context):
    """The profiler, where need be in a mount namespace that has tracefs."""
    point = "/sys/kernel/tracing/events/sched/sched_process_fork"
    if os.path.exists(point):
        return context.profiler
    wrapper = context.file("with-tracefs")
    with open(wrapper, "w") as file:
        file.write("#!/bin/sh\n[ -n \"$INSIDE\" ] || unshare -m true || exit 77\n"
                   "[ -n \"$INSIDE\" ] || INSIDE=1 exec unshare -m \"$0\" \"$@\"\n"
                   "mount -t tracefs none /sys/kernel/tracing && test -e %s || exit 77\n"
                   "exec %s \"$@\"\n" % (point, context.profiler.path))
    os.chmod(wrapper, 0o755)
    profiler = Profiler(wrapper)
    if profiler.run("--version", check=False).returncode == 77:
        raise Skip("no tracefs")
    return profiler
