# SPDX-License-Identifier: MIT
"""A recording that is interrupted, and a profiler that is killed."""
import os
import re
import signal
import subprocess
import time

import recording as rec


def start(context, *arguments, **options):
    trace = context.fresh_trace()
    process = context.profiler.start(context.file("out"), context.file("err"), "record", "--json",
                                     "-F", "499", "-o", trace, *arguments, **options)
    rec.wait_for(lambda: process.poll() is not None or rec.has_begun(trace),
                 20, "trace")
    return process, trace


def finished(context, process, trace):
    process.wait(120)
    return rec.Recording(context.profiler, trace, process.returncode,
                         rec.read_text(context.file("out")), rec.read_text(context.file("err")))


def wait_for_work(target, seconds):
    """Until the target has used so much CPU time since it began: how long that takes is up to the machine."""
    rec.wait_for(lambda: target.poll() is not None or rec.cpu_seconds(target.pid) >= seconds, 120, "work of the target")
    assert target.poll() is None, "the target ended"


def check_signal(context, number, *options):
    target = context.start_target("spin.py", 3)
    before = rec.cpu_seconds(target.pid)
    process, trace = start(context, "-p", str(target.pid), *options)
    begun = rec.cpu_seconds(target.pid)
    wait_for_work(target, begun + 1)
    sent = rec.cpu_seconds(target.pid)
    process.send_signal(number)
    recording = finished(context, process, trace)
    ended = rec.cpu_seconds(target.pid)
    assert recording.status == 0, "status %d: %s" % (recording.status, recording.stderr)
    assert not recording.faults(), recording.faults()
    sampled = recording.overflows_of_target() / 499
    assert 0.7 * (sent - begun) - 0.1 < sampled < 1.3 * (ended - before) + 0.1, \
        "%.2f s sampled, %.2f to %.2f s of CPU" % (sampled, sent - begun, ended - before)
    assert target.poll() is None and "@done" in target.stdout.read() and target.wait() == 0


def blocks(pid, number):
    """Whether the profiler has the signal blocked: it reads it from then on. While a process or thread is
    made all signals are."""
    match = re.search(r"^SigBlk:\s*([0-9a-f]+)", rec.read_text("/proc/%d/status" % pid), re.M)
    mask = int(match.group(1), 16) if match else 0
    return mask >> (number - 1) & 1 and not mask >> (signal.SIGUSR2 - 1) & 1


def test_signal_while_the_programs_are_loaded_ends_it_in_order(context):
    target = context.start_target("spin.py", 6)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        trace = context.fresh_trace()
        process = context.profiler.start(context.file("out"), context.file("err"), "record", "--json",
                                         "-F", "499", "-o", trace, "-p", str(target.pid))
        rec.wait_for(lambda: process.poll() is not None or blocks(process.pid, number), 20, "begin")
        process.send_signal(number)
        recording = finished(context, process, trace)
        assert recording.status == 0, "status %d: %s" % (recording.status, recording.stderr)
        assert not recording.faults(), recording.faults()


def test_interrupt_keeps_what_was_recorded_and_spares_the_target(context):
    check_signal(context, signal.SIGINT)


def test_termination_keeps_what_was_recorded(context):
    check_signal(context, signal.SIGTERM)


def test_hangup_keeps_what_was_recorded(context):
    check_signal(context, signal.SIGHUP, "--native=none")


def test_interrupt_from_the_terminal_reaches_the_command_and_is_survived(context):
    # a signal to the whole group reaches it a second time through the profiler: nothing that is not reentrant
    code = ("import os, signal\n"
            "def stop(*ignored):\n    os.write(1, b'@stopped\\n'); os._exit(5)\n"
            "signal.signal(signal.SIGINT, stop)\n"
            "print('@ready pid=%d' % os.getpid(), flush=True)\n"
            "while True:\n    sum(range(1000))\n")
    process, trace = start(context, "--", context.python, "-c", code, start_new_session=True)
    pid = rec.wait_for(lambda: rec.roles_of(rec.read_text(context.file("out"))).get("ready"), 60, "command")[0][0]
    worked = rec.cpu_seconds(pid)
    rec.wait_for(lambda: rec.cpu_seconds(pid) > worked + 0.3, 120, "work of the command")
    os.killpg(process.pid, signal.SIGINT)
    recording = finished(context, process, trace)
    assert recording.status == 5, "status %d: %s" % (recording.status, recording.stderr)
    assert "@stopped" in recording.stdout and not recording.faults(), recording.faults()
    assert recording.summary["samples"] > 10, recording.summary


def last_sample(context, trace):
    """Seconds from the start of a recording to the last sample that can be read of it by now."""
    done = context.profiler.run("export", trace, "--to=jsonl", "--samples", check=False)
    return max(map(float, re.findall(r'"t": ?([0-9.]+)', done.stdout)), default=0)


def test_killed_profiler_leaves_a_trace_readable_to_the_last_flush(context):
    target = context.start_target("spin.py", 60)
    process, trace = start(context, "-p", str(target.pid))
    kept = rec.wait_for(lambda: max(0, last_sample(context, trace) - 1.5), 120, "sample in the file") + 1.5
    process.kill()
    process.wait()
    done = subprocess.run(["babeltrace2", trace], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, errors="replace")
    assert done.returncode == 0, done.stderr[:500]
    recording = rec.Recording(context.profiler, trace, 0, "", "")
    last = max(sample["t"] for sample in recording.samples("--samples"))
    assert last >= kept, "the last sample is at %.2f s, was at %.2f s" % (last, kept)
    assert "heavy" in recording.report("--limit=0")
    wait_for_work(target, rec.cpu_seconds(target.pid) + 0.1)


def test_command_that_outlives_a_killed_profiler_is_not_hurt(context):
    process, _ = start(context, "--", *context.target("spin.py", 3))
    rec.wait_for(lambda: "@main" in rec.read_text(context.file("out")), 30, "start of the command")
    time.sleep(0.5)
    process.kill()
    process.wait()
    rec.wait_for(lambda: "@done" in rec.read_text(context.file("out")), 60, "end of the command")


def test_stopped_profiler_counts_what_it_could_not_take(context):
    target = context.start_target("spin.py", 60)
    process, trace = start(context, "-p", str(target.pid))
    wait_for_work(target, rec.cpu_seconds(target.pid) + 0.3)
    process.send_signal(signal.SIGSTOP)
    wait_for_work(target, rec.cpu_seconds(target.pid) + 1)
    process.send_signal(signal.SIGCONT)
    wait_for_work(target, rec.cpu_seconds(target.pid) + 0.3)
    process.send_signal(signal.SIGTERM)
    recording = finished(context, process, trace)
    assert recording.status in (0, 3), recording.stderr
    summary = recording.summary
    assert summary["samples"] == sum(summary["status"].values()), summary
    assert summary["overflows"] == summary["samples"] + sum(summary["lost"].values()), summary
    assert summary["overflows"] > 200, summary
