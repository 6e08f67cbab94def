# SPDX-License-Identifier: MIT
"""Targets that end, change and stop while they are looked at (RELIABILITY 01)."""
import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import time

import recording as rec
import tools

FAULT, LOSS = 1, 3


def test_0101_target_that_ends_while_it_is_looked_at(context):
    code = "import time; print('@main', flush=True); time.sleep(%g)"
    for delay in (0, 0.05, 0.1, 0.2, 0.3, 0.5):
        target = tools.start(context, [context.python, "-c", code % delay])
        recording = context.record("-F", "4999", "-p", str(target.pid))
        assert recording.status in (0, FAULT, LOSS), "status %d: %s" % (recording.status, recording.stderr)
        if recording.status == FAULT:
            assert str(target.pid) in recording.stderr, recording.stderr
            assert not os.path.exists(recording.trace), "a trace was left"
        else:
            tools.add_up(recording)
        target.wait()


def test_0102_main_thread_that_ended_before(context, python):
    target = tools.start(context, context.target("leader.py", 2, 0))
    rec.wait_for(lambda: tools.state_of(target.pid) == "Z", 5, "end of the main thread")
    recording = context.record_well("-F", "499", "-p", str(target.pid))
    summary = recording.summary
    assert summary["status"]["complete"] > 0.9 * recording.looked_at() > 100, summary
    assert "worker" in tools.functions(recording.samples()), summary


def test_0102_main_thread_that_ends_while_recording(context):
    target = tools.start(context, context.target("leader.py", 2, 1))
    recording = context.record_well("-F", "499", "-p", str(target.pid))
    summary = recording.summary
    assert summary["status"]["complete"] > 0.9 * recording.looked_at() > 200, summary
    last = max(sample["t"] for sample in recording.samples("--samples"))
    assert last > 1.2, "the last sample is at %.2f s" % last


def test_0103_exec_under_the_same_pid(context):
    code = "import time\ndef after():\n    end = time.process_time() + 0.7\n    while time.process_time() < end: pass\nafter()"
    target = tools.start(context, context.target("replaced.py", context.python, "-c", code))
    recording = context.record_well("-F", "997", "-p", str(target.pid))
    times = {name: [sample["t"] for sample in recording.samples("--samples")
                    if name in tools.functions([sample])] for name in ("before", "after")}
    assert len(times["before"]) > 200 and len(times["after"]) > 200, {k: len(v) for k, v in times.items()}
    assert max(times["before"]) < min(times["after"]), "functions of the old image on new samples"
    assert {sample["pid"] for sample in recording.samples()} == {target.pid}


def test_0103_exec_of_what_is_no_python(context):
    loop = "i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done"
    target = tools.start(context, context.target("replaced.py", "sh", "-c", loop))
    recording = context.record_well("-F", "997", "-p", str(target.pid))
    samples = recording.samples("--samples")
    change = max(sample["t"] for sample in samples if "before" in tools.functions([sample]))
    after = [sample for sample in samples if sample["t"] > change + 0.1]
    assert len(after) > 50 and not tools.functions(after), tools.functions(after)
    assert all(sample["state"] == "no_python" for sample in after), {sample["state"] for sample in after}


class CloneArguments(ctypes.Structure):  # struct clone_args of linux/sched.h
    _fields_ = [(name, ctypes.c_uint64) for name in (
        "flags", "pidfd", "child_tid", "parent_tid", "exit_signal", "stack", "stack_size", "tls", "set_tid",
        "set_tid_size")]


def fork_with_pid(pid):
    """A child with this pid, or Skip."""
    wanted = (ctypes.c_int * 1)(pid)
    arguments = CloneArguments(exit_signal=signal.SIGCHLD, set_tid=ctypes.addressof(wanted), set_tid_size=1)
    libc = ctypes.CDLL(None, use_errno=True)
    child = libc.syscall(435, ctypes.byref(arguments), ctypes.sizeof(arguments))
    if child < 0:
        raise rec.Skip("clone3 with a pid: %s" % os.strerror(ctypes.get_errno()))
    return child


