# SPDX-License-Identifier: MIT
"""Events from the signal handler itself, against what the recorder made of the same runs of it."""
import json
import os
import re
import signal
import subprocess

import recording as rec
import tools

SAMPLE = ("status", "flags", "delivery", "merged", "cpu", "overflow_ns")
PYTHON = "0"
HOLDS_GIL = 2


def lttng_record(context, *arguments, target):
    trace = context.fresh_trace()
    recording = context.profiler.record(trace, "--lttng-output=" + trace + "-l", "--max-loss=100", *arguments, "--",
                                        *target)
    return recording, trace + "-l"


def numbers(line):
    """{name: [numbers]} of the sequences of an event that babeltrace2 printed, {name: number} of what is in hex."""
    found = {name: [int(item.split("= ")[1], 0) for item in items.split(",") if "=" in item]
             for name, items in re.findall(r" (\w+) = \[ ([^\]]*(?:\] = [^\]]*)*)\]", line)}
    found.update((name, int(number, 16)) for name, number in re.findall(r" (\w+) = (0x[0-9A-F]+)", line))
    return found


def read(trace):
    """The events, and of each its sequences; a warning of babeltrace2 fails."""
    done = tools.run("babeltrace2", trace)
    assert not done.stderr, done.stderr[-1000:]
    lines = done.stdout.splitlines()
    return [(*event, numbers(line)) for event, line in zip(tools.events(done.stdout), lines)]


class Trace:
    """What a trace of LTTng defines, and the runs of handlers as both sides tell them."""

    def __init__(self, path):
        self.codes, self.frames, self.stacks, self.objects = {}, {}, {}, {}
        self.handler, self.recorder, self.paired = {}, {}, {}
        for name, fields, sequences in read(path):
            if name in ("code", "frame", "stack"):
                getattr(self, name + "s")[fields["id"]] = fields
            elif name == "handler_code":
                qualname = fields["qualname"] if fields["qualname"] != '"-"' else fields["name"]
                self.objects[fields["pid"], sequences["id"]] = (qualname, fields["file"], fields["first_line"])
            elif name == "handler_sample":
                self.handler[fields["tid"], fields["handler_ns"]] = (fields, sequences)
            elif name == "signal_sample":
                self.recorder[fields["tid"], fields["handler_ns"]] = fields
            elif name == "sample_paired":
                self.paired[fields["pair"]] = fields

    def told(self, stack):
        """[((name, file, first line), line)] of the recorder's Python frames, innermost first."""
        while stack != "0":
            node = self.stacks[stack]
            frame = self.frames[node["frame"]]
            code = self.codes[frame["code"]]
            if code["kind"] == PYTHON:
                yield (code["name"], code["file"], code["first_line"]), frame["line"]
            stack = node["parent"]


def check_alike(trace, cut_off=0):
    """Every event of a handler is a record of the ring: same run, same overflow, same Python stack.

    cut_off: so many runs have no record: their process ended before it, or the ring was full.
    """
    lines = {}
    alone = [key for key in trace.handler if key not in trace.recorder]
    assert len(alone) <= cut_off, alone
    for key, (fields, sequences) in trace.handler.items():
        if key in alone:
            continue
        told = trace.recorder[key]
        assert [fields[name] for name in SAMPLE] == [told[name] for name in SAMPLE], (fields, told)
        assert told["weight"] == fields["period"], (fields, told)
        objects = [(fields["pid"], code) for code in sequences["code"]]
        expected = list(trace.told(told["stack"]))
        assert [trace.objects[one] for one in objects] == [code for code, _ in expected], (sequences, expected)
        # an instruction of a code object is at one line
        for code, instruction, (_, line) in zip(objects, sequences["instruction"], expected):
            assert lines.setdefault((code, instruction), line) == line, (code, instruction, line)
    return lines


def test_the_handlers_events_are_the_rings_record_by_record(context):
    for options in (["--unwind=online"], ["--unwind=offline"], ["--signal=sigio", "--native=none"]):
        recording, path = lttng_record(context, "--path=signal", "-F", "500", *options,
                                       target=context.target("threads.py", 0.5))
        assert recording.status == 0, recording.stderr[-800:]
        trace, counts = Trace(path), recording.summary["lttng"]["handler_events"]
        assert len(check_alike(trace)) > 5
        assert len(trace.recorder) == recording.summary["samples"], recording.summary
        assert len(trace.handler) == counts["written"] and counts["discarded"] == 0, (len(trace.handler), counts)
        assert counts["written"] + counts["not_taken"] == len(trace.recorder), (len(trace.recorder), counts)
        assert counts["written"] > 5, counts  # a session takes a program some time after its start
        if "--unwind=online" in options:
            assert all(sequences["address"] for _, sequences in trace.handler.values())
        else:
            assert not any(sequences["address"] for _, sequences in trace.handler.values())


