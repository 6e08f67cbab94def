# SPDX-License-Identifier: MIT
"""Other events than the default one, fixed periods, and kernel stacks."""
import os

import recording as rec

# until the profiler has looked at a new process, on a busy machine too
WARM_UP = "sum(range(10000000))\n"


def test_fixed_period_of_a_clock_gives_its_rate(context):
    recording = context.record_well("-e", "cpu-clock", "-c", "2000000", "--", *context.target("spin.py", 2))
    assert recording.summary["period_or_freq"] == 2000000, recording.summary
    cpu = recording.summary["samples"] * 0.002
    assert 1.9 < cpu < 2.4, "%.2f s of samples" % cpu


def test_task_clock_counts_the_tasks_time(context):
    recording = context.record_well("-e", "task-clock", "-F", "499", "--", *context.target("spin.py", 1.5))
    assert recording.summary["event"] == "task-clock"
    assert 1.4 < recording.summary["samples"] / 499 < 2, recording.summary


def test_page_faults_are_charged_to_who_makes_them(context):
    code = ("import mmap\n"
            "def touch():\n"
            "    area = mmap.mmap(-1, 8 << 20)\n"
            "    area.madvise(mmap.MADV_NOHUGEPAGE) if hasattr(area, 'madvise') else None\n"
            "    for place in range(0, 8 << 20, 4096):\n"
            "        area[place] = sum(range(1000)) & 1\n"  # or the kernel throttles the event
            + WARM_UP + "touch()\n")
    recording = context.record_well("-e", "page-faults", "-c", "1", "--", context.python, "-c", code)
    touched = sum(sample["w"] for sample in recording.samples()
                  if any(frame[1] == "touch" for frame in sample["frames"]))
    assert touched >= (8 << 20) / 4096 - recording.summary["lost"]["not_delivered"], touched
    assert recording.summary["event"] == "page-faults"


def test_context_switches_have_the_stack_that_waits(context):
    code = ("import time\n"
            "def waiting():\n"
            "    for _ in range(200):\n"
            "        time.sleep(0.001)\n"
            + WARM_UP + "waiting()\n")
    recording = context.record_well("-e", "context-switches", "-c", "1", "--", context.python, "-c", code)
    waits = sum(sample["w"] for sample in recording.samples()
                if any(frame[1] == "waiting" for frame in sample["frames"]))
    assert waits >= 190, "%d of 200 waits" % waits


def test_tracepoint_is_an_event(context):
    profiler = rec.with_tracefs(context)
    code = ("import os\n"
            "def forking():\n"
            "    for _ in range(20):\n"
            "        pid = os.fork()\n"
            "        if pid == 0:\n"
            "            os._exit(0)\n"
            "        os.waitpid(pid, 0)\n"
            + WARM_UP + "forking()\n")
    recording = profiler.record(context.fresh_trace(), "-e", "sched:sched_process_fork", "-c", "1", "--",
                                context.python, "-c", code)
    assert recording.status == 0 and not recording.faults(), recording.stderr
    forks = sum(sample["w"] for sample in recording.samples()
                if any(frame[1] == "forking" for frame in sample["frames"]))
    assert forks == 20, "%d of 20 forks" % forks


def test_kernel_stacks_stand_at_the_leaf_and_only_when_asked_for(context):
    code = ("import os, time\n"
            "def reading():\n"
            "    file = os.open('/dev/zero', os.O_RDONLY)\n"
            "    while time.process_time() < 1:\n"
            "        os.read(file, 1 << 20)\n"
            "reading()\n")
    recording = context.record_well("-F", "997", "--kernel", "--", context.python, "-c", code)
    inside = [sample for sample in recording.samples()
              if any(frame[1] == "reading" for frame in sample["frames"])
              and any(frame[0] == "k" for frame in sample["frames"])]
    assert sum(sample["w"] for sample in inside) > 20, "no kernel frames below reading"
    for sample in inside:
        kinds = "".join(frame[0] for frame in sample["frames"])
        assert "k" not in kinds.rstrip("k"), "kernel frames in the middle: %s" % kinds
    names = {frame[1] for sample in inside for frame in sample["frames"] if frame[0] == "k"}
    assert any("read" in name for name in names), sorted(names)
    plain = context.record_well("-F", "997", "--", context.python, "-c", code)
    assert not any(frame[0] == "k" for sample in plain.samples() for frame in sample["frames"])


def test_rate_asked_is_rate_had(context):
    recording = context.record_well("-F", "4999", "--native=none", "--", *context.target("spin.py", 2))
    summary = recording.summary
    assert summary["lost"]["ring_full"] == summary["lost"]["consumer"] == 0, summary["lost"]
    assert 0.9 < recording.overflows_of_target() / (2 * 4999) < 1.2, summary
