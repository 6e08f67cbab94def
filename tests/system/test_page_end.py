# SPDX-License-Identifier: MIT
"""Objects of the target that lie right before memory that is not there."""


def test_objects_at_the_end_of_memory_are_whole(context, python):
    recording = context.record_well("-F", "499", "--", *context.target("page_end.py", 1))
    frames = [frame for sample in recording.samples() for frame in sample["frames"] if frame[0] == "p"]
    edges = [sample["w"] for sample in recording.samples()
             if any(frame[1] == "edge" for frame in sample["frames"])
             and any(frame[1] == "<module>" for frame in sample["frames"])]
    assert sum(edges) > 400, "%d samples; names: %r" % (sum(edges), {frame[1] for frame in frames})
    assert not recording.summary["status"]["broken"], recording.summary["status"]
