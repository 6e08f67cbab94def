# SPDX-License-Identifier: MIT
"""record --sched: the kernel trace beside the samples, and that the two agree."""
import os
import re

import traces

FIELDS = {
    "sched_switch": ["cpu_id", "prev_comm", "prev_tid", "prev_prio", "prev_state", "next_comm", "next_tid",
                     "next_prio"],
    "sched_waking": ["cpu_id", "comm", "tid", "prio", "target_cpu"],
    "sched_process_fork": ["cpu_id", "parent_comm", "parent_tid", "parent_pid", "child_comm", "child_tid",
                           "child_pid"],
    "sched_process_exec": ["cpu_id", "filename", "tid", "old_tid"],
    "sched_process_exit": ["cpu_id", "comm", "tid", "prio"],
}
BLOCK = r"^%s \{\n(.*?)^\};$"


def record(context, *arguments, target=("threads.py", 1)):
    trace = context.fresh_trace()
    recording = context.profiler.record(trace, "--sched", "-e", "cpu-clock", *arguments, "--", *context.target(*target))
    assert recording.status == 0, "status %d: %s" % (recording.status, recording.stderr[-800:])
    return recording, trace + "/kernel"


def running(events):
    """{(processor, tid): [(from, to)]} in which a thread runs there, as the switches say."""
    last, found = {}, {}
    for time, name, fields in events:
        if name != "sched_switch":
            continue
        cpu, prev = fields["cpu_id"], fields["prev_tid"]
        # of one that nobody saw come (the first; some kernels do not tell of each thread): since the last
        found.setdefault((cpu, prev), []).append((last.get(cpu, (0, 0))[1], time))
        last[cpu] = (fields["next_tid"], time)
    for cpu, (tid, begin) in last.items():
        found.setdefault((cpu, tid), []).append((begin, float("inf")))
    return found


def test_samples_lie_where_their_thread_runs(context):
    recording, kernel = record(context)
    intervals = running(traces.read(kernel))
    samples = [(time, fields) for time, name, fields in traces.read(recording.trace) if name == "sample"]
    assert len(samples) == recording.summary["samples"] and len({fields["tid"] for _, fields in samples}) >= 3
    outside = [(time, fields) for time, fields in samples if not any(
        begin <= time <= end for begin, end in intervals.get((fields["cpu"], fields["tid"]), []))]
    assert not recording.summary["scheduler"]["lost"], recording.summary
    assert len(outside) <= len(samples) / 1000, (len(samples), outside[:5])


def test_events_are_those_of_lttng(context):
    recording, kernel = record(context, target=("family.py", 0.2))
    events = traces.read(kernel)
    assert len(events) == recording.summary["scheduler"]["events"]
    assert {name: list(fields) for _, name, fields in events} == FIELDS
    env = re.search(BLOCK % "env", traces.metadata(kernel), re.M | re.S).group(1)
    for line in ('domain = "kernel"', 'tracer_name = "lttng-modules"', "tracer_major = 2", "tracer_minor = 13",
                 'written_by = "sidewinder"'):
        assert "\t%s;\n" % line in env, env
    clocks = [re.search(BLOCK % "clock", traces.metadata(folder), re.M | re.S).group(0)
              for folder in (kernel, recording.trace)]
    assert clocks[0] == clocks[1] and "uuid" in clocks[0], clocks
    execs = [fields for _, name, fields in events if name == "sched_process_exec"]
    assert execs[0]["filename"] == context.target("family.py")[0], execs[:1]
    forks = {fields["child_pid"] for _, name, fields in events if name == "sched_process_fork"}
    pids = {fields["pid"] for _, name, fields in traces.read(recording.trace) if name == "process"}
    assert len(pids - forks) <= 1, (pids, forks)  # the command itself is forked before


def test_only_what_concerns_the_target(context):
    recording, kernel = record(context)
    tids = {fields["tid"] for _, name, fields in traces.read(recording.trace) if name == "thread"}
    tids |= {fields["child_tid"] for _, name, fields in traces.read(kernel) if name == "sched_process_fork"}
    switches = [fields for _, name, fields in traces.read(kernel) if name == "sched_switch"]
    assert switches and all(tids & {fields["prev_tid"], fields["next_tid"]} for fields in switches)


def test_views_read_the_samples_alone(context):
    recording, kernel = record(context, target=("spin.py", 0.3))
    folded = context.profiler.run("export", "--to=folded", recording.trace).stdout
    assert sum(int(line.rpartition(" ")[2]) for line in folded.splitlines()) > 0, folded
    assert sorted(os.listdir(recording.trace)) == ["kernel", "metadata", "stream"]
    both = traces.read(recording.trace, kernel)
    assert {"sample", "sched_switch"} <= {name for _, name, _ in both}
    assert [time for time, _, _ in both] == sorted(time for time, _, _ in both)


def test_a_trace_with_a_kernel_trace_is_replaced_as_one(context):
    recording, kernel = record(context, target=("spin.py", 0.1))
    again = context.profiler.run("record", "-q", "--force", "-o", recording.trace, "--",
                                 *context.target("spin.py", 0.1))
    assert again.returncode == 0, again.stderr
    assert sorted(os.listdir(recording.trace)) == ["metadata", "stream"]
    os.mkdir(kernel)
    with open(kernel + "/mine", "w"):
        pass
    refused = context.profiler.run("record", "-q", "--force", "-o", recording.trace, "--",
                                   *context.target("spin.py", 0.1), check=False)
    assert refused.returncode == 1 and os.listdir(kernel) == ["mine"], refused.stderr


def test_what_it_cannot_do_is_said(context):
    for arguments, message in (
            (["--path=signal"], "--sched needs BPF, which --path=signal does without"),
            (["--lttng-url=net://localhost"], "--sched writes into the directory of the trace: name one by -o")):
        done = context.profiler.run("record", "--sched", *arguments, "--", "true", check=False)
        assert done.returncode == 2 and message in done.stderr, done.stderr
