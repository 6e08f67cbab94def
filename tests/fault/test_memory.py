# SPDX-License-Identifier: MIT
"""Memory of a target that lies (RELIABILITY 02)."""
import collections
import json
import os
import re
import shutil
import subprocess

import recording as rec
import tools


def check_cycle(context, length):
    recording = context.record("-F", "499", "--native=none", "--", *context.target("chain.py", length))
    assert recording.status == 0 and "@done" in recording.stdout, (recording.status, recording.stdout,
                                                                  recording.stderr[-500:])
    assert not recording.faults(), recording.faults()
    status = recording.summary["status"]
    assert status["broken"] + status["truncated"] > 0.7 * recording.looked_at() > 100, status
    bad = [sample for sample in recording.samples("--samples") if sample["state"] in ("broken", "truncated")]
    whole = [sample for sample in bad if "spin" in [frame[1] for frame in sample["frames"]]]
    assert len(whole) > 0.9 * len(bad), "the frames before the fault are missing"
    assert all(any(frame[0] == "x" for frame in sample["frames"]) for sample in bad), "nothing says so"


def test_0201_frame_that_is_its_own_caller(context, python):
    check_cycle(context, 1)


def test_0201_two_frames_that_call_each_other(context, python):
    check_cycle(context, 2)


def test_0202_ten_thousand_frames(context, python):
    recording = context.record("-F", "199", "--", *context.target("depth.py", 10000))
    assert recording.status == 0 and "@done" in recording.stdout, recording.stderr[-500:]
    assert not recording.faults(), recording.faults()
    deep = [sample for sample in recording.samples() if sample["state"] == "truncated"]
    assert sum(sample["w"] for sample in deep) > 0.7 * recording.looked_at(), recording.summary
    bottom = [sample for sample in deep if "bottom" in tools.functions([sample])]
    assert sum(s["w"] for s in bottom) > 0.8 * sum(s["w"] for s in deep), "the innermost frames are missing"
    for sample in bottom:
        kinds = collections.Counter(frame[0] for frame in sample["frames"])
        assert kinds["p"] >= 1000 and kinds["x"] >= 1, kinds
        python_names = [frame[1] for frame in sample["frames"] if frame[0] == "p"]
        assert python_names[-1] == "bottom" and set(python_names[:-1]) == {"down"}, python_names[-3:]


def build_fake(context, size, version, cookie):
    if not shutil.which("cc"):
        raise rec.Skip("no C compiler")
    program = context.file("fake-%d-%s" % (size, version))
    source = os.path.join(context.folder, "targets", "fake.c")
    subprocess.run(["cc", "-O1", "-rdynamic", "-DSIZE=%d" % size, "-DVERSION=%s" % version,
                    '-DCOOKIE="%s"' % cookie, "-o", program, source], check=True)
    return program


def check_fake(context, size, version, cookie=""):
    """Gives what was said of it."""
    recording = context.record_well("-F", "499", "--", build_fake(context, size, version, cookie))
    samples = recording.samples()
    assert not tools.functions(samples), tools.functions(samples)
    assert "native_work" in tools.functions(samples, "n"), "its native frames are missing"
    status = recording.summary["status"]
    assert status["no_python"] > 0.8 * recording.looked_at() > 200, status
    return [line for line in recording.stderr.split("\n") if "CPython" in line or "pid" in line]


@rec.slow
def test_0203_symbol_that_is_not_what_its_name_says(context):
    for size, version, cookie in ((16, "0", ""), (2000000, "0x030c01f0ul", ""), (400000, "0x030a0df0ul", ""),
                                  (1000, "0x030d00f0ul", "xdebugpy"), (400000, "0x030d00f0ul", "xdebugpy")):
        said = check_fake(context, size, version, cookie)
        assert len(said) <= 1, said


def test_0204_version_that_nobody_knows_is_refused_by_name(context):
    said = check_fake(context, 400000, "0x031100f0ul")
    assert len(said) == 1 and "3.17" in said[0], said


def test_0206_names_of_every_kind_stay_names(context, python):
    recording = context.record_well("-F", "997", "--native=none", "--", *context.target("names.py", "names"))
    names = tools.functions(recording.samples())
    for wanted in ("semi;colon", "new\nline", "esc\x1b[31mape", "n\\x00ul", "lone\\ud800surrogate",
                   "<script>alert(1)</script>", "\u200bzero\u202ewidth", "tab\tbed", " ", "\xff\x80"):
        assert wanted in names, "%r is missing: %r" % (wanted, sorted(name[:40] for name in names))
    long = [name for name in names if name.startswith("xxxx")]
    assert len(long) == 1 and 1000 <= len(long[0]) <= 5000 and "\u2026" in long[0], [len(name) for name in long]
    folded = recording.export("folded")
    total = sum(int(line.rpartition(" ")[2]) for line in folded.split("\n")[:-1])
    assert total == recording.summary["samples"], "a name broke a line in two"
    for text in (folded, recording.report("--limit=0"), recording.stderr):
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", text), "control characters in the output"
    assert "<script>alert" not in recording.export("flamegraph"), "a name became markup"
    json.loads(recording.report("--json"))


def test_0207_line_tables_of_garbage(context, python):
    recording = context.record_well("-F", "997", "--native=none", "--", *context.target("names.py", "tables"))
    lines = [frame[3] for sample in recording.samples() for frame in sample["frames"] if frame[1] == "garbage"]
    assert len(lines) > 1 and all(0 <= line < 2 ** 31 for line in lines), lines
    with open(os.path.join(context.folder, "targets", "names.py")) as file:
        first = [line.startswith("def work") for line in file].index(True) + 1
    assert first in lines, "no frame has the first line %d: %r" % (first, lines)


def test_0209_pages_that_never_come(context):
    target = tools.start(context, context.target("trap.py"), "@")
    if "@none" in rec.read_text(target.path):
        raise rec.Skip("no userfaultfd")
    recording = context.record_well("-F", "997", "-d", "2", "-p", str(target.pid), timeout=120)
    assert target.poll() is None, "the recording lasted as long as its target: it hung"
    summary = recording.summary
    assert summary["status"]["complete"] > 0.9 * recording.looked_at() > 100, summary
    assert {"work"} <= tools.functions(recording.samples()), summary


@rec.slow
def test_0211_names_beyond_the_bound_of_memory(context):
    profiler = tools.start_profiler(context, "-F", "9999", "--native=none", "--max-memory=16M", "--",
                                    *context.target("names.py", "many"))
    _, used = tools.wait_and_measure(profiler)
    recording = tools.end_profiler(context, profiler, 0)
    summary = tools.add_up(recording)
    assert recording.status in (0, 3), recording.stderr
    assert summary["lost"]["consumer"] == 0, summary
    names = tools.functions(recording.samples())
    assert len(names) > 1000, "only %d functions" % len(names)
    # rings (4 MB for each processor), the program itself and what it reads of files come on top
    assert used < (16 + 4 * os.cpu_count() + 60) * 1024, "%d kB" % used