@rec.slow
def test_0104_pid_that_is_used_again_is_another_process(context):
    keeper = tools.start(context, context.target("spin.py", 3))
    first = tools.start(context, context.target("spin.py", 0.5))
    profiler = tools.start_profiler(context, "-F", "499", "-p", str(keeper.pid), "-p", str(first.pid))
    first.wait()
    code = "import time\ndef impostor():\n    end = time.process_time() + 0.7\n    while time.process_time() < end: pass\nimpostor()"
    try:
        child = fork_with_pid(first.pid)
    except rec.Skip:
        tools.end_profiler(context, profiler)
        raise
    if not child:
        try:
            os.execv(context.python, [context.python, "-c", code])
        finally:
            os._exit(1)
    assert child == first.pid and os.waitpid(child, 0)[1] == 0
    recording = tools.end_profiler(context, profiler, 0)
    assert recording.status == 0 and not recording.faults(), recording.stderr
    assert "heavy" in tools.functions(recording.samples())
    assert "impostor" not in tools.functions(recording.samples()), "another process was recorded"


def test_0104_pid_that_is_used_again_has_no_tracepoint_hits(context):
    """A tracepoint is hit by every process: which are the target's is known by their pids alone."""
    context.profiler = rec.with_tracefs(context)
    keeper = tools.start(context, context.target("spin.py", 20))
    code = "import sys, time\nprint('@main', flush=True)\nsys.stdin.readline()"
    first = tools.start(context, [context.python, "-c", code], stdin=subprocess.PIPE)
    profiler = tools.start_profiler(context, "-e", "sched:sched_process_exec", "-c", "1",
                                    "-p", str(keeper.pid), "-p", str(first.pid))
    tools.wait_until_recording(profiler)
    first.stdin.close()
    first.wait()
    try:
        child = fork_with_pid(first.pid)
    except rec.Skip:
        tools.end_profiler(context, profiler)
        raise
    if not child:
        try:
            os.execv("/bin/true", ["true"])
        finally:
            os._exit(1)
    assert child == first.pid and os.waitpid(child, 0)[1] == 0
    recording = tools.end_profiler(context, profiler)
    assert child not in {sample["pid"] for sample in recording.samples()}, "another process was recorded"
    assert recording.summary["samples"] == 0, recording.summary


def test_0105_thread_number_that_is_used_again(context):
    recording = context.record_well("-F", "997", "--", *context.target("same_tid.py"))
    if "@none" in recording.stdout:
        raise rec.Skip("others took the number each time")
    tid = int(recording.stdout.split("@same tid=")[1].split()[0])
    samples = [sample for sample in recording.samples() if sample["tid"] == tid]
    found = {name: [sample for sample in samples if name in tools.functions([sample])] for name in ("former", "latter")}
    assert all(sum(sample["w"] for sample in found[name]) > 50 for name in found), found
    # a thread that was sampled before it gave itself a name has that of its process
    for name in found:
        named = {sample["thread"] for sample in found[name]}
        assert named <= {name, found[name][0]["comm"]}, "samples of one in the other: %r" % named


@rec.slow
def test_0106_fork_storm_costs_no_memory_and_no_sample(context):
    profiler = tools.start_profiler(context, "-F", "997", "--", *context.target("storm.py", 8))
    first, second = tools.wait_and_measure(profiler)
    recording = tools.end_profiler(context, profiler, 0)
    assert recording.status == 0, "status %d: %s" % (recording.status, recording.stderr)
    assert not recording.faults(), recording.faults()
    forks = int(recording.stdout.split("@forks ")[1].split()[0])
    assert forks > 500, "only %d forks" % forks
    # an image is kept for a second after its end; the trace's tables grow with what was seen
    assert second < first + 16 * 1024, "%d kB, then %d kB after %d forks" % (first, second, forks)
    assert "work" in tools.functions(recording.samples())


