#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures LTTng traces and prints what came out; no test.

    bench.py [--seconds N] SIDEWINDER

A program that is busy on each of two processors is recorded at 10 kHz through LTTng into its own session with
channels of the default size, then one at 1 kHz with and without native frames: events discarded, and bytes
that a sample takes, all files of a trace counted, in a CTF directory and in the LTTng trace of the same recording.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

TARGET = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "system", "targets", "spin.py")


def size_of(folder):
    return sum(os.path.getsize(os.path.join(path, name)) for path, _, names in os.walk(folder) for name in names)


def record(options, work, what, processes, *arguments):
    trace = os.path.join(work, "trace")
    busy = [subprocess.Popen([sys.executable, TARGET, str(10 * options.seconds)], stdout=subprocess.DEVNULL)
            for _ in range(processes)]
    try:
        done = subprocess.run([options.profiler, "record", "--json", "-o", trace, "-d", str(options.seconds),
                               *(word for process in busy for word in ("-p", str(process.pid))), *arguments],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    if done.returncode not in (0, 3):
        sys.exit(done.stderr)
    summary = json.loads(done.stdout)
    samples = summary["samples"]
    read = json.loads(subprocess.run([options.profiler, "report", "--json", trace + "-lttng"], check=True,
                                     stdout=subprocess.PIPE, text=True).stdout)["recording"]
    print("%-34s %8d samples, %d discarded by LTTng, %d missing in its trace; bytes a sample: CTF %.1f, LTTng %.1f" % (
        what, samples, summary["lttng"]["events_discarded"], read["lost"]["lttng"],
        size_of(trace) / samples, size_of(trace + "-lttng") / samples), flush=True)
    for folder in (trace, trace + "-lttng"):
        shutil.rmtree(folder)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("profiler")
    options = parser.parse_args()
    options.profiler = os.path.abspath(options.profiler)
    work = tempfile.mkdtemp(prefix="sidewinder-bench-")
    try:
        record(options, work, "10 kHz, two processes, native", 2, "--lttng", "-F", "10000")
        record(options, work, "1 kHz, one process, Python alone", 1, "--lttng", "--native=none")
        record(options, work, "1 kHz, one process, native", 1, "--lttng")
    finally:
        shutil.rmtree(work, ignore_errors=True)


main()
