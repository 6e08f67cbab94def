# SPDX-License-Identifier: MIT
"""Packages and launchers that people use, as they come from PyPI."""
import collections
import os

import environments
import recording as rec

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "targets")


@rec.since(3, 9)
def test_threads_in_c_without_the_gil_keep_their_python_stack(context, python):
    own = environments.with_package(python, context.version, "numpy")
    recording = context.record_well("-F", "499", "--", own, os.path.join(FOLDER, "threads_in_c.py"), "1")
    seen, without = collections.Counter(), 0
    main = min(sample["pid"] for sample in recording.samples())
    for sample in recording.samples():
        names = [frame[1] for frame in sample["frames"] if frame[0] == "p"]
        if sample["tid"] == main:
            continue
        without += sample["w"] * (not names)
        for name in ("multiply", "sort", "digest", "squeeze"):
            seen[name] += sample["w"] * (name in names)
    assert len(seen) == 4 and min(seen.values()) > 0.15 * sum(seen.values()) > 100, seen
    assert without <= 0.01 * sum(seen.values()), "%d samples without a Python stack, %r" % (without, seen)


def test_a_program_that_uv_runs(context):
    uv = os.path.join(os.path.dirname(environments.with_package(context.python, context.version, "uv")), "uv")
    recording = context.record_well("-F", "499", "--", uv, "run", "--no-project", "--offline", "--python",
                                    context.python, os.path.join(FOLDER, "program.py"), "1")
    compute = [sample for sample in recording.samples() if ["p", "compute"] in [f[:2] for f in sample["frames"]]]
    assert sum(sample["w"] for sample in compute) > 100, recording.summary["status"]
    for sample in compute:
        names = [frame[1] for frame in sample["frames"] if frame[0] == "p"]
        assert names[:3] == ["<module>", "main", "compute"], names