def entries(profiler, name):
    """How many entries a table of the profiler's programs has."""
    folder = "/proc/%d/fdinfo" % profiler.pid
    for entry in os.listdir(folder):
        found = re.search(r"^map_id:\s*(\d+)$", rec.read_text(os.path.join(folder, entry)), re.M)
        if found and json.loads(subprocess.check_output(["bpftool", "-j", "map", "show", "id", found.group(1)])
                                ).get("name") == name:
            return len(json.loads(subprocess.check_output(["bpftool", "-j", "map", "dump", "id", found.group(1)])))
    raise rec.Skip("no table " + name)


@rec.slow
def test_0107_beginnings_and_ends_that_were_missed_leave_nothing(context):
    go, children = context.file("go"), 12000  # a megabyte of records is less
    code = ("import os, sys, time\nprint('@main', flush=True)\nwhile not os.path.exists(%r): time.sleep(0.01)\n"
            "for _ in range(%d):\n    child = os.fork()\n    if not child: os._exit(0)\n    os.waitpid(child, 0)\n"
            "print('@forked', flush=True)\ndef after():\n    while os.getppid() == parent: sum(range(1000))\n"
            "parent = os.getpid()\nif not os.fork(): after()\nos.wait()" % (go, children))
    target = tools.start(context, [context.python, "-c", code])
    profiler = tools.start_profiler(context, "-F", "499", "--children", "-p", str(target.pid))
    tools.wait_until_recording(profiler)
    profiler.send_signal(signal.SIGSTOP)
    open(go, "w").close()
    rec.wait_for(lambda: "@forked" in rec.read_text(target.path), 120, "end of the storm")
    assert entries(profiler, "interpreters") > children / 2, "nothing was missed"
    profiler.send_signal(signal.SIGCONT)
    for name in ("interpreters", "processes"):
        rec.wait_for(lambda: entries(profiler, name) < 10, 60, "end of what is left in " + name)
    size = os.path.getsize(profiler.trace + "/stream")
    rec.wait_for(lambda: os.path.getsize(profiler.trace + "/stream") > size + 10000, 60, "samples")
    recording = tools.end_profiler(context, profiler)
    target.kill()
    tools.add_up(recording)
    assert "after" in tools.functions(recording.samples()), recording.summary


def test_0109_stopped_target_is_waited_for(context):
    target = tools.start(context, context.target("spin.py", 1))
    target.send_signal(signal.SIGSTOP)
    rec.wait_for(lambda: tools.state_of(target.pid) == "T", 5, "stop")
    recording = context.record_well("-d", "1", "-p", str(target.pid))
    assert recording.summary["samples"] == 0 and "no sample" in recording.stderr, recording.stderr
    assert tools.state_of(target.pid) == "T", "the target was woken"
    target.send_signal(signal.SIGCONT)
    assert target.wait(120) == 0


def test_0110_target_under_strace(context):
    if not shutil.which("strace"):
        raise rec.Skip("no strace")
    target = tools.start(context, ["strace", "-f", "-o", "/dev/null", *context.target("spin.py", 1.5)])
    pid = rec.roles_of(rec.read_text(target.path))["main"][0][0]
    recording = context.record_well("-F", "499", "-p", str(pid))
    assert "heavy" in tools.functions(recording.samples())
    assert recording.summary["status"]["complete"] > 0.9 * recording.looked_at() > 100, recording.summary
    assert target.wait(120) == 0 and "@done" in rec.read_text(target.path)


def test_0111_profiler_of_a_profiler(context):
    target = tools.start(context, context.target("spin.py", 4))
    inner = tools.start_profiler(context, "-F", "4999", "-d", "3", "-p", str(target.pid))
    tools.wait_until_recording(inner)
    outer = context.record("-F", "499", "-d", "1.5", "-p", str(inner.pid))
    inner = tools.end_profiler(context, inner, 0)
    assert outer.status == 0 and inner.status == 0, (outer.stderr, inner.stderr)
    assert not outer.faults() and not inner.faults(), (outer.faults(), inner.faults())
    assert "heavy" in tools.functions(inner.samples())


