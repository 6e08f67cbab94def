#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Records the programs of given/ on each interpreter and has check.py and verify.py judge them.

    run.py [--slice] [--case TEXT] [--python TEXT] [--jobs N] [--work DIR] SIDEWINDER

Prints one TAP line a recording, then a matrix of cases and interpreters; status 1 if one failed.
What a failed recording left stays in DIR.
"""
import argparse
import collections
import concurrent.futures
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "tools"))
sys.dont_write_bytecode = True

import check  # noqa: E402
import environments  # noqa: E402
import recording as rec  # noqa: E402
import table  # noqa: E402

LIMIT = 150  # seconds that one recording may take before it counts as hanging


class Run:
    """One recording of one case by one interpreter, and what is wrong with it."""

    def __init__(self, profiler, case, variant, version, python, work):
        self.profiler, self.case, self.variant = profiler, case, variant
        self.version, self.python = version, python
        self.python_version = rec.minor_version(version)
        self.base = work
        self.folder = os.path.join(HERE, "given", case)
        label = "-" + re.sub(r"\W+", "_", variant.label) if variant.label else ""
        self.work = os.path.join(work, case + label, version)
        self.name = "%s%s %s" % (case, " (%s)" % variant.label if variant.label else "", version)
        self.seconds, self.rate = variant.seconds, variant.rate
        self.problems = []
        self.recording = self.watch = None
        self.stdout = self.stderr = ""

    def file(self, name):
        return os.path.join(self.work, name)

    # what verify.py uses

    def expect(self, condition, words):
        if not condition and words not in self.problems and len(self.problems) < 8:
            self.problems.append(words)
        return bool(condition)

    def samples(self, *options):
        return self.recording.samples(*options)

    @property
    def roles(self):
        return rec.roles_of(self.stdout)

    def weight_of(self, role):
        ids = self.roles.get(role, [])
        return sum(sample.get("w", 1) for sample in self.samples()
                   if any(sample["pid"] == pid and tid in (None, sample["tid"]) for pid, tid in ids))

    def cpu(self, role):
        start = self.recording_start() if self.variant.start in ("attach", "inside") else 0
        return sum(self.watch.used(key, start, time.time()) for key in self.roles.get(role, []))

    def starved(self):
        """What the machine kept from the target, in words; "" if the target had the processors it
        wanted. The expectations about shares are those of a machine that has nothing else to do."""
        allowed = max(0.0, 1 - os.cpu_count() / self.variant.wants) + 0.2
        for pid, (ran, waited) in self.watch.waited.items():
            if ran + waited > 0.5 and waited / (ran + waited) > allowed:
                return "the machine is busy: pid %d waited %.1f s for a processor and ran %.1f s" % (
                    pid, waited, ran)
        children = re.search(r"^@done children=(\d+)", self.stdout, re.M)
        if children:  # each works 0.15 s by the clock (60-short-lived)
            each = max(self.watch.children.values(), default=0) / max(1, int(children.group(1)))
            if each < 0.14:
                return "the machine is busy: each child ran %.2f s" % each
        return ""

    def busy(self):
        starved = self.starved() if self.watch else ""
        return starved and starved + "; "

    def only_shares(self):
        """Is nothing wrong but shares of time?"""
        return all(re.match(r"FAIL (share|any|leaf|cpu) ", problem) for problem in self.problems)

    def again(self):
        return Run(self.profiler, self.case, self.variant, self.version, self.python,
                   os.path.join(self.base, "again"))

    def recording_start(self, recording=None):
        """Unix time when counting began, as the trace says."""
        metadata = rec.read_text(os.path.join((recording or self.recording).trace, "metadata"))
        return int(re.search(r"start_unix_ns\s*=\s*(\d+)", metadata).group(1)) / 1e9

    def recording_of(self, trace):
        return rec.Recording(self.profiler, trace, 0, self.stdout, self.stderr)

    # running it

    def target(self):
        script = os.path.join(self.folder, "run.sh")
        musl = rec.is_musl(self.version) or os.environ.get("MUSL_PY")
        if os.path.exists(script) and (self.case != "33-musl" or musl):
            return ["sh", script, "%g" % self.seconds]
        return [self.python, os.path.join(self.folder, "target.py"), "%g" % self.seconds,
                *self.variant.argv]

    def environment(self):
        changes = {"PY": self.python, "PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": self.file("tmp")}
        if rec.is_musl(self.version):
            changes["MUSL_PY"] = self.python
        changes.update(self.variant.env)
        return changes

    def options(self, trace):
        return ["record", "--json", "-F", str(self.rate), *self.variant.options, "-o", trace]

    def wait(self, process, what):
        try:
            return process.wait(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            self.expect(False, "%s hangs" % what)
            return None

    def start_target(self, out):
        with open(self.file(out), "wb") as stdout, open(self.file("target.err"), "wb") as stderr:
            return subprocess.Popen(self.target(), stdin=subprocess.DEVNULL, stdout=stdout,
                                    stderr=stderr, env=dict(os.environ, **self.environment()))

    def run_command(self):
        process = self.profiler.start(self.file("stdout"), self.file("stderr"),
                                      *self.options(self.file("trace")), "--", *self.target(),
                                      env=self.environment())
        return self.wait(process, "record")

    def role_pid(self, target):
        """The pid to attach to, once the target has said it; None if the target ended before."""
        role = self.variant.role
        rec.wait_for(lambda: target.poll() is not None or
                     role in rec.roles_of(rec.read_text(self.file("stdout"))), 30, "@%s" % role)
        pid = rec.roles_of(rec.read_text(self.file("stdout"))).get(role, [(None, None)])[0][0]
        if pid and role.startswith("inside_"):  # it printed its number in a namespace of its own
            mine = [role[len("inside_"):].encode(), b"%g" % self.seconds]
            pid = next(int(entry) for entry in os.listdir("/proc") if entry.isdigit() and
                       set(mine) <= set(command_line(entry)[1:]) and
                       b"python" in os.path.basename(command_line(entry)[0]))
        return pid

    def outer_pid(self, inner):
        """Our number of the target that has the number `inner` in a pid namespace of its own."""
        for entry in filter(str.isdigit, os.listdir("/proc")):
            numbers = re.search(r"^NSpid:\s+(.*)$", rec.read_text("/proc/%s/status" % entry), re.M)
            if numbers and numbers.group(1).split()[1:] == [str(inner)] and \
                    os.path.join(self.folder, "target.py").encode() in command_line(entry):
                return int(entry)
        return None

    def run_attached(self):
        target = self.start_target("stdout")
        pid = self.role_pid(target)
        if pid is None:
            self.wait(target, "target")
            return target.returncode
        process = self.profiler.start(self.file("prof.out"), self.file("stderr"),
                                      *self.options(self.file("trace")), "-p", str(pid))
        status = self.wait(process, "record -p")
        self.wait(target, "target")
        return 77 if target.returncode == 77 else status

    def run_beside_all(self):
        process = self.profiler.start(self.file("prof.out"), self.file("stderr"),
                                      *self.options(self.file("trace")), "-a")
        rec.wait_for(lambda: process.poll() is not None or
                     rec.has_begun(self.file("trace")), 30, "trace")
        target = self.start_target("stdout")
        self.wait(target, "target")
        process.send_signal(signal.SIGINT)
        status = self.wait(process, "record -a")
        return 77 if target.returncode == 77 else status

    def run_inside(self):
        """The case's own run.sh starts the profiler."""
        program = self.profiler.path
        if self.case == "64-no-privilege":  # "nobody" may not look into the build folder
            place = self.nobodys_folder = os.path.join("/tmp", "sidewinder-test-%d-%d" % (
                os.getpid(), threading.get_ident()))
            os.mkdir(place)
            os.chmod(place, 0o755)
            program = shutil.copy(program, place)
        options = {"79-attach-twice": ["-d", "2"], "62-disk-full": ["-d", "1"],
                   "64-no-privilege": ["-d", "1"]}.get(self.case, [])
        output = "%OUT%" if self.case != "32-profiler-in-namespace" else self.file("trace")
        words = [program, "record", "-F", str(self.rate), *options, "-p", "%PID%", "-o", output]
        if self.case in ("32-profiler-in-namespace", "58-interrupted"):
            words.insert(2, "--json")
        changes = dict(self.environment(), PROF=" ".join(map(shlex.quote, words)),
                       OUT=self.file("trace"), OUTDIR=self.work)
        with open(self.file("stdout"), "wb") as stdout, open(self.file("stderr"), "wb") as stderr:
            process = subprocess.Popen(self.target(), stdin=subprocess.DEVNULL, stdout=stdout,
                                       stderr=stderr, env=dict(os.environ, **changes))
        status = self.wait(process, "run.sh")
        if self.case == "64-no-privilege":
            shutil.rmtree(place)
        return status

    def execute(self):
        """Records and judges; raises rec.Skip where the case cannot run here."""
        os.makedirs(self.file("tmp"))
        specifications = re.findall(r"^py:(.*)$", rec.read_text(os.path.join(self.folder, "expect.md")), re.M)
        version = "%d.%d" % self.python_version
        if not any(check.py_ok(specification, version) for specification in specifications or [version]):
            raise rec.Skip("the program is not for CPython %s" % version)
        if self.python_version < self.variant.since:
            raise rec.Skip("this way it does not run on CPython %s" % version)
        if self.python_version >= self.variant.named and not rec.has_symbols(self.python):
            raise rec.Skip("the interpreter's file has only exported names")
        if self.variant.need:
            self.python = environments.with_package(self.python, self.version, self.variant.need)
        # 30-pid-namespace has two processes with one number each, and says of neither which it is here
        locate = {"32-profiler-in-namespace": self.outer_pid, "30-pid-namespace": lambda pid: None}
        self.watch = rec.CpuWatch(self.file("stdout"), locate.get(self.case, lambda pid: pid))
        started = {"command": self.run_command, "attach": self.run_attached,
                   "all": self.run_beside_all, "inside": self.run_inside}[self.variant.start]
        try:
            status = started()
        finally:
            self.watch.stop()
        self.stdout = rec.read_text(self.file("stdout"))
        self.stderr = rec.read_text(self.file("stderr"))
        if status == 77:
            words = (self.stderr + rec.read_text(self.file("target.err"))).strip()
            raise rec.Skip(words.splitlines()[-1] if words else "status 77")
        self.expect(status == self.variant.status, "status %r, not %d; stderr: %s" % (
            status, self.variant.status, self.stderr.strip()[-300:]))
        self.inspect()

    def inspect(self):
        self.recording = rec.Recording(self.profiler, self.file("trace"), 0, self.stdout +
                                       rec.read_text(self.file("prof.out")), self.stderr)
        killed = self.variant.env.get("SIG") == "KILL"
        if os.path.exists(self.recording.trace) and not killed:
            self.problems += self.recording.faults()
        if self.variant.judge:
            self.judge(self.recording)
        if self.variant.verify:
            self.variant.verify(self)

    def measured(self, expect_file):
        """--cpu options: what each role used, but not where a rule is about the whole time."""
        if self.variant.start == "inside" and self.case != "32-profiler-in-namespace":
            return []
        rules = re.findall(r"^cpu (\S+) (>=|<=)", rec.read_text(expect_file), re.M)
        return [word for role, sign in sorted(set(rules)) if sign == ">=" and self.cpu(role) > 0
                for word in ("--cpu", "%s=%.4f" % (role, self.cpu(role)))]

    def judge(self, recording, name="samples"):
        """Has check.py say what it thinks; its words about a failure become problems."""
        samples = self.file(name + ".jsonl")
        with open(samples, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(recording.export("jsonl"))
        expect_file = os.path.join(self.folder, "expect.md")
        native = [] if "--native=none" in self.variant.options else ["--mode", "native"]
        done = subprocess.run(
            [sys.executable, os.path.join(HERE, "check.py"), expect_file, samples, "--roles",
             self.file("stdout"), "--rate", str(self.rate), "--secs", str(self.seconds), "--py",
             self.version, "--mode", "whole", *native, *self.measured(expect_file)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
            errors="surrogateescape")
        lines = done.stdout.splitlines()
        if done.returncode == 0 and lines[-1].startswith("0 passed"):
            raise rec.Skip("not for this version")
        if done.returncode != 0:
            bad = [line for line in lines if line.startswith("FAIL")] or lines[-3:]
            self.problems += [line for line in bad if not table.disputed(
                self.case, line[5:].partition("   [")[0], self.python_version)][:6]


def command_line(pid):
    try:
        with open("/proc/%s/cmdline" % pid, "rb") as file:
            return file.read().split(b"\0")
    except OSError:
        return [b""]


class Results:
    """Prints each result as it comes, and the matrix at the end."""

    def __init__(self, count):
        self.lock, self.number, self.count = threading.Lock(), 0, count
        self.cells = collections.defaultdict(list)  # (case, version) -> words
        self.failed = 0
        print("1..%d" % count, flush=True)

    def add(self, run, problems, skip, took):
        with self.lock:
            self.number += 1
            word = "skip" if skip else "FAIL" if problems else "pass"
            self.cells[run.case, run.version].append(word)
            self.failed += word == "FAIL"
            line = "%s %d - %s" % ("not ok" if problems else "ok", self.number, run.name)
            print(line + (" # SKIP " + skip if skip else "  (%.1f s)" % took))
            for problem in problems:
                text = problem.encode("utf-8", "backslashreplace").decode()
                print("#   " + text.replace("\n", "\n#   "))
            sys.stdout.flush()

    def matrix(self):
        versions = sorted({version for _, version in self.cells}, 
                          key=lambda version: [int(part) for part in re.findall(r"\d+", version)] + [version])
        print("\n%-28s%s" % ("", "".join("%9s" % version for version in versions)))
        for case in sorted({case for case, _ in self.cells}):
            row = []
            for version in versions:
                words = self.cells.get((case, version), ["-"])
                row.append(next(word for word in ("FAIL", "pass", "skip", "-") if word in words))
            print("%-28s%s" % (case, "".join("%9s" % word for word in row)))
        counts = collections.Counter(word for words in self.cells.values() for word in words)
        print("\n%d recordings: %d passed, %d failed, %d skipped" % (
            self.number, counts["pass"], counts["FAIL"], counts["skip"]))


def perform(run, results, postponed=None):
    """postponed: takes what failed, to be done once more at the end: a shared machine may be busy."""
    began, skip = time.monotonic(), None
    try:
        run.execute()
    except rec.Skip as reason:
        skip = str(reason)
    except Exception as error:  # a broken recording must not stop the others
        run.problems.append("%s: %s" % (type(error).__name__, error))
    if run.problems and postponed is not None:
        postponed.append(run)
        return
    if run.problems and postponed is None and run.only_shares() and run.starved():
        skip, run.problems = "%s; %s" % (run.starved(), run.problems[0]), []
    results.add(run, run.problems, None if run.problems else skip, time.monotonic() - began)
    if not run.problems:
        shutil.rmtree(run.work, ignore_errors=True)


def plan(options, profiler):
    pythons = rec.interpreters(options.every)
    if options.python:
        pythons = [found for found in pythons if options.python in " ".join(found)]
    if not pythons:
        sys.exit("run.py: no CPython 2.7 or 3.6 to 3.15 found")
    runs, plain = [], table.plain()
    for version, python in pythons:
        for case in sorted(os.listdir(os.path.join(HERE, "given"))):
            variants = table.variants_of(case)
            if options.slice and (version, python) != rec.newest(pythons):
                telling = table.TELLING if rec.is_usual(version) else table.MOST_TELLING
                variants = variants[:1] if case in telling else []
            if options.telling and case not in table.TELLING and not (case == "33-musl" and rec.is_musl(version)):
                continue
            for variant in variants:
                if options.slice and variant.seconds == plain.seconds and not variant.alone:
                    variant = variant._replace(seconds=2)
                run = Run(profiler, case, variant, version, python, options.work)
                if options.case in run.name:
                    runs.append(run)
    return runs


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sidewinder")
    parser.add_argument("--slice", action="store_true", help="what fits into make check")
    parser.add_argument("--telling", action="store_true", help="only the telling ones, on every interpreter")
    parser.add_argument("--every", action="store_true", help="all interpreters, see make pythons")
    parser.add_argument("--case", default="", help="only recordings whose name holds this")
    parser.add_argument("--python", default="", help="only interpreters whose version or path holds this")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count()))
    parser.add_argument("--work", default="build/cases")
    options = parser.parse_args()
    if os.geteuid() != 0:
        print("1..0 # SKIP recording needs root")
        return 77
    rec.prepare_process()
    options.work = os.path.abspath(options.work)
    shutil.rmtree(options.work, ignore_errors=True)
    environments.ROOT = os.path.join(options.work, os.pardir, "venvs")
    runs = plan(options, rec.Profiler(options.sidewinder))
    results = Results(len(runs))
    postponed = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(lambda run: perform(run, results, postponed),
                      [run for run in runs if not run.variant.alone]))
    for run in runs:
        if run.variant.alone:
            perform(run, results, postponed)
    for run in postponed:
        print("# once more at the end: %s: %s%s" % (run.name, run.busy(), run.problems[0]))
        perform(run.again(), results)
    results.matrix()
    return 1 if results.failed else 0


if __name__ == "__main__":
    sys.exit(main())
