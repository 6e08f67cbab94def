#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the functions test_* of the test_*.py beside it and prints TAP; status 1 if one failed.

    run.py [--only TEXT] [--python TEXT] [--tests FOLDER] [--every] [--fast] [--jobs N] [--once] SIDEWINDER

A function that takes `python` runs once for each interpreter found (on versions before 3.8 and from
3.14 on only what is marked @rec.telling, unless --every), others once, with the newest.
--fast leaves out functions marked @rec.slow, and all interpreters but the newest.
"""
import argparse
import glob
import importlib
import inspect
import multiprocessing
import os
import shutil
import sys
import tempfile
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, os.pardir, "tools")]
sys.dont_write_bytecode = True

import recording as rec  # noqa: E402


class Context:
    """What a test gets: the profiler, an interpreter, a folder of its own, and targets."""

    def __init__(self, profiler, version, python, folder=HERE):
        self.profiler, self.version, self.python = profiler, version, python
        self.folder = folder
        self.python_version = rec.minor_version(version)
        self.work = tempfile.mkdtemp(prefix="sidewinder-test-")
        self.traces = 0
        self.processes = []

    def file(self, name):
        return os.path.join(self.work, name)

    def target(self, name, *arguments):
        """The command that runs targets/NAME, of the tests' own folder or of this one."""
        places = [os.path.join(folder, "targets", name) for folder in (self.folder, HERE)]
        return [self.python, next(filter(os.path.exists, places)), *map(str, arguments)]

    def fresh_trace(self):
        self.traces += 1
        return self.file("trace%d" % self.traces)

    def record(self, *arguments, **options):
        return self.profiler.record(self.fresh_trace(), *arguments, **options)

    def record_well(self, *arguments, **options):
        """Records; fails unless the status is 0 and every count agrees."""
        recording = self.record(*arguments, **options)
        assert recording.status == 0, "status %d: %s" % (recording.status, recording.stderr[-500:])
        assert not recording.faults(), recording.faults()
        return recording

    def start_target(self, name, *arguments):
        """Starts targets/NAME and waits for its first line; gives the Popen object."""
        import subprocess
        process = subprocess.Popen(self.target(name, *arguments), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, text=True)
        self.processes.append(process)
        process.first_line = process.stdout.readline()
        return process

    def clean_up(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
        shutil.rmtree(self.work, ignore_errors=True)


def tests_of(options):
    pythons = [found for found in rec.interpreters(options.every) if options.python in " ".join(found)]
    if not pythons:
        sys.exit("run.py: no CPython 2.7 or 3.6 to 3.15 found")
    found = []
    for path in sorted(glob.glob(os.path.join(options.tests, "test_*.py"))):
        module = importlib.import_module(os.path.basename(path)[:-3])
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if not name.startswith("test_") or function.__module__ != module.__name__:
                continue
            if options.fast and getattr(function, "slow", False):
                continue
            each = "python" in inspect.signature(function).parameters
            for version, python in pythons if each and not options.fast else [rec.newest(pythons)]:
                if rec.minor_version(version) < getattr(function, "since", ()):
                    continue
                if each and not (options.every or rec.is_usual(version) or hasattr(function, "telling")):
                    continue
                title = "%s: %s%s" % (module.__name__[5:], name[5:].replace("_", " "),
                                      " (%s)" % version if each else "")
                found.append((title, function, each, version, python))
    return [test for test in found if options.only in test[0] or options.only in test[1].__name__]


def perform(test):
    """Gives what is wrong, "" for nothing or None for a skip; the reason of that; seconds."""
    _, function, each, version, python = test
    began = time.monotonic()
    problem = reason = ""
    context = Context(STATE.profiler, version, python, STATE.folder)
    try:
        function(context, python) if each else function(context)
    except rec.Skip as skip:
        problem, reason = None, str(skip)
    except AssertionError as error:
        place = traceback.extract_tb(error.__traceback__)
        own = [entry for entry in place if os.path.basename(entry.filename).startswith("test_")][-1:]
        problem = "%s\n%s" % ("".join("%s:%d: %s" % (os.path.basename(entry.filename), entry.lineno,
                                                     entry.line) for entry in own), error)
    except Exception:
        problem = traceback.format_exc()
    finally:
        context.clean_up()
    return problem, reason, time.monotonic() - began


class STATE:
    """What the processes that run tests inherit."""
    profiler = folder = None
    tests = []


def perform_number(number):
    return perform(STATE.tests[number])


def results(jobs):
    """Runs all tests, `jobs` at a time where they can stand company; gives their numbers and results in order."""
    together = [number for number, test in enumerate(STATE.tests) if not getattr(test[1], "alone", False)]
    single = [number for number, test in enumerate(STATE.tests) if getattr(test[1], "alone", False)]
    if jobs > 1 and len(together) > 1:
        with multiprocessing.get_context("fork").Pool(jobs, maxtasksperchild=1) as pool:
            for number, result in zip(together, pool.imap(perform_number, together, 1)):
                yield number, result
    else:
        single = together + single
    for number in single:
        yield number, perform_number(number)


class Results:
    """Prints each result as it comes. What failed is done once more at the end, alone, and said: a
    shared machine may keep the processor from a test for longer than any bound allows for."""

    def __init__(self):
        self.number = self.failed = 0
        self.again = []

    @staticmethod
    def explain(problem):
        for line in problem.splitlines()[:25]:
            print("#   " + line[:600].encode("utf-8", "backslashreplace").decode())

    def add(self, test, result, last):
        title, (problem, reason, seconds) = STATE.tests[test][0], result
        if problem and not last:
            print("# once more at the end: %s  (%.1f s)" % (title, seconds))
            self.again.append(test)
        else:
            self.number += 1
            self.failed += bool(problem)
            print("%s %d - %s%s" % ("not ok" if problem else "ok", self.number, title,
                                    " # SKIP " + reason if problem is None else "  (%.1f s)" % seconds))
        self.explain(problem or "")
        sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sidewinder")
    parser.add_argument("--only", default="", help="only tests whose name holds this")
    parser.add_argument("--python", default="", help="only interpreters whose version or path holds this")
    parser.add_argument("--tests", default=HERE, help="folder of the tests")
    parser.add_argument("--every", action="store_true", help="all tests on all interpreters, see make pythons")
    parser.add_argument("--fast", action="store_true", help="leave out what takes long")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count()), help="how many at a time")
    parser.add_argument("--once", action="store_true", help="do not repeat what failed")
    options = parser.parse_args()
    sys.path.insert(0, options.tests)
    if os.geteuid() != 0:
        print("1..0 # SKIP recording needs root")
        return 77
    rec.prepare_process()
    STATE.profiler, STATE.folder = rec.Profiler(options.sidewinder), options.tests
    STATE.tests = tests_of(options)
    print("1..%d" % len(STATE.tests), flush=True)
    printed = Results()
    for test, result in results(options.jobs):
        printed.add(test, result, options.once)
    for test in printed.again:
        printed.add(test, perform_number(test), True)
    print("%d of %d failed%s" % (printed.failed, len(STATE.tests), ", %d done twice" % len(printed.again)
                                 if printed.again else ""))
    return 1 if printed.failed else 0


if __name__ == "__main__":
    sys.exit(main())
