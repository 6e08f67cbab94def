# SPDX-License-Identifier: MIT
"""What a recording prints and leaves, and what the views make of it."""
import collections
import json
import os
import re
import subprocess

import recording as rec

SUMMARY_KEYS = {"trace", "duration_s", "event", "period_or_freq", "overflows", "samples", "status",
                "lost", "processes", "threads"}
STATUS = {"complete", "no_python", "pending", "no_thread_state", "no_frame", "truncated", "unreadable",
          "broken", "kernel_thread"}
LOST = {"ring_full", "not_delivered", "no_scratch", "outside_target", "outside_namespace", "consumer",
        "merged", "cut", "lttng"}


def test_summary_object_has_every_count(context):
    recording = context.record_well("-F", "997", "--", *context.target("spin.py", 1.5))
    summary = recording.summary
    assert SUMMARY_KEYS <= set(summary), "missing: %r" % (SUMMARY_KEYS - set(summary))
    assert set(summary["status"]) == STATUS, summary["status"]
    assert set(summary["lost"]) == LOST, summary["lost"]
    assert os.path.abspath(summary["trace"]) == recording.trace, summary["trace"]
    assert summary["duration_s"] > 1.4, summary["duration_s"]
    assert summary["period_or_freq"] == 997 and summary["event"] == "cpu-clock", summary
    assert summary["processes"] == 1 and summary["threads"] == 1, summary
    assert 1.4 < recording.overflows_of_target() / 997 < 2, summary
    assert summary["status"]["complete"] > 0.9 * recording.looked_at(), summary


def test_summary_for_people_tells_counts_and_hot_functions_and_trace(context):
    trace = context.fresh_trace()
    done = context.profiler.run("record", "-o", trace, "--", *context.target("spin.py", 1))
    assert re.fullmatch(r"@main.*\n@done\n", done.stdout), "stdout is not the command's: " + done.stdout
    assert "trace: " + trace in done.stderr, done.stderr
    assert re.search(r"\b\d{3,4} samples in \d+\.\d\d s of 1 process, 1 thread", done.stderr), done.stderr
    assert re.search(r"lost: \d+ of \d+ overflows", done.stderr), done.stderr
    assert re.search(r"\bspin\b.*spin\.py", done.stderr), "no hot function: " + done.stderr


def test_quiet_says_nothing(context):
    done = context.profiler.run("record", "--quiet", "-o", context.fresh_trace(), "--",
                                *context.target("spin.py", 0.5))
    assert done.stderr == "", done.stderr
    assert re.fullmatch(r"@main.*\n@done\n", done.stdout), done.stdout


def test_babeltrace2_reads_the_trace_without_a_warning(context, python):
    recording = context.record_well("-F", "997", "--", *context.target("family.py", 1))
    done = subprocess.run(["babeltrace2", recording.trace], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, errors="replace")
    assert done.returncode == 0 and done.stderr == "", done.stderr[:500]
    counts = collections.Counter(re.findall(r"\) (?:\S+ )?(?:sidewinder:)?(\w+): \{", done.stdout))
    assert counts["sample"] == recording.summary["samples"], "%r, %d samples" % (
        counts, recording.summary["samples"])


def test_jsonl_holds_what_its_description_says(context):
    recording = context.record_well("-F", "997", "--", *context.target("family.py", 0.7))
    single = recording.samples("--samples")
    assert len(single) == recording.summary["samples"]
    for sample in recording.samples() + single:
        assert set(sample) >= {"pid", "tid", "comm", "w", "t", "frames", "state"}, sorted(sample)
        assert sample["state"] in STATUS, sample["state"]
        assert isinstance(sample["pid"], int) and isinstance(sample["tid"], int)
        assert 0 <= sample["t"] <= recording.summary["duration_s"] + 0.5, sample["t"]
        for kind, name, file, line in sample["frames"]:
            assert kind in "pnkx" and name and isinstance(file, str) and line >= 0, sample["frames"]
    times = [sample["t"] for sample in single]
    assert times == sorted(times), "samples are not in order of time"
    seen = [(s["pid"], s["tid"], str(s["frames"]), s["state"]) for s in recording.samples()]
    assert len(seen) == len(set(seen)), "a stack of a thread stands on two lines"


