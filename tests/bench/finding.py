#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How soon an interpreter is found: tests/bench/finding.py BUILD [--processes N] [--python PATH] [--json]

While everything is recorded, interpreters are started one after another: files that were seen before, and
files that are new. From the samples: when the process was first seen, and when its first Python frame was.
Then N processes that wait and work a little: how long the profiler takes until it records, and until each
of them that ran has been found.
"""
import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

BUSY = "import time\nend = time.monotonic() + 0.12\nwhile time.monotonic() < end: sum(range(100))\n"
MANY = """
import os, sys, time
for _ in range(int(sys.argv[1]) - 1):
    if os.fork() == 0:
        break
print("ready", flush=True)
os.nice(20)
time.sleep(2 + os.getpid() % 1000 / 250.0)
while True:
    end = time.thread_time() + 0.001
    while time.thread_time() < end:
        sum(range(100))
    time.sleep(4)
"""


def take_precedence():
    """Other work on the machine shall not be what is measured."""
    try:
        os.setpriority(os.PRIO_PROCESS, 0, -15)
        with open("/proc/self/autogroup", "w") as file:
            file.write("-15")
    except OSError:
        pass


class Recorder:
    def __init__(self, program, work, *arguments):
        self.program, self.trace = program, os.path.join(work, "trace")
        shutil.rmtree(self.trace, ignore_errors=True)
        self.began = time.monotonic()
        self.process = subprocess.Popen([program, "record", "--json", "--native=none", "-o", self.trace, *arguments],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        stream = os.path.join(self.trace, "metadata")
        # the empty trace comes first, the one with a begin when counting has begun
        while self.process.poll() is None and "start_ns = 0;" in (read(stream) or "start_ns = 0;"):
            time.sleep(0.001)
        self.start_up = time.monotonic() - self.began

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        summary = json.loads(self.process.communicate()[0])
        start = int(read(os.path.join(self.trace, "metadata")).split("start_ns = ")[1].split(";")[0])
        lines = subprocess.run([self.program, "export", "--to=jsonl", "--samples", self.trace],
                               stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
        return summary, [dict(json.loads(line), start=start) for line in lines]


def read(path):
    try:
        with open(path, errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def copy_interpreter(python, folder):
    """A copy of the executable and of its shared library: files that nobody has seen."""
    os.makedirs(folder)
    library = subprocess.run([python, "-c", "import sysconfig as s; print((s.get_config_var('LIBDIR') or '') + '/' + "
                              "(s.get_config_var('INSTSONAME') or ''))"], stdout=subprocess.PIPE, text=True).stdout.strip()
    if library.endswith((".so", ".so.1.0")) and os.path.exists(library):
        shutil.copy(library, folder)
    shutil.copy(os.path.realpath(python), os.path.join(folder, "python3"))
    return os.path.join(folder, "python3")


def start_one(python, home, folder):
    """Runs an interpreter to its end; gives (pid, when it was started)."""
    environment = dict(os.environ, PYTHONHOME=home, LD_LIBRARY_PATH=folder)
    before = time.monotonic_ns()
    process = subprocess.Popen([python, "-c", BUSY], env=environment, stdin=subprocess.DEVNULL)
    process.wait()
    return process.pid, before


def latencies(samples, started):
    """[(first sample, first Python sample)] in ms after each start; None where there is none."""
    found = []
    for pid, before in started:
        own = [sample for sample in samples if sample["pid"] == pid and sample["comm"] == "python3"]
        first = min((sample["t"] for sample in own), default=None)
        walked = min((sample["t"] for sample in own if any(frame[0] == "p" for frame in sample["frames"])), default=None)
        found.append([None if at is None else (at * 1e9 + own[0]["start"] - before) / 1e6 for at in (first, walked)])
    return found


def summary_of(rows):
    gaps = sorted(walked - first for first, walked in rows if walked is not None)
    after = sorted(walked for _, walked in rows if walked is not None)
    if not gaps:
        return None
    pick = lambda values, share: values[min(len(values) - 1, int(share * len(values)))]
    return {"started": len(rows), "with_python": len(gaps), "exec_to_python_ms": statistics.median(after),
            "exec_to_python_p90_ms": pick(after, 0.9), "first_sample_to_python_ms": statistics.median(gaps),
            "first_sample_to_python_p90_ms": pick(gaps, 0.9)}


def measure_found(program, python, work, count):
    home = subprocess.run([python, "-c", "import sys; print(sys.base_prefix)"], stdout=subprocess.PIPE,
                          text=True).stdout.strip()
    folders = [os.path.join(work, "python%d" % i) for i in range(count)]
    copies = [(copy_interpreter(python, folder), folder) for folder in folders]
    recorder = Recorder(program, work, "-a", "-F", "5000")
    new = [start_one(copy, home, folder) for copy, folder in copies]
    known = [start_one(*([copies[0][0], home, copies[0][1]])) for _ in range(count)]
    _, samples = recorder.stop()
    return {"new": summary_of(latencies(samples, new)), "known": summary_of(latencies(samples, known))}


def measure_start_up(program, python, work, count):
    """`count` processes that work for a millisecond each four seconds: a sample each."""
    results = {}
    for name in ("nobody", "everything", "each by -p"):
        target = subprocess.Popen([python, "-c", MANY, str(count)], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, text=True, start_new_session=True)
        try:
            for _ in range(count):
                target.stdout.readline()
            pids = subprocess.run(["ps", "-o", "pid=", "-g", str(target.pid)], stdout=subprocess.PIPE,
                                  text=True).stdout.split()
            if name == "nobody":
                recorder = Recorder(program, work, "-p", str(os.getpid()))
            elif name == "everything":
                recorder = Recorder(program, work, "-a")
            else:
                recorder = Recorder(program, work, "-p", ",".join(pids))
            time.sleep(6)
            _, samples = recorder.stop()
            results[name] = {"processes": len(pids), "start_up_ms": recorder.start_up * 1e3}
            own = {}
            for sample in samples:
                if str(sample["pid"]) in pids:
                    own.setdefault(sample["pid"], []).append((sample["t"], sample["state"]))
            pending = sum(state == "pending" for states in own.values() for _, state in states)
            results[name].update(seen=len(own), pending_samples=pending, samples=sum(map(len, own.values())),
                                 found=sum(any(state == "complete" for _, state in states) for states in own.values()))
        finally:
            os.killpg(target.pid, signal.SIGKILL)
            target.wait()
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--processes", type=int, default=1000)
    parser.add_argument("--starts", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))  # what was started is ended too
    take_precedence()
    program, work = os.path.join(options.build, "sidewinder"), tempfile.mkdtemp(prefix="sidewinder-finding-")
    try:
        results = measure_found(program, options.python, work, options.starts)
        results["start_up"] = measure_start_up(program, options.python, work, options.processes) if options.processes else {}
    finally:
        shutil.rmtree(work, ignore_errors=True)
    if options.json:
        print(json.dumps(results))
        return
    for name in ("new", "known"):
        row = results[name]
        print("%-5s interpreter: %d of %d with Python frames; after its first sample %.1f ms (90 %%: %.1f), after exec "
              "%.1f ms (90 %%: %.1f)" % (name, row["with_python"], row["started"], row["first_sample_to_python_ms"],
                                        row["first_sample_to_python_p90_ms"], row["exec_to_python_ms"],
                                        row["exec_to_python_p90_ms"]))
    for name, row in results["start_up"].items():
        print("%d processes, recorded: %-10s  start-up %4.0f ms; %d ran, %d of them found, %d of %d samples before that"
              % (row["processes"], name, row["start_up_ms"], row["seen"], row["found"], row["pending_samples"],
                 row["samples"]))


if __name__ == "__main__":
    main()
