# SPDX-License-Identifier: MIT
"""Who is recorded: a command and its children, processes by pid, everything."""
import os
import re
import time

import recording as rec


def functions_of(samples):
    """{name: {(pid, tid)}} of every function of a target seen; the library has a `parent` too."""
    found = {}
    for sample in samples:
        for frame in sample["frames"]:
            if frame[0] == "p" and os.path.basename(os.path.dirname(frame[2])) == "targets":
                found.setdefault(frame[1], set()).add((sample["pid"], sample["tid"]))
    return found


def test_children_forked_and_executed_are_followed(context, python):
    recording = context.record_well("-F", "499", "--", *context.target("family.py", 1))
    roles = rec.roles_of(recording.stdout)
    found = functions_of(recording.samples())
    for role in ("parent", "forked", "spawned", "grandchild"):
        assert found.get(role) == {roles[role][0]}, "%s: %r, really %r" % (
            role, found.get(role), roles[role])
    assert recording.summary["processes"] >= 4, recording.summary


def test_threads_have_their_own_tids_also_without_the_gil(context, python):
    recording = context.record_well("-F", "997", "--", *context.target("threads.py", 2))
    roles = rec.roles_of(recording.stdout)
    found = functions_of(recording.samples())
    for role in ("early", "late", "without_gil"):
        assert found.get(role) == {roles[role][0]}, "%s: %r, really %r" % (
            role, found.get(role), roles[role])


def test_attached_process_shows_present_and_future_threads(context, python):
    target = context.start_target("threads.py", 3)
    pid = rec.roles_of(target.first_line)["main"][0][0]
    time.sleep(0.3)
    recording = context.record_well("-F", "499", "-p", str(pid))
    roles = rec.roles_of(target.stdout.read())
    found = functions_of(recording.samples())
    for role in ("early", "late", "without_gil"):
        assert found.get(role) == {roles[role][0]}, "%s: %r, really %r" % (
            role, found.get(role), roles[role])


def test_several_pids_are_recorded_and_no_other(context):
    targets = [context.start_target("spin.py", 4) for _ in range(3)]
    pids = [target.pid for target in targets]
    recording = context.record_well("-F", "499", "-d", "1.5", "-p", str(pids[0]), "-p", str(pids[1]))
    seen = {sample["pid"] for sample in recording.samples()}
    assert seen == set(pids[:2]), "%r, asked for %r" % (seen, pids[:2])


def test_all_sees_processes_that_nobody_named(context):
    target = context.start_target("spin.py", 4)
    recording = context.record_well("-F", "199", "-d", "2", "-a")
    summary = recording.summary
    found = functions_of(recording.samples())
    assert (target.pid, target.pid) in found.get("heavy", ()), sorted(found)[:20]
    # each period of each processor is accounted for, idle or not; where the profiler waits for a processor
    # between its look at the clock and the events' start or end, that is not in the duration, or not in them
    expected = 199 * summary["duration_s"] * os.cpu_count()
    assert 0.75 * expected < summary["overflows"] < 1.3 * expected, summary


def test_duration_ends_the_recording_and_spares_the_target(context):
    target = context.start_target("spin.py", 3)
    recording = context.record_well("-d", "1", "-p", str(target.pid))
    assert 0.9 <= recording.summary["duration_s"], recording.summary
    assert target.poll() is None, "the target ended with the recording"
    assert "@done" in target.stdout.read() and target.wait() == 0


def test_exit_status_is_the_commands(context):
    for status in (0, 3, 255):
        recording = context.record("--", context.python, "-c", "import sys; sys.exit(%d)" % status)
        assert recording.status == status, "%d instead of %d" % (recording.status, status)
    recording = context.record("--", context.python, "-c", "import os; os.kill(os.getpid(), 15)")
    assert recording.status == 143, recording.status


def test_command_that_cannot_run_has_the_status_of_a_shell_and_leaves_nothing(context):
    plain = context.file("plain")
    open(plain, "w").close()
    for command, status in (("/nonexistent/program", 127), (plain, 126)):
        recording = context.record("--", command)
        assert recording.status == status, "%d instead of %d" % (recording.status, status)
        assert not os.path.exists(recording.trace), "a trace was left"
        assert command in recording.stderr, recording.stderr


def test_command_has_its_own_arguments_and_files(context):
    code = "import sys; print(sys.argv[1:]); sys.stderr.write(sys.stdin.read())"
    done = context.profiler.run("record", "--quiet", "-o", context.fresh_trace(), "--",
                                context.python, "-c", code, "-p", "--json", "--",
                                stdin=open(__file__))
    assert done.stdout.startswith("['-p', '--json', '--']\n"), done.stdout[:200]
    with open(__file__) as file:
        assert file.read() in done.stderr


def test_two_recordings_of_one_target_do_not_see_each_other(context):
    target = context.start_target("spin.py", 6)
    both = [context.profiler.start(context.file("out%d" % n), context.file("err%d" % n), "record",
                                   "--json", "-F", "499", "-d", "2", "-p", str(target.pid), "-o",
                                   context.file("t%d" % n)) for n in range(2)]
    assert [process.wait(120) for process in both] == [0, 0]
    for n in range(2):
        recording = rec.Recording(context.profiler, context.file("t%d" % n), 0,
                                  rec.read_text(context.file("out%d" % n)), "")
        assert not recording.faults(), recording.faults()
        assert recording.summary["samples"] > 100, recording.summary


def test_nothing_stays_in_the_kernel_after_a_kill(context):
    target = context.start_target("spin.py", 3)
    process = context.profiler.start(context.file("out"), context.file("err"), "record", "-p",
                                     str(target.pid), "-o", context.fresh_trace())
    programs = rec.wait_for(lambda: rec.bpf_programs_held([process.pid]), 15, "BPF program")
    time.sleep(0.3)
    programs |= rec.bpf_programs_held([process.pid])
    assert programs & rec.bpf_programs(), "the programs are not found where they are"
    process.kill()
    process.wait()
    rec.wait_for(lambda: not programs & rec.bpf_programs(), 5, "end of the BPF programs")
    with open("/proc/%d/status" % target.pid) as file:
        assert not re.search(r"^State:\s*[Tt]", file.read(), re.M), "the target is stopped"
    assert "@done" in target.stdout.read() and target.wait() == 0


def test_interpreter_that_does_not_look_like_python_is_found(context):
    link = context.file("render-worker")
    os.symlink(context.python, link)
    recording = context.record_well("--", link, context.target("spin.py")[1], "1")
    assert "heavy" in functions_of(recording.samples())


def test_process_without_python_has_native_frames(context):
    code = "i=0; while [ $i -lt 600000 ]; do i=$((i+1)); done"
    recording = context.record_well("-F", "499", "--", "sh", "-c", code)
    samples = [s for s in recording.samples() if s["frames"]]
    assert samples and all(f[0] != "p" for s in samples for f in s["frames"])
    assert recording.summary["status"]["no_python"] > 0, recording.summary