def test_folded_lines_are_stacks_and_counts(context):
    recording = context.record_well("-F", "997", "--", *context.target("spin.py", 1))
    lines = recording.export("folded").split("\n")[:-1]
    total = 0
    for line in lines:
        stack, _, count = line.rpartition(" ")
        total += int(count)
        assert all(re.fullmatch(r".+ \(.*\)|.+ \[k\]|\[.+\]", frame) for frame in stack.split(";")), line
    assert total == recording.summary["samples"]
    python = [line for line in lines if "spin (spin.py:" in line]
    assert python and all("<module> (spin.py:" in line for line in python), python[:2]
    with_processes = recording.export("folded", "--processes", "--threads").split("\n")[0]
    assert re.match(r"process \d+ \S+;thread \d+ ", with_processes), with_processes


def test_report_sums_are_those_of_the_samples(context):
    recording = context.record_well("-F", "997", "--", *context.target("spin.py", 1.5))
    report = json.loads(recording.report("--json"))
    assert sum(row["self"]["samples"] for row in report["rows"]) == recording.summary["samples"]
    for name in ("<module>", "main", "heavy", "light", "spin"):
        total = sum(sample["w"] for sample in recording.samples() if
                    any(frame[:2] == ["p", name] and "spin.py" in frame[2] for frame in sample["frames"]))
        found = [row["total"]["samples"] for row in report["rows"]
                 if row["kind"] == "python" and row["name"] == name and "spin.py" in row["file"]]
        assert found == [total], "%s: %r, samples have %d" % (name, found, total)


def test_report_by_everything_prints_rows(context):
    recording = context.record_well("-F", "499", "--", *context.target("family.py", 0.7))
    words = {"function": "grandchild", "line": "family.py", "file": "family.py", "thread": "python",
             "process": "python", "module": "family"}
    for by, word in words.items():
        text = recording.report("--by=" + by, "--limit=0")
        assert word in text, "--by=%s: %s" % (by, text)
    for option, word in (("--callers", "work"), ("--callees", "work")):
        assert word in recording.report(option, "--limit=0"), option


def test_newest_trace_is_the_default(context):
    for seconds in (0.3, 0.6):
        context.profiler.run("record", "--quiet", "--", *context.target("spin.py", seconds),
                             cwd=context.work)
    folders = [name for name in os.listdir(context.work) if name.startswith("sidewinder-")]
    assert len(folders) == 2, folders
    report = json.loads(context.profiler.run("report", "--json", cwd=context.work).stdout)
    assert report["recording"]["duration_s"] > 0.5, report["recording"]


def test_flame_graph_is_one_page_without_foreign_parts(context):
    recording = context.record_well("-F", "499", "--", *context.target("spin.py", 1))
    path = context.file("flame.html")
    context.profiler.run("export", recording.trace, "--to=flamegraph", "-o", path)
    page = rec.read_text(path)
    assert page.lstrip().lower().startswith("<!doctype html") and page.rstrip().endswith("</html>")
    assert not re.search(r"(src|href)\s*=\s*[\"']?(https?:)?//", page), "the page loads something"
    assert "heavy" in page and "spin.py" in page


def test_filters_leave_exactly_the_samples_that_are_asked_for(context):
    recording = context.record_well("-F", "997", "--", *context.target("threads.py", 2))
    samples = recording.samples("--samples")
    tid = rec.roles_of(recording.stdout)["late"][0][1]
    middle = recording.summary["duration_s"] / 2
    filters = {
        ("--from=%.9f" % middle,): lambda sample: sample["t"] >= middle,
        ("--until=%.9f" % middle,): lambda sample: sample["t"] < middle,
        ("--thread=%d" % tid,): lambda sample: sample["tid"] == tid,
        ("--function=late", "--from=%.9f" % middle): lambda sample: sample["t"] >= middle and any(
            frame[1].rsplit(".")[-1] == "late" for frame in sample["frames"]),
    }
    for options, wanted in filters.items():
        expected = [sample for sample in samples if wanted(sample)]
        assert 0 < len(expected) < len(samples), (options, len(expected), len(samples))
        text = recording.export("jsonl", "--samples", *options)
        assert [json.loads(line) for line in text.splitlines()] == expected, options
        report = json.loads(recording.report("--json", *options))
        assert report["recording"]["samples"] == len(expected), options
        assert report["recording"]["only"], report["recording"]


def test_a_filter_that_leaves_nothing_is_told(context):
    recording = context.record_well("-F", "997", "--", *context.target("spin.py", 0.5))
    done = context.profiler.run("report", recording.trace, "--thread=no such thread", check=False)
    assert done.returncode == 1 and done.stdout == "", done
    assert "is left: only thread no such thread" in done.stderr, done.stderr
