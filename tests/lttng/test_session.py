# SPDX-License-Identifier: MIT
"""Sessions: of our own, and one that is there."""
import json
import os

import tools

ADDED = {"recorder", "time_low", "time_ns", "cpu_id"}
MARKER = "3"


def lttng_record(context, *arguments, target=("spin.py", 1.5)):
    """Records into a directory of ours and an LTTng trace at once; gives both and the recording."""
    trace = context.fresh_trace()
    recording = context.profiler.record(trace, "--lttng-output=" + trace + "-l", *arguments, "--",
                                        *context.target(*target))
    assert recording.status == 0, "status %d: %s" % (recording.status, recording.stderr[-800:])
    return recording, trace + "-l"


def common(name, fields):
    """What an event has in both. Of a string that is empty babeltrace2 2.0 prints the one before."""
    if name == "sample":
        fields.pop("thread", None)  # here it is that of the tid
    if name == "code" and fields["kind"] == MARKER:
        fields["file"] = '""'
    return name, {key: value for key, value in fields.items() if key not in ADDED}


def test_both_traces_hold_the_same_record_by_record(context):
    recording, trace = lttng_record(context, target=("threads.py",))
    ours, theirs = tools.read(recording.trace), tools.read(trace)
    recorded = [event for event in theirs if event[0] == "recording"]
    assert len(recorded) == 1 and theirs[0] == recorded[0], recorded
    assert recorded[0][1]["event_name"] == '"cpu-clock"', recorded
    ours = [common(*event) for event in ours]
    theirs = [common(*event) for event in theirs[1:]]
    assert ours == theirs, next(pair for pair in zip(ours, theirs) if pair[0] != pair[1])
    assert len([name for name, _ in theirs if name == "sample"]) > 100
    assert recording.summary["lttng"] == {
        "session": recording.summary["lttng"]["session"], "trace": trace, "events_discarded": 0,
        "snapshots": 0, "incomplete": False}, recording.summary["lttng"]


def test_our_own_views_take_either_for_the_same(context):
    recording, trace = lttng_record(context, "--kernel", "--path=both", target=("spin.py", 0.4))
    for how in (["export", "--to=jsonl", "--samples"], ["export", "--to=folded", "--threads"],
                ["report", "--json"], ["report", "--by=line"], ["compare", "--json"]):
        ours = context.profiler.run(*how, recording.trace).stdout.replace(recording.trace, "TRACE")
        assert ours and ours == context.profiler.run(*how, trace).stdout.replace(trace, "TRACE"), how


def test_diff_takes_one_of_each_and_finds_no_difference_of_the_same(context):
    recording, trace = lttng_record(context, target=("spin.py", 0.4))
    other = context.record_well("--", *context.target("change.py", 1, 0.3))
    for pair in ((recording.trace, trace), (trace, recording.trace)):
        for by in ("function", "line", "thread"):
            found = json.loads(context.profiler.run("diff", "--json", "--by=" + by, *pair).stdout)
            assert found["changed"] == 0 and found["rows"], (pair, by, found)
            assert all(row[which]["change"] == 0 for row in found["rows"] for which in ("self", "total")), found
            assert {found[side]["samples"] for side in ("base", "new")} == {recording.summary["samples"]}, found
    # one that differs is seen to, on either side
    changed = [json.loads(context.profiler.run("diff", "--json", *pair).stdout)["changed"]
               for pair in ((trace, other.trace), (recording.trace, other.trace), (other.trace, trace))]
    assert min(changed) > 0 and len(set(changed)) == 1, changed


def test_a_daemon_of_ours_is_gone_after_the_recording(context):
    trace = context.file("only")
    done = context.profiler.run("record", "--lttng", "--lttng-output=" + trace, "--",
                                *context.target("spin.py", 0.3))
    assert tools.processes("lttng-sessiond") == tools.processes("lttng-consumerd") == []
    # liblttng-ust leaves two pages by which it would learn of a new daemon
    assert not [name for name in os.listdir("/dev/shm") if not name.startswith("lttng-ust-wait-")]
    assert os.listdir(trace) == ["ust"] and os.stat(trace).st_mode & 0o777 == 0o700
    assert "trace: " + trace in done.stderr, done.stderr


def test_a_session_that_is_there_is_left_as_it_was(context):
    with tools.session_daemon(context) as daemon:
        tools.run("lttng", "create", "mine", "--output=" + context.file("mine"))
        tools.run("lttng", "enable-event", "--userspace", "--session=mine", "sidewinder:*")
        before = tools.run("lttng", "list", "mine").stdout
        done = context.profiler.run("record", "--lttng=mine", "--", *context.target("spin.py", 0.5))
        assert "LTTng session mine: 0 events discarded" in done.stderr, done.stderr
        assert tools.run("lttng", "list", "mine").stdout == before
        assert daemon.process.poll() is None
        # one that runs goes on, and takes a second recording
        tools.run("lttng", "start", "mine")
        context.profiler.run("record", "--lttng=mine", "--", *context.target("spin.py", 0.5))
        assert "[active]" in tools.run("lttng", "list", "mine").stdout
        tools.run("lttng", "stop", "mine")
        tools.run("lttng", "destroy", "mine")
    samples = [fields for name, fields in tools.read(context.file("mine")) if name == "sample"]
    report = json.loads(context.profiler.run("report", "--by=process", "--json", context.file("mine")).stdout)
    assert report["recording"]["samples"] == len(samples), report
    assert report["recording"]["lost"]["lttng"] == 0 and len(report["rows"]) == 2, report


def refused(context, *options):
    done = context.profiler.run("record", *options, "--", *context.target("spin.py", 0.2), check=False)
    lines = [line for line in done.stderr.splitlines() if "error" in line]
    assert done.returncode == 1 and len(lines) == 1, done.stderr
    return lines[0]


def test_what_is_missing_is_said_before_anything_is_recorded(context):
    assert refused(context, "--lttng=mine") == (
        "sidewinder: error: --lttng: no LTTng session daemon runs: there is no session 'mine'")
    with tools.session_daemon(context):
        assert refused(context, "--lttng=mine") == (
            "sidewinder: error: --lttng: there is no session 'mine': 'lttng list' tells which there are")
        tools.run("lttng", "create", "mine", "--output=" + context.file("mine"))
        assert refused(context, "--lttng=mine") == (
            "sidewinder: error: --lttng: the session 'mine' does not take our events; first: "
            "lttng enable-event --userspace --session=mine 'sidewinder:*'")
    os.mkdir(context.file("there"))
    assert "it exists already" in refused(context, "--lttng-output=" + context.file("there"))
    assert tools.processes("lttng-sessiond") == []


def test_several_traces_of_any_kind_are_read_as_one(context):
    recording, trace = lttng_record(context, target=("spin.py", 0.3))
    other = context.record_well("--", *context.target("spin.py", 0.3))
    found = [json.loads(line) for line in context.profiler.run(
        "export", "--to=jsonl", "--samples", other.trace, trace).stdout.splitlines()]
    assert len(found) == recording.summary["samples"] + other.summary["samples"]
    assert sorted(found, key=lambda sample: sample["t"]) == found
    processes = {sample["pid"] for sample in found}
    assert processes == {sample["pid"] for one in (recording, other) for sample in one.samples()}
