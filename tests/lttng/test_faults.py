# SPDX-License-Identifier: MIT
"""Daemons that hang, a disk that is full: what is left, and what is said. For kills see test_moments.py."""
import os
import signal

import recording as rec
import tools

LACKS = ": the LTTng trace lacks what comes from here on"


def start(context, *options, seconds=20, trace=None):
    """Starts a recording into a directory of ours and LTTng's, and waits until it is under way."""
    trace = trace or context.fresh_trace()
    out, err = context.file("out"), context.file("err")
    process = context.profiler.start(out, err, "record", "--json", "-o", trace, *(options or (
        "--lttng-output=" + trace + "-l",)), "-d", str(seconds), "--", *context.target("spin.py", 60))
    context.processes.append(process)
    process.trace, process.out, process.err = trace, out, err
    # a second of samples at least is in both
    rec.wait_for(lambda: process.poll() is not None or
                 os.path.exists(trace + "/stream") and os.path.getsize(trace + "/stream") > 30000, 40, "samples")
    assert process.poll() is None, rec.read_text(err)
    return process


def wait_for_word(process, word):
    rec.wait_for(lambda: word in rec.read_text(process.err), 20, word)


def daemons_end():
    rec.wait_for(lambda: not tools.processes("lttng-sessiond") and not tools.processes("lttng-consumerd"), 30,
                 "end of the daemons")


def end(context, process):
    """Ends it; gives the recording, whose directory of ours must be whole."""
    process.send_signal(signal.SIGTERM)
    process.wait(120)
    recording = rec.Recording(context.profiler, process.trace, process.returncode, rec.read_text(process.out),
                              rec.read_text(process.err))
    assert recording.summary["complete"] and not recording.faults(), (recording.summary, recording.faults())
    daemons_end()
    return recording


def samples(context, *traces):
    text = context.profiler.run("export", "--to=jsonl", "--samples", *traces).stdout
    return text.splitlines()


def is_part(context, process, part):
    """Is what an LTTng trace holds the beginning of what ours does, each sample as it is there?"""
    ours, theirs = samples(context, process.trace), samples(context, part)
    assert theirs and ours[:len(theirs)] == theirs, (len(ours), len(theirs))
    return len(theirs)


@rec.slow
def test_the_status_says_that_a_trace_is_not_whole(context):
    trace = context.fresh_trace()
    process = context.profiler.start(context.file("out"), context.file("err"), "record", "--lttng-output=" + trace,
                                     "-d", "6", "--", *context.target("spin.py", 60))
    context.processes.append(process)
    metadata = trace + "/ust/uid/%d/64-bit/metadata" % os.getuid()
    rec.wait_for(lambda: os.path.exists(metadata) and os.path.getsize(metadata), 20, "metadata")
    os.kill(tools.processes("lttng-sessiond")[0], signal.SIGKILL)
    process.wait(120)
    words = rec.read_text(context.file("err"))
    assert process.returncode == 3, (process.returncode, words)
    assert "LTTng: 0 events discarded, incomplete" in words, words
    tools.end_daemons()


def hang(context, name):
    """A daemon hangs for as long as it takes to be said, then goes on: nothing is lost."""
    process = start(context)
    pid, = tools.processes(name)
    os.kill(pid, signal.SIGSTOP)
    try:
        wait_for_word(process, "LTTng does not answer")
    finally:
        os.kill(pid, signal.SIGCONT)
    wait_for_word(process, "LTTng answers again")
    recording = end(context, process)
    assert not recording.summary["lttng"]["incomplete"], recording.summary
    count = is_part(context, process, process.trace + "-l")
    assert count == recording.summary["samples"], (count, recording.summary)


def test_0602_the_session_daemon_hangs_for_a_while(context):
    hang(context, "lttng-sessiond")


@rec.slow
def test_0602_the_consumer_daemon_hangs_for_a_while(context):
    hang(context, "lttng-consumerd")


@rec.slow
def test_0602_a_daemon_that_hangs_for_good_does_not_keep_the_recorder(context):
    process = start(context)
    pid, = tools.processes("lttng-sessiond")
    os.kill(pid, signal.SIGSTOP)
    wait_for_word(process, "LTTng does not answer")
    recording = end(context, process)  # and the daemon, which was ours, is gone too
    assert "its session could not be stopped" + LACKS in recording.stderr, recording.stderr


@rec.slow
def test_0602_a_daemon_that_hangs_before_the_start_is_said(context):
    with tools.session_daemon(context) as daemon:
        daemon.process.send_signal(signal.SIGSTOP)
        done = context.profiler.run("record", "--lttng-output=" + context.file("l"), "-o", context.file("o"), "--",
                                    *context.target("spin.py", 0.2), check=False)
        assert done.returncode == 1, done.returncode
        assert done.stderr.splitlines()[-1] == (
            "sidewinder: error: --lttng: the LTTng session daemon does not answer: it hangs, or waits for a "
            "consumer or relay daemon that does"), done.stderr
        assert not os.path.exists(context.file("l")) and not os.path.exists(context.file("o"))


@rec.slow
def test_0602_a_daemon_that_hangs_does_not_outlive_a_recorder_that_is_killed(context):
    process = start(context)
    pid, = tools.processes("lttng-sessiond")
    os.kill(pid, signal.SIGSTOP)
    process.kill()
    process.wait()
    daemons_end()  # it is given 20 s
    samples(context, process.trace)


@rec.slow
def test_the_process_that_controls_lttng_is_killed(context):
    process = start(context)
    children = rec.read_text("/proc/%d/task/%d/children" % (process.pid, process.pid)).split()
    controller, = [int(pid) for pid in children if "sidewinder" in rec.read_text("/proc/%s/comm" % pid)]
    os.kill(controller, signal.SIGKILL)
    wait_for_word(process, "the process that controls LTTng ended" + LACKS)
    recording = end(context, process)
    assert recording.summary["lttng"]["incomplete"], recording.summary


@rec.slow
def test_0604_the_disk_is_full(context):
    small, trace = context.file("small"), context.fresh_trace()
    os.mkdir(small)
    tools.run("mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", small)
    try:
        process = start(context, "--lttng-output=" + small + "/l", "-F", "5000", trace=trace)
        wait_for_word(process, "the disk of %s/l is full%s" % (small, LACKS))
        recording = end(context, process)
        assert recording.summary["lttng"]["incomplete"], recording.summary
        done = context.profiler.run("report", small + "/l", check=False)
        if done.returncode:  # LTTng has written a part of a packet
            assert "truncate -s " in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
            command = done.stderr.split("'")[1].split()
            tools.run(*command)
        # each processor's stream has lost packets of its own, that of the recording's begin perhaps
        done = context.profiler.run("export", "--to=jsonl", "--samples", small + "/l", check=False)
        if done.returncode:
            assert "it holds no recording of Sidewinder" in done.stderr, done.stderr
        ours, theirs = samples(context, process.trace), done.stdout.splitlines()
        assert set(theirs) < set(ours), (len(ours), len(theirs))
    finally:
        tools.run("umount", small, check=False)
