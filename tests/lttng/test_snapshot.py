# SPDX-License-Identifier: MIT
"""The flight recorder: what is in memory is written at the end, on a signal, on a condition."""
import json
import os
import signal

import recording as rec
import tools


def samples(context, trace):
    text = context.profiler.run("export", "--to=jsonl", "--samples", trace).stdout
    return [json.loads(line) for line in text.splitlines()]


def without_time(found):
    return [{key: value for key, value in sample.items() if key != "t"} for sample in found]


def record(context, *options, target):
    trace = context.fresh_trace()
    recording = context.profiler.record(trace, "--snapshot", "--lttng-output=" + trace + "-l", *options, "--",
                                        *context.target(*target))
    assert recording.status == 0, recording.stderr[-800:]
    return recording, trace + "-l"


def test_all_of_a_short_recording_is_written_at_its_end(context):
    recording, trace = record(context, target=("spin.py", 0.5))
    assert recording.summary["lttng"]["snapshots"] == 1 == len(os.listdir(trace))
    assert samples(context, recording.trace) == samples(context, trace)
    tools.read(trace)


@rec.slow
def test_of_what_was_overwritten_only_the_whole_rest_is_read(context):
    recording, trace = record(context, "-F", "5000", "--snapshot-memory=256K", target=("spin.py", 4))
    ours, theirs = samples(context, recording.trace), samples(context, trace)
    assert 0 < len(theirs) < len(ours), (len(ours), len(theirs))
    assert ours[-len(theirs):] == theirs
    report = json.loads(context.profiler.run("report", "--json", trace).stdout)["recording"]
    assert report["samples"] == len(theirs) and report["complete"] and report["lost"]["lttng"] == 0, report


@rec.slow
def test_a_function_that_is_seen_asks_for_one(context):
    recording, trace = record(context, "--snapshot-when=function=ligh?", target=("spin.py", 2))
    assert recording.summary["lttng"]["snapshots"] == len(os.listdir(trace)) >= 2, recording.summary
    first = os.path.join(trace, sorted(os.listdir(trace), key=lambda name: name.split("-")[-1])[0])
    taken = samples(context, first)
    assert taken and taken == samples(context, recording.trace)[:len(taken)]
    assert any("light" in frame[1] for sample in taken for frame in sample["frames"])


def test_a_signal_asks_for_one(context):
    trace = context.file("l")
    process = context.profiler.start(context.file("out"), context.file("err"), "record", "--snapshot",
                                     "--lttng-output=" + trace, "--", *context.target("spin.py", 60))
    context.processes.append(process)
    rec.wait_for(lambda: "@main" in rec.read_text(context.file("out")), 30, "target")
    process.send_signal(signal.SIGUSR1)
    rec.wait_for(lambda: "snapshot 1 written below " + trace in rec.read_text(context.file("err")), 30, "snapshot")
    snapshot, = os.listdir(trace)
    assert context.profiler.run("report", os.path.join(trace, snapshot)).stdout
    process.send_signal(signal.SIGTERM)
    process.wait(120)
    assert len(os.listdir(trace)) == 2


def test_what_does_not_go_together(context):
    for options, words in (
            (["--snapshot-when=cpu"], "--snapshot-when is 'rate>N', samples per second, or 'function=NAME'"),
            (["--snapshot", "--lttng=mine"], "--snapshot is of a session of our own: of --lttng=SESSION, 'lttng "
                                             "snapshot' writes them"),
            (["--lttng-url=here"], "--lttng-url: that is no url such as net://HOST"),
            (["--lttng-url=net://a", "--lttng-output=b"], "--lttng-output and --lttng-url exclude each other"),
            (["--lttng=mine", "--lttng-output=b"], "--lttng=SESSION writes where that session does: it excludes "
                                                   "--lttng-output and --lttng-url")):
        done = context.profiler.run("record", *options, "--", "true", check=False)
        assert (done.returncode, done.stderr) == (2, "sidewinder: error: record: %s\n" % words), done.stderr