def test_0111_profiler_of_everything_leaves_itself_out(context):
    profiler = tools.start_profiler(context, "-F", "499", "-d", "1", "-a", "--native=none")
    recording = tools.end_profiler(context, profiler, 0)
    tools.add_up(recording)
    assert profiler.pid not in {sample["pid"] for sample in recording.samples()}


def test_0112_profiler_killed_at_any_instant_spares_an_attached_target(context):
    target = tools.start(context, context.target("spin.py", 3))
    for delay in (0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5):
        profiler = tools.start_profiler(context, "-p", str(target.pid))
        time.sleep(delay)
        profiler.kill()
        profiler.wait()
        assert tools.state_of(target.pid) in ("R", "S"), "the target is %s" % tools.state_of(target.pid)
        assert "TracerPid:\t0" in rec.read_text("/proc/%d/status" % target.pid)
    assert target.wait(120) == 0 and "@done" in rec.read_text(target.path)


def processes_with(word):
    """Pids of processes whose command line holds `word`."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid() and word in rec.read_text("/proc/%s/cmdline" % name):
            found.append(int(name))
    return found


def test_0112_profiler_killed_before_its_command_runs_leaves_no_process(context):
    for delay in (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4):
        profiler = tools.start_profiler(context, "--", "true", "and", "nothing")
        time.sleep(delay)
        profiler.kill()
        profiler.wait()
        rec.wait_for(lambda: not processes_with(profiler.trace), 3, "end of the command's process")


@rec.slow
def test_0114_control_group_that_goes_while_its_process_is_recorded(context):
    parent = "/sys/fs/cgroup/unified" if os.path.isdir("/sys/fs/cgroup/unified") else "/sys/fs/cgroup"
    group = os.path.join(parent, "sdw-%d" % os.getpid(), "%064x" % os.getpid())
    try:
        os.makedirs(group)
        with open(os.path.join(parent, "cgroup.procs")):
            pass
    except OSError as error:
        raise rec.Skip("no control group can be made: %s" % error)
    try:
        target = tools.start(context, ["sh", "-c", "echo $$ >%s/cgroup.procs && exec \"$@\"" % group, "sh",
                                       *context.target("spin.py", 600)])
        profiler = tools.start_profiler(context, "-F", "499", "-p", str(target.pid))
        tools.wait_until_recording(profiler)
        rec.wait_for(lambda: os.path.getsize(profiler.trace + "/stream") > 10000, 60, "samples")
        with open(os.path.join(parent, "cgroup.procs"), "w") as file:
            file.write(str(target.pid))
        os.rmdir(group)
        size = os.path.getsize(profiler.trace + "/stream")
        rec.wait_for(lambda: os.path.getsize(profiler.trace + "/stream") > size + 10000, 60, "more samples")
    finally:
        for folder in (group, os.path.dirname(group)):
            if os.path.isdir(folder):
                for pid in rec.read_text(os.path.join(folder, "cgroup.procs")).split():
                    with open(os.path.join(parent, "cgroup.procs"), "w") as file:
                        file.write(pid)
                os.rmdir(folder)
    recording = tools.end_profiler(context, profiler)
    assert recording.status == 0 and not recording.faults(), (recording.stderr, recording.faults())
    assert {sample.get("container_id") for sample in recording.samples()} == {"%064x" % os.getpid()}
    assert "heavy" in tools.functions(recording.samples())


def test_0113_interpreter_that_starts_and_ends(context, python):
    code = ("import atexit, subprocess, sys\n"
            "class Late:\n    def __del__(self): sum(range(300000))\n"
            "late = Late()\natexit.register(lambda: sum(range(300000)))\n"
            "for _ in range(3): subprocess.run([sys.executable, '-c', 'pass'], check=True)\n")
    recording = context.record_well("-F", "4999", "--", python, "-c", code)
    summary = recording.summary
    assert not summary["status"]["broken"] and not summary["status"]["unreadable"], summary
    assert "cannot" not in recording.stderr and "not support" not in recording.stderr, recording.stderr
    assert summary["status"]["complete"] > 10, summary
