#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Judges what guest.sh recorded: judge.py SIDEWINDER FOLDER... Prints TAP, then kernels by checks.

A folder holds the traces and outputs of one virtual machine. The emulated clock is late, so that most
of its overflows are lost: what is there has to be right, and every one counted; rates are not held.
"""
import glob
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, os.pardir, "tools"), os.path.join(HERE, os.pardir, "system"),
                os.path.join(HERE, os.pardir, "compass")]
sys.dont_write_bytecode = True

import recording as rec  # noqa: E402
import traces  # noqa: E402
from test_stacks import PLACES, python_stack, told_stacks  # noqa: E402

BOUNDED_FRAMES = 190  # that kernels before 5.17, without bpf_loop, walk at least


def faults_of(recording):
    """What is wrong with it; not what was lost, and counted: the host may stop the consumer for long."""
    return [fault for fault in recording.faults() if not fault.startswith("lost ")]


class Machine:
    """The folder that one virtual machine left."""

    def __init__(self, profiler, folder):
        self.profiler, self.folder = profiler, folder
        self.release = self.text("release").strip() or os.path.basename(folder)
        found = re.match(r"(\d+)\.(\d+)", self.release)
        self.version = (int(found.group(1)), int(found.group(2))) if found else (0, 0)

    def text(self, name):
        return rec.read_text(os.path.join(self.folder, name))

    def step(self, name):
        """The recording of a step, however it ended."""
        if not re.fullmatch(self.text("steps").strip() or ".*", name):
            raise rec.Skip("not asked for")
        status = self.text(name + ".status").strip()
        assert status, "the step %s was not reached, the machine ended with %s" % (
            name, self.text("status").strip())
        return rec.Recording(self.profiler, os.path.join(self.folder, name), int(status),
                             self.text(name + ".out"), self.text(name + ".err"))

    def good_step(self, name):
        """The recording of a step that must have succeeded, with all counts in agreement."""
        recording = self.step(name)
        assert recording.status == 0, "status %d: %s" % (recording.status, recording.stderr.strip())
        assert not faults_of(recording), faults_of(recording)
        assert recording.summary["samples"] > 0, "no sample"
        return recording

    def steps(self, pattern):
        return sorted(os.path.basename(path)[:-len(".status")]
                      for path in glob.glob(os.path.join(self.folder, pattern + ".status")))


def functions_of(sample):
    return [frame[1] for frame in sample["frames"] if frame[0] == "p"]


def weight_of(recording, function, **wanted):
    return sum(sample["w"] for sample in recording.samples() if function in functions_of(sample)
               and all(sample[key] == value for key, value in wanted.items()))


def judge_stacks(recording, least):
    told = told_stacks(recording.stdout)
    assert len(told) == PLACES, "the target told only %d stacks" % len(told)
    leaves = {stack[-1] for stack in told}
    seen = {python_stack(sample) for sample in recording.samples()}
    burning = {stack for stack in seen if stack and stack[-1] in leaves}
    assert burning <= told, "stacks that never were: %r" % sorted(burning - told)[:2]
    assert len(burning) >= least, "only %d of %d stacks were seen" % (len(burning), PLACES)


def check_programs_are_loaded(machine):
    machine.good_step("stacks")


def check_stacks_and_lines_are_exact(machine):
    judge_stacks(machine.good_step("stacks"), PLACES - 5)


def check_python_alone(machine):
    recording = machine.good_step("python_only")
    judge_stacks(recording, PLACES // 2)
    kinds = {frame[0] for sample in recording.samples() for frame in sample["frames"]}
    assert "n" not in kinds, kinds


def check_native_frames_reach_the_start(machine):
    recording = machine.good_step("stacks")
    burning = [sample for sample in recording.samples() if "burn" in functions_of(sample)]
    whole = sum(sample["w"] for sample in burning
                if sample["frames"][0][:2] in (["n", "_start"], ["n", "__libc_start_main"]))
    total = sum(sample["w"] for sample in burning)
    assert whole > 0.95 * total, "%d of %d" % (whole, total)


def check_kernel_frames(machine):
    recording = machine.good_step("kernel")
    stacks = [sample["frames"] for sample in recording.samples() if "calling" in functions_of(sample)]
    inside = [frames for frames in stacks if frames[-1][0] == "k"]
    assert inside, "no sample of %d in the kernel" % len(stacks)
    names = {frame[1] for frames in inside for frame in frames if frame[0] == "k"}
    assert any("stat" in name for name in names), sorted(names)
    for frames in inside:
        kinds = "".join(frame[0] for frame in frames if frame[0] != "x")
        assert re.fullmatch("[pn]+k+", kinds), frames


def check_every_overflow_is_counted(machine):
    recordings = [machine.step(name) for name in machine.steps("*")]
    recordings = [recording for recording in recordings if recording.status == 0]
    assert recordings, "nothing was recorded"
    for recording in recordings:
        assert not faults_of(recording), faults_of(recording)


def check_page_faults_are_charged(machine):
    recording = machine.good_step("faults")
    touched, lost = weight_of(recording, "touch"), sum(recording.summary["lost"].values())
    assert recording.summary["event"] == "page-faults"
    assert touched + lost >= 1024, "%d of 1024 pages, %d lost" % (touched, lost)
    assert touched > 800, "%d of 1024 pages, %d lost" % (touched, lost)


def check_every_thread_has_its_stack(machine):
    recording = machine.good_step("threads")
    roles = rec.roles_of(recording.stdout)
    for number in range(6):
        (pid, tid), = roles["thread%d" % number]
        assert weight_of(recording, "in_thread", pid=pid, tid=tid), "none of thread %d" % number


def check_forked_children_are_followed(machine):
    recording = machine.good_step("forks")
    roles = rec.roles_of(recording.stdout)
    for number in range(3):
        (pid, _), = roles["child%d" % number]
        assert weight_of(recording, "in_child", pid=pid), "none of child %d" % number


def check_scheduler_is_followed(machine):
    recording = machine.good_step("sched")
    events = traces.read(recording.trace + "/kernel")
    assert len(events) == recording.summary["scheduler"]["events"]
    tids = {fields["tid"] for _, name, fields in traces.read(recording.trace) if name == "thread"}
    states = {fields["prev_state"] for _, name, fields in events
              if name == "sched_switch" and fields["prev_tid"] in tids}
    assert {0, 1} <= states, states  # preempted, and asleep
    assert tids <= {fields["next_tid"] for _, name, fields in events if name == "sched_switch"}, tids


def check_deep_stacks(machine):
    recording = machine.good_step("deep")
    for sample in recording.samples():
        names = functions_of(sample)
        if "spinning" not in names:
            continue
        whole = names.count("deep") == 301 and names[0] == "<module>"
        marked = any(frame[0] == "x" for frame in sample["frames"]) and len(names) >= BOUNDED_FRAMES
        assert whole if machine.version >= (5, 17) else marked, "%d frames: %r" % (
            len(names), sample["frames"][:3])


def check_one_process_of_two(machine):
    recording = machine.good_step("pid")
    (pid, _), = rec.roles_of(machine.text("spin1.out"))["main"]
    assert {sample["pid"] for sample in recording.samples()} == {pid}
    assert weight_of(recording, "spinning", pid=pid) > 0.9 * recording.summary["samples"]


def check_control_groups(machine):
    (pid, _), = rec.roles_of(machine.text("spin1.out"))["main"]
    for name in ("group_v2", "group_v1"):
        recording = machine.good_step(name)
        assert {sample["pid"] for sample in recording.samples()} == {pid}, name
        assert weight_of(recording, "spinning", pid=pid) > 0.9 * recording.summary["samples"], name


def check_all_processes(machine):
    recording = machine.good_step("all")
    for name in ("spin1.out", "spin2.out"):
        (pid, _), = rec.roles_of(machine.text(name))["main"]
        assert weight_of(recording, "spinning", pid=pid), "none of %d" % pid


def check_other_interpreters(machine):
    names = machine.steps("stacks_*")
    if not names:
        raise rec.Skip("only the interpreter of the distribution here")
    for name in names:
        try:
            judge_stacks(machine.good_step(name), PLACES // 2)
        except AssertionError as error:
            raise AssertionError("%s: %s" % (name, error)) from None


def check_capabilities_are_enough(machine):
    if machine.version >= (5, 11):
        assert machine.good_step("nobody_own").summary["status"]["complete"]
        other = machine.good_step("nobody_other")
    else:  # tables count against the limit of locked memory
        refused = machine.step("nobody_own")
        assert refused.status == 1 and "CAP_SYS_RESOURCE" in refused.stderr, refused.stderr
        other = machine.good_step("nobody_other_resource")
    assert weight_of(other, "spinning") > 0.9 * other.summary["samples"]


def check_debians_sysctl_is_named(machine):
    recording = machine.step("nobody_paranoid3")
    if recording.status == 0:
        assert weight_of(recording, "spinning")
    else:
        assert "perf_event_paranoid is 3" in recording.stderr, recording.stderr
    assert weight_of(machine.good_step("admin_paranoid3"), "spinning")
    assert weight_of(machine.good_step("root_paranoid4"), "spinning")


def check_hardware_counter_is_refused(machine):
    recording = machine.step("refused")
    assert recording.status == 1 and "cycles" in recording.stderr, recording.stderr


def check_kernel_did_not_complain(machine):
    log = machine.text("dmesg.log")
    assert log, "no kernel log"
    found = re.findall(r".*(?:BUG:|WARNING:|Oops|general protection).*", log)
    assert not found, found[:3]


CHECKS = [(name[6:].replace("_", " "), function) for name, function in list(globals().items())
          if name.startswith("check_")]


def result_of(check, machine):
    """("ok" | "FAILED" | "skip", what is to be said)."""
    try:
        check(machine)
    except rec.Skip as reason:
        return "skip", str(reason)
    except Exception as error:
        return "FAILED", "%s: %s" % (type(error).__name__, error)
    return "ok", ""


def print_table(machines, results):
    width = max(len(title) for title, _ in CHECKS)
    names = [machine.release.split("-")[0].split("+")[0] for machine in machines]
    print("\n%-*s  %s" % (width, "", "  ".join("%-8s" % name for name in names)))
    for title, _ in CHECKS:
        print("%-*s  %s" % (width, title, "  ".join("%-8s" % results[machine, title]
                                                    for machine in machines)))


def main():
    profiler = rec.Profiler(sys.argv[1])
    machines = [Machine(profiler, folder) for folder in sys.argv[2:]]
    results, number = {}, 0
    print("1..%d" % (len(machines) * len(CHECKS)))
    for machine in machines:
        for title, check in CHECKS:
            number += 1
            results[machine, title], text = result_of(check, machine)
            ending = " # SKIP " + text if results[machine, title] == "skip" else ""
            word = "not ok" if results[machine, title] == "FAILED" else "ok"
            print("%s %d - %s: %s%s" % (word, number, machine.release, title, ending))
            if text and not ending:
                print("#   " + text[:600])
    print_table(machines, results)
    return 1 if "FAILED" in results.values() else 0


if __name__ == "__main__":
    sys.exit(main())
