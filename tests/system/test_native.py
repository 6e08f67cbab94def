# SPDX-License-Identifier: MIT
"""Native frames, and where the Python frames lie between them."""
import re

import recording as rec


def spinning(recording):
    return [sample for sample in recording.samples()
            if any(frame[:2] == ["p", "spin"] for frame in sample["frames"])]


@rec.telling
def test_python_lies_between_the_c_functions_that_call_it(context, python):
    recording = context.record_well("-F", "997", "--", *context.target("native.py", 1.5))
    samples = spinning(recording)
    right = total = 0
    for sample in samples:
        words = [name for kind, name, _, _ in sample["frames"]
                 if kind == "p" or re.search(r"qsort", name)]
        words = [word for n, word in enumerate(words) if word != words[n - 1] or n == 0]
        order = [word if "qsort" not in word else "qsort" for word in words]
        order = [word for n, word in enumerate(order) if n == 0 or word != order[n - 1]]
        total += sample["w"]
        if order == ["<module>", "sort", "qsort", "outer", "sort", "qsort", "inner", "spin"]:
            right += sample["w"]
    assert total > 300, "%d samples" % total
    assert right >= 0.99 * total, "%d of %d in order, e.g. %r" % (right, total, order)


def test_native_stacks_reach_the_start_of_the_thread(context, python):
    recording = context.record_well("-F", "997", "--", *context.target("native.py", 1.5))
    samples = spinning(recording)
    whole = sum(sample["w"] for sample in samples
                if re.match(r"_start|main|__libc_start|Py_", sample["frames"][0][1]))
    total = sum(sample["w"] for sample in samples)
    assert whole >= 0.99 * total, "%d of %d, e.g. %r" % (whole, total, samples[0]["frames"][:3])


def test_evaluation_frames_are_shown_only_when_asked_for(context):
    for option, wanted in (((), False), (("--interpreter-frames",), True)):
        recording = context.record_well("-F", "499", *option, "--", *context.target("native.py", 0.7))
        shown = any(frame[0] == "n" and frame[1].startswith("_PyEval_EvalFrameDefault")
                    for sample in recording.samples() for frame in sample["frames"])
        assert shown == wanted, "shown: %r with %r" % (shown, option)


def test_no_native_frames_without_native(context):
    recording = context.record_well("-F", "499", "--native=none", "--", *context.target("native.py", 0.7))
    kinds = {frame[0] for sample in recording.samples() for frame in sample["frames"]}
    assert "p" in kinds and not kinds & {"n", "k"}, kinds


def test_templates_give_what_the_library_gives(context, python):
    recording = context.record_well("-F", "997", "--verify-unwind", "--", *context.target("native.py", 1.5))
    unwind = recording.summary["unwind"]
    assert unwind["verified"] > 0.9 * recording.summary["samples"] and unwind["differed"] == 0, unwind
    assert unwind["template_samples"] > 0.5 * unwind["samples"], unwind


def test_native_names_come_from_the_file_that_is_mapped(context):
    recording = context.record_well("-F", "499", "--", *context.target("native.py", 1))
    files = {frame[2] for sample in recording.samples() for frame in sample["frames"] if frame[0] == "n"}
    assert any(file.startswith("libc") for file in files), files
    assert any(re.match(r"libpython|python", file) for file in files), files


def test_cut_native_stack_is_marked_and_python_is_whole(context):
    recording = context.record_well("-F", "499", "--stack-bytes=512", "--", *context.target("native.py", 1))
    samples = spinning(recording)
    for sample in samples:
        names = [name for kind, name, _, _ in sample["frames"] if kind == "p"]
        assert names == ["<module>", "sort", "outer", "sort", "inner", "spin"], names
    assert any(frame[0] == "x" for sample in samples for frame in sample["frames"])
