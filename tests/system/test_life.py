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


def roles_checked(recording, text):
    """{(pid, tid): {role}} that printed lines; and each one's samples in a function of its name."""
    for role, ids in rec.roles_of(text).items():
        found = [sample for sample in recording.samples() if role in names_of(sample)]
        where = {(sample["pid"], sample["tid"]) for sample in found}
        assert where == set(ids), "%s: %r, seen %r" % (role, ids, where)
        yield role, sum(sample["w"] for sample in found)


def test_what_has_a_pid_again_is_not_taken_for_who_had_it(context):
    others = [other for version, other in rec.interpreters() if rec.minor_version(version) != context.python_version]
    recording = context.record("-F", "997", "--", *context.target("reuse.py", others[-1] if others else context.python))
    if recording.status == 77:
        raise rec.Skip("no right to choose a pid")
    assert recording.status == 0 and not recording.faults(), recording.stderr + str(recording.faults())
    roles = dict(roles_checked(recording, recording.stdout))
    assert sorted(roles) == ["first", "second", "third", "thread"], roles
    # each ran for 0.3 s; what starts is looked at first, which may take a while
    assert min(roles["first"], roles["second"], roles["thread"]) > 200 and roles["third"], roles
    assert sum("second" in names_of(sample) and "first" in names_of(sample) for sample in recording.samples()) == 0


def test_each_way_to_start_a_process_of_multiprocessing_is_followed(context):
    recording = context.record_well("-F", "997", "--", *context.target("start_methods.py", 0.4))
    ids = rec.roles_of(recording.stdout)
    assert sorted(ids) == ["fork", "forkserver", "spawn"], ids
    for role, ((pid, _),) in ids.items():
        # the ways are functions of multiprocessing, too
        work = [sample for sample in recording.samples() if sample["pid"] == pid and "work" in names_of(sample)]
        assert sum(sample["w"] for sample in work) > 0.5 * 0.4 * 997, "%s: %r" % (role, work)
        for sample in work:
            names = names_of(sample)
            assert names[0] == "<module>" and names[names.index("work") - 2:][:2] == ["run", role], names


def test_threads_work_on_without_the_main_one(context):
    recording = context.record_well("-F", "499", "--", *context.target("leaderless.py", 1))
    (_, launched), = roles_checked(recording, recording.stdout)
    assert launched > 400, launched
    target = context.start_target("leaderless.py", 60)
    recording = context.record_well("-F", "499", "-d", "2", "-p", str(target.pid))
    worker = [sample for sample in recording.samples() if "worker" in names_of(sample)]
    assert sum(sample["w"] for sample in worker) == recording.summary["samples"] > 20, recording.summary
    assert {sample["pid"] for sample in worker} == {target.pid}, target.pid


def test_a_storm_of_children_of_fifty_milliseconds_is_seen_whole(context):
    recording = context.record_well("-F", "997", "--", *context.target("storm.py", 64, 0.05))
    cpu = float(recording.stdout.split("@done children=64 cpu=")[1].split()[0])
    brief = [sample for sample in recording.samples() if "brief" in names_of(sample)]
    # a fork knows its parent's interpreter at once; clocks of children are read in steps
    assert sum(sample["w"] for sample in brief) >= 0.9 * 997 * cpu, "%d of %.1f" % (
        sum(sample["w"] for sample in brief), 997 * cpu)
    assert len({sample["pid"] for sample in brief}) == 64, len({sample["pid"] for sample in brief})


def test_native_stacks_are_whole_through_a_preloaded_allocator(context):
    libraries = [path for path in ("/usr/lib/x86_64-linux-gnu/libjemalloc.so.2",
                                   "/usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4") if os.path.exists(path)]
    if not libraries:
        raise rec.Skip("neither libjemalloc2 nor libtcmalloc-minimal4 is here")
    for library in libraries:
        recording = context.record_well("-F", "997", "--", "env", "LD_PRELOAD=" + library,
                                        *context.target("allocations.py", 1))
        samples = [sample for sample in recording.samples() if "allocate" in names_of(sample)]
        inside = [sample for sample in samples
                  if os.path.basename(library).split(".")[0] in str(sample["frames"][-1][2])]
        for sample in samples:
            assert sample["frames"][0][1] == "_start" and not names_of(sample, "x"), sample["frames"]
        assert sum(sample["w"] for sample in inside) > 10, "%d in %s" % (len(inside), library)
