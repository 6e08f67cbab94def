#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures LTTng traces and prints what came out; no test.

    bench.py [--seconds N] [--only TEXT] SIDEWINDER

A program that is busy on each of two processors is recorded at 10 kHz through LTTng into its own session with
channels of the default size, then one at 1 kHz with and without native frames: events discarded, and bytes
that a sample takes, all files of a trace counted, in a CTF directory and in the LTTng trace of the same recording.
Last, what a sample of the signal path costs the program with and without the event that its handler writes.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, os.pardir, "bench")]
sys.dont_write_bytecode = True

import cost  # noqa: E402
import paper_cost  # noqa: E402
import sidewinder  # noqa: E402

TARGET = os.path.join(HERE, os.pardir, "system", "targets", "spin.py")


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


def event_cost(options):
    """What the event alone takes in the handler, of a session that is there."""
    build = os.path.dirname(options.profiler)
    folder = os.path.join(build, "bench", "work", "events")
    shutil.rmtree(folder, ignore_errors=True)
    daemon = subprocess.Popen(["lttng-sessiond", "--no-kernel"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    create = ["lttng", "create", "cost", "--output=" + folder]
    try:
        while subprocess.run(create, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
            assert daemon.poll() is None, "the session daemon ended"
            time.sleep(0.1)
        for command in (["lttng", "enable-event", "--userspace", "sidewinder:*", "--filter=recorder == 0"],
                        ["lttng", "start"]):
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        done = subprocess.run([os.path.join(build, "bench", "event_cost"), os.path.join(build, "lttng-handler.so")],
                              stdout=subprocess.PIPE, check=True, text=True)
        subprocess.run(["lttng", "destroy", "cost"], check=True, stdout=subprocess.DEVNULL)
    finally:
        daemon.terminate()
        daemon.wait()
    shutil.rmtree(folder, ignore_errors=True)
    for line in done.stdout.splitlines():
        frames, native, ns = line.split()
        print("the handler's event with %3s Python frames and %3s addresses: %4s ns" % (
            frames, frames if native == "1" else 0, ns), flush=True)


def handler_cost(options, rounds):
    """CPU time of a sample of the signal path, above that of no sampling, without and with the handler's event."""
    profiler = sidewinder.Sidewinder(os.path.dirname(options.profiler))
    lttng = profiler.path("lttng")
    contents = {"Python alone": ([], False), "native, offline": ([], True), "native, online": (["--unwind=online"], True)}
    for content, (how, native) in contents.items():
        rate = paper_cost.rate_of(content)
        least = {}
        for _ in range(rounds):
            for way, event in {"none": None, "without": [], "with": ["--lttng-output=" + lttng]}.items():
                shutil.rmtree(lttng, ignore_errors=True)
                path = None if event is None else ["--path=signal", "--signal=sigtrap", *how, *event]
                ns = paper_cost.run_slices(profiler, sys.executable, 20, rate, 1, path, native)
                least[way] = min(ns, least.get(way, ns))
        without, written = (cost.per_overflow(least["none"], least[way], rate) for way in ("without", "with"))
        print("a handler at %d Hz, 24 frames, %-15s %5.2f us a sample, with its event %5.2f us" % (
            rate, content + ":", without, written), flush=True)
    shutil.rmtree(lttng, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--only", default="", help="'trace' or 'handler'")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("profiler")
    options = parser.parse_args()
    options.profiler = os.path.abspath(options.profiler)
    work = tempfile.mkdtemp(prefix="sidewinder-bench-")
    try:
        if options.only in ("", "trace"):
            record(options, work, "10 kHz, two processes, native", 2, "--lttng", "-F", "10000")
            record(options, work, "1 kHz, one process, Python alone", 1, "--lttng", "--native=none")
            record(options, work, "1 kHz, one process, native", 1, "--lttng")
        if options.only in ("", "handler"):
            event_cost(options)
            handler_cost(options, options.rounds)
    finally:
        shutil.rmtree(work, ignore_errors=True)


main()
