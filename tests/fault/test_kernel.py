# SPDX-License-Identifier: MIT
"""A kernel, and a clock, that give less than they should (RELIABILITY 04, 05)."""
import ctypes
import os
import resource
import shutil
import struct
import subprocess
import time

import recording as rec
import tools

FAULT = 1
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
SYS_BPF, EPERM = 321, 1  # x86-64


def test_0409_time_of_day_that_jumps(context):
    if not shutil.which("cc"):
        raise rec.Skip("no C compiler")
    library = context.file("moving_clock.so")
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library,
                    os.path.join(context.folder, "targets", "moving_clock.c")], check=True)
    target = tools.start(context, context.target("spin.py", 600))
    before, began = time.time(), time.monotonic()
    recording = context.record_well("-F", "499", "-d", "1", "-p", str(target.pid), env={"LD_PRELOAD": library})
    lasted = time.monotonic() - began
    assert 1 <= recording.summary["duration_s"] <= lasted, recording.summary
    times = [sample["t"] for sample in recording.samples("--samples")]
    assert times == sorted(times) and 0 <= times[0] and times[-1] <= lasted, (times[0], times[-1], lasted)
    # the offset was taken once: all of the trace has the same
    done = subprocess.run(["babeltrace2", "--clock-seconds", recording.trace], stdout=subprocess.PIPE, text=True,
                          errors="replace", check=True)
    stamps = [float(line[1:].partition("]")[0]) for line in done.stdout.splitlines()]
    assert stamps == sorted(stamps) and stamps[-1] - stamps[0] <= lasted, (stamps[0], stamps[-1])
    assert before - stamps[0] > 1800, "the preloaded clock was not asked"


def deny_bpf():
    """To be called in a child: bpf() gives EPERM from here on, as under lockdown."""
    program = b"".join(struct.pack("HBBI", *step) for step in (
        (0x20, 0, 0, 0), (0x15, 0, 1, SYS_BPF), (0x06, 0, 0, 0x00050000 | EPERM), (0x06, 0, 0, 0x7fff0000)))
    buffer = ctypes.create_string_buffer(program)
    header = ctypes.create_string_buffer(struct.pack("HxxxxxxP", 4, ctypes.addressof(buffer)))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, header):
        os._exit(126)


def test_0505_lockdown_is_named(context):
    folder = "/sys/kernel/security"
    if not os.path.isdir(folder):
        raise rec.Skip("no " + folder)
    trace = context.fresh_trace()
    script = ("mount -t tmpfs tmpfs %s && echo 'none integrity [confidentiality]' > %s/lockdown && exec \"$@\""
              % (folder, folder))
    for verb, status, words in (
            (["record", "-o", trace, "--", "true"], FAULT, "sidewinder: error: the kernel is locked down "
             "(confidentiality) and lets nobody load BPF programs: start it with lockdown=integrity"),
            (["doctor"], FAULT, "lockdown=integrity"),
            (["record", "--path=signal", "-q", "-o", trace, "--", "true"], 0, "")):
        done = subprocess.run(["unshare", "--mount", "sh", "-c", script, "sh", context.profiler.path, *verb],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=deny_bpf)
        assert done.returncode == status and words in done.stdout + done.stderr, (verb, done)
        assert status == 0 or not os.path.exists(trace), "a trace was left"


@rec.slow
def test_0509_no_memory_may_be_locked(context):
    recording = context.record("-F", "499", "--", *context.target("spin.py", 0.4))
    limited = context.profiler.run(
        "record", "--json", "-F", "499", "-o", context.fresh_trace(), "--", *context.target("spin.py", 0.4),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_MEMLOCK, (0, 0)))
    assert rec.last_summary(limited.stdout)["status"]["complete"] > 10, limited.stdout
    assert "MEMLOCK" not in limited.stderr and limited.stderr.count("\n") == recording.stderr.count("\n"), limited.stderr


def test_0512_kernel_symbols_without_addresses(context):
    zeroed, trace = context.file("kallsyms"), context.fresh_trace()
    with open("/proc/kallsyms") as file, open(zeroed, "w") as out:
        out.writelines("0000000000000000 " + line.partition(" ")[2] for line in file)
    code = ("file = open('/dev/zero', 'rb', buffering=0)\nbuffer = bytearray(1 << 20)\n"
            "for _ in range(4000): file.readinto(buffer)")
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", "mount --bind \"$0\" /proc/kallsyms && exec \"$@\"", zeroed,
         context.profiler.path, "record", "--json", "--kernel", "-F", "1999", "-o", trace, "--", context.python, "-c",
         code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    recording = rec.Recording(context.profiler, trace, done.returncode, done.stdout, done.stderr)
    assert recording.status == 0 and not recording.faults(), done.stderr
    assert done.stderr.count("kernel functions have no names") == 1, done.stderr
    names = tools.functions(recording.samples(), "k")
    assert len(names) > 1 and all(int(name, 16) >> 63 for name in names), names
    assert "<module>" in tools.functions(recording.samples())
