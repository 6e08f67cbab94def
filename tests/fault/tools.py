# SPDX-License-Identifier: MIT
"""What tests of faults share: targets with a wish, and what samples and the profiler say."""
import os
import signal
import subprocess
import time

import recording as rec


def start(context, command, line="@main", stdin=subprocess.DEVNULL):
    """Starts a command and waits until its output holds `line`; the output is in process.path."""
    path = context.file("target%d" % len(context.processes))
    with open(path, "wb") as out:
        process = subprocess.Popen(command, stdin=stdin, stdout=out, stderr=out)
    process.path = path
    context.processes.append(process)
    rec.wait_for(lambda: line in rec.read_text(path) or process.poll() is not None, 20, "target: " + line)
    assert process.poll() is None or line in rec.read_text(path), rec.read_text(path)
    return process


def start_profiler(context, *arguments, **options):
    """Starts `record`; process.trace is where, process.out and process.err what it says."""
    number = len(context.processes)
    out, err, trace = context.file("out%d" % number), context.file("err%d" % number), context.fresh_trace()
    process = context.profiler.start(out, err, "record", "--json", "-o", trace, *arguments, **options)
    context.processes.append(process)
    process.trace, process.out, process.err = trace, out, err
    return process


def wait_until_recording(process):
    rec.wait_for(lambda: process.poll() is not None or rec.has_begun(process.trace),
                 20, "trace")


def end_profiler(context, process, number=signal.SIGTERM):
    """Ends it unless it has ended; gives the recording."""
    if number and process.poll() is None:
        process.send_signal(number)
    process.wait(120)
    return rec.Recording(context.profiler, process.trace, process.returncode, rec.read_text(process.out),
                         rec.read_text(process.err))


def add_up(recording):
    """Fails unless each overflow is a sample or counted as lost, whatever the loss."""
    summary = recording.summary
    assert summary, "no summary: status %d: %s" % (recording.status, recording.stderr[-500:])
    assert summary["samples"] == sum(summary["status"].values()), summary
    assert summary["overflows"] == summary["samples"] + sum(summary["lost"].values()), summary
    assert sum(sample.get("w", 1) for sample in recording.samples()) == summary["samples"], summary
    return summary


def functions(samples, kind="p"):
    return {frame[1] for sample in samples for frame in sample["frames"] if frame[0] == kind}


def state_of(pid):
    """The letter in /proc/PID/stat, or "" if it is gone."""
    try:
        with open("/proc/%d/stat" % pid, errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return ""


def memory_kilobytes(pid, field="VmRSS"):
    for line in rec.read_text("/proc/%d/status" % pid).split("\n"):
        if line.startswith(field + ":"):
            return int(line.split()[1])
    return 0


def wait_and_measure(process, seconds=60):
    """Highest resident memory of a process in each half of its life so far, in kB."""
    seen, end = [], time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < end:
        used = memory_kilobytes(process.pid)
        if used:
            seen.append(used)
        time.sleep(0.05)
    half = len(seen) // 2
    return max(seen[:half] or [0]), max(seen[half:] or [0])
