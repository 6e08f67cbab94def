# SPDX-License-Identifier: MIT
"""What happens to processes and threads during their life, as far as other tests do not show it."""
import collections
import os
import subprocess

import recording as rec


def names_of(sample, kinds="p"):
    return [frame[1] for frame in sample["frames"] if frame[0] in kinds]


def built_library(context, source):
    library = context.file("lib%s.so" % source)
    done = subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, context.target(source + ".c")[1]],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
    return library


def check_late(recording):
    """Every sample in the library that came after all the mappings is whole, and has its names."""
    late = [sample for sample in recording.samples() if "late" in names_of(sample)]
    total = sum(sample["w"] for sample in late)
    whole = sum(sample["w"] for sample in late if names_of(sample, "x") == [] and
                sample["frames"][0][1] == "_start" and "work_late" in names_of(sample, "n"))
    odd = [sample["frames"] for sample in late if "work_late" not in names_of(sample, "n")][:1]
    assert total > 20 and whole >= 0.98 * total, "%d of %d whole; %r" % (whole, total, odd)


def test_a_process_of_twenty_thousand_mappings_keeps_its_names(context):
    library = built_library(context, "late")
    process = context.profiler.start(context.file("out"), context.file("err"), "record", "--json", "-F", "499",
                                     "-o", context.file("launched"), "--",
                                     *context.target("many_mappings.py", library, 20000, 1))
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = status
    assert status == 0, rec.read_text(context.file("err"))
    recording = rec.Recording(context.profiler, context.file("launched"), 0,
                              rec.read_text(context.file("out")), rec.read_text(context.file("err")))
    assert not recording.faults(), recording.faults()
    check_late(recording)
    assert used.ru_maxrss < 150 << 10, "%d KiB" % used.ru_maxrss  # of which the rings are 32 MiB
    target = context.start_target("many_mappings.py", library, 20000, 60)
    recording = context.record_well("-F", "499", "-d", "2", "-p", str(target.pid))
    check_late(recording)