def test_views_take_the_trace_for_that_of_the_directory(context):
    recording, path = lttng_record(context, "--path=signal", "-F", "500", target=context.target("spin.py", 0.4))
    assert recording.status == 0, recording.stderr[-800:]
    for how in (["export", "--to=jsonl", "--samples"], ["export", "--to=folded", "--threads"], ["report", "--json"]):
        ours = context.profiler.run(*how, recording.trace).stdout
        assert ours and ours == context.profiler.run(*how, path).stdout, how
    assert len(recording.samples("--samples")) == recording.summary["samples"]


def test_with_both_paths_the_handler_names_the_overflow_of_bpf(context):
    recording, path = lttng_record(context, "--path=both", "-F", "500", target=context.target("spin.py", 0.4))
    assert recording.status == 0, recording.stderr[-800:]
    trace = Trace(path)
    assert len(trace.handler) > 5 and len(check_alike(trace)) > 2
    pairs = [(trace.recorder[key]["pair"], key[0]) for key in trace.handler if trace.recorder[key]["pair"] != "0"]
    assert pairs, len(trace.handler)
    assert all(trace.paired[pair]["tid"] == tid for pair, tid in pairs)


def under_handler(context, *options, rounds=2):
    """A program that does what is hard for a tracer, with and without: same output, same status."""
    target = context.target("hard.py", rounds)
    alone = subprocess.run(target, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    recording, path = lttng_record(context, "--path=signal", "-F", "5000", *options, target=target)
    assert recording.status == alone.returncode == 7, (recording.status, recording.stderr[-800:])
    lines = [line for line in recording.stdout.splitlines() if not line.startswith("{")]
    assert lines == alone.stdout.decode().splitlines(), (recording.stdout, alone.stdout)
    trace, counts = Trace(path), recording.summary["lttng"]["handler_events"]
    # one that its process's end cut off between two instructions is in one of the two counts
    assert abs(len(trace.handler) + counts["discarded"] - counts["written"]) <= recording.summary["processes"], (
        len(trace.handler), counts)
    if not counts["discarded"]:
        check_alike(trace, recording.summary["processes"] + recording.summary["lost"]["ring_full"])
    # at 5 kHz, of a program that also starts others, the ring may be full
    faults = [fault for fault in recording.faults() if "ring_full" not in fault]
    assert not faults, faults
    # not its first process alone has the session's ear
    assert len({fields["pid"] for fields, _ in trace.handler.values()}) > 1, counts


def test_a_program_that_forks_and_execs_and_closes_all_does_the_same(context):
    under_handler(context)


@rec.slow
def test_a_program_that_forks_and_execs_does_the_same_whichever_way(context, python):
    under_handler(context, "--unwind=online", rounds=3)
    under_handler(context, "--signal=sigio", "--signal-number=40", rounds=3)


def daemon_ends(context, number):
    """The session daemon goes away, or stops, under a program that goes on to fork and exec."""
    target, trace = context.target("hard.py", 8), context.fresh_trace()
    alone = subprocess.run(target, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    process = context.profiler.start(context.file("out"), context.file("err"), "record", "--json", "-o", trace,
                                     "--path=signal", "--max-loss=100", "-F", "1000", "--lttng-output=" + trace + "-l",
                                     "--", *target)
    context.processes.append(process)
    rec.wait_for(lambda: "\n1 " in rec.read_text(context.file("out")) or process.poll() is not None, 60, "second round")
    daemon, = tools.processes("lttng-sessiond")
    os.kill(daemon, number)
    try:
        process.wait(120)
    finally:
        tools.end_daemons()
    text, words = rec.read_text(context.file("out")), rec.read_text(context.file("err"))
    assert process.returncode == 7, (process.returncode, words[-500:])
    lines = text.splitlines()
    assert "".join(line + "\n" for line in lines[:-1]) == alone.stdout.decode(), text
    assert "warning: --lttng: " in words, words
    counts = json.loads(lines[-1])["lttng"]["handler_events"]
    assert counts["written"] and counts["not_taken"], counts
    recording = rec.Recording(context.profiler, trace, process.returncode, text, words)
    assert recording.summary["complete"] and not recording.faults(), recording.faults()


def test_the_session_daemon_is_killed_under_it(context):
    daemon_ends(context, signal.SIGKILL)


@rec.slow
def test_the_session_daemon_hangs_under_it(context):
    daemon_ends(context, signal.SIGSTOP)
