# SPDX-License-Identifier: MIT
"""What was on the stack, and for how long, against what the target itself says."""
import collections
import json
import math
import os
import re
import subprocess

import recording as rec

PLACES = 25  # that targets/stacks.py burns at; 2.7 cannot await


def python_stack(sample):
    return tuple((frame[1], frame[2], frame[3]) for frame in sample["frames"] if frame[0] == "p")


def told_stacks(stdout):
    lines = re.findall(r"^@stack (.*)$", stdout, re.M)
    return {tuple((name, file, line) for name, file, line in json.loads(text)) for text in lines}


def check_stacks(context, *options, **keywords):
    recording = context.record_well("-F", "997", *options, "--", *context.target("stacks.py", 0.1), **keywords)
    told = told_stacks(recording.stdout)
    assert len(told) == PLACES - (context.python_version == (2, 7)), "the target told only %d stacks" % len(told)
    burning, elsewhere = collections.Counter(), 0
    leaves = {stack[-1] for stack in told}
    for sample in recording.samples():
        stack = python_stack(sample)
        if stack and stack[-1] in leaves:
            burning[stack] += sample["w"]
    wrong = {stack: count for stack, count in burning.items() if stack not in told}
    assert not wrong, "stacks that never were: %r" % sorted(wrong.items())[:2]
    missing = [stack for stack in told if not 0.4 < burning[stack] / (0.1 * 997) < 1.6]
    assert not missing, "%d stacks without their samples, e.g. %d of %r" % (
        len(missing), burning[missing[0]], missing[0])


@rec.telling
def test_every_frame_and_line_is_exact(context, python):
    check_stacks(context)


def test_every_frame_and_line_is_exact_without_native_frames(context, python):
    check_stacks(context, "--native=none")


@rec.since(3, 14)
def test_every_frame_and_line_is_exact_in_code_compiled_at_run_time(context, python):
    probe = "import sys; print(sys._jit.is_available())"
    if "True" not in subprocess.check_output([python, "-c", probe], text=True):
        raise rec.Skip("this interpreter has no compiler")
    check_stacks(context, env={"PYTHON_JIT": "1"})


def test_shares_of_ten_functions_match_their_own_clock(context, python):
    recording = context.record_well("-F", "997", "--", *context.target("shares.py", 4))
    told = json.loads(re.search(r"^@shares (.*)$", recording.stdout, re.M).group(1))
    counts = collections.Counter()
    for sample in recording.samples():
        for frame in sample["frames"]:
            if frame[0] == "p" and frame[1] in told:
                counts[frame[1]] += sample["w"]
    total = sum(counts.values())
    assert total > 0.9 * recording.looked_at() > 1000, "%d samples, %r" % (total, recording.summary)
    assert 0.9 < recording.overflows_of_target() / (4 * 997) < 1.1, recording.summary
    errors = {name: counts[name] / total - share for name, share in told.items()}
    rms = math.sqrt(sum(error * error for error in errors.values()) / len(errors))
    assert rms < 0.01, "RMS error %.2f %%: %r" % (100 * rms, errors)


def test_names_are_qualified_where_the_interpreter_has_them(context, python):
    recording = context.record_well("-F", "499", "--", *context.target("stacks.py", 0.05))
    names = {frame[1] for sample in recording.samples() for frame in sample["frames"] if frame[0] == "p"}
    expected = "Thing.method" if context.python_version >= (3, 11) else "method"
    assert expected in names, sorted(names)


def test_files_are_those_of_the_code_objects(context):
    recording = context.record_well("-F", "499", "--", *context.target("spin.py", 1))
    files = {frame[2] for sample in recording.samples() for frame in sample["frames"]
             if frame[0] == "p" and frame[1] in ("heavy", "light", "spin")}
    assert files == {context.target("spin.py")[1]}, files
    assert os.path.isabs(files.pop())
