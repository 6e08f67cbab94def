# SPDX-License-Identifier: MIT
"""sidewinder doctor: what it says of this machine is what a recording meets; status, keys, ways out."""
import json
import os
import subprocess

import recording as rec

KEYS = {"kernel", "btf", "capabilities", "user_namespace", "bpf", "bpf_jit", "lockdown", "seccomp",
        "perf_event_paranoid", "perf_events", "hardware_counter", "rings", "memlock", "pid_namespace",
        "mount_namespace", "tracefs", "kernel_names", "ptrace", "lttng", "libraries"}


def doctor(context, *arguments, prefix=(), program=None):
    """(status, object)"""
    command = [*prefix, program or context.profiler.path, "doctor", "--json", *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=120, cwd="/")
    assert not done.stderr, done.stderr
    return done.returncode, json.loads(done.stdout)


def by_key(findings):
    return {finding["key"]: finding for finding in findings}


def test_where_a_recording_works_the_doctor_is_content(context):
    recording = context.record("-d", "0.2", "--", "true")
    status, found = doctor(context)
    assert set(found) == {"works", "machine", "targets", "well"}
    assert KEYS == {finding["key"] for finding in found["machine"]}, \
        KEYS ^ {finding["key"] for finding in found["machine"]}
    for finding in found["machine"]:
        assert set(finding) == {"key", "level", "text", "fix"}
        assert finding["level"] in ("ok", "note", "warning", "fault")
    assert (status == 0) == found["well"]
    if recording.status == 0:
        assert status == 0 and found["works"]["bpf"], found


def test_a_process_is_described(context, python):
    process = context.start_target("spins.py")
    status, found = doctor(context, "-p", process.pid)
    target, = found["targets"]
    assert target["target"] == "pid %d" % process.pid
    findings = by_key(target["findings"])
    assert findings["python"]["text"].startswith("CPython %s in " % context.version.rstrip("dt")), findings
    flavour = {"d": "debug build", "t": "free-threaded release build"}
    assert findings["build"]["text"] == flavour.get(context.version[-1], "release build"), findings
    own = context.python_version >= (3, 13)
    assert findings["layout"]["text"] == "from %s, proven on the process" % (
        "its own _Py_DebugOffsets" if own else "the table for %d.%d" % context.python_version)
    assert findings["threads"]["text"].startswith("1, with a Python thread state 1; interpreters: 1;")
    assert findings["libc"]["level"] == "ok", findings["libc"]
    assert status == (0 if found["well"] else 1)
    assert target["works"]["dump"]


def test_a_command_is_looked_at_and_not_run(context, python):
    script = context.file("script")
    with open(script, "w") as file:
        file.write("#!/usr/bin/env %s\nopen(%r, 'w')\n" % (python, context.file("ran")))
    os.chmod(script, 0o755)
    for command in python, script:
        _, found = doctor(context, command)
        target, = found["targets"]
        findings = by_key(target["findings"])
        assert findings["program"]["text"] == python, findings
        assert findings["python"]["text"].startswith("CPython %s in " % context.version.rstrip("dt")), findings
        assert target["works"]["bpf"] == found["works"]["bpf"]
    assert not os.path.exists(context.file("ran"))


def test_targets_that_are_not_there(context):
    status, found = doctor(context, "-p", 4194303, "no-such-program")
    assert status == 1 and not found["well"]
    first, second = found["targets"]
    assert by_key(first["findings"])["process"]["text"] == "No such process"
    assert by_key(second["findings"])["program"]["text"] == "not found"
    done = context.profiler.run("doctor", "-p", "x", check=False)
    assert done.returncode == 2 and "'x' is not a process id" in done.stderr, done.stderr


def test_without_rights_each_is_named(context):
    if subprocess.run(["sh", "-c", "command -v setpriv"], stdout=subprocess.DEVNULL).returncode:
        raise rec.Skip("no setpriv")
    program = context.file("sidewinder")
    subprocess.run(["install", "-m", "0755", context.profiler.path, program], check=True)
    os.chmod(context.work, 0o755)
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all"]
    status, found = doctor(context, prefix=nobody, program=program)
    findings = by_key(found["machine"])
    assert status == 1 and not found["works"]["bpf"]
    assert findings["capabilities"]["text"] == "missing: CAP_BPF CAP_PERFMON CAP_SYS_PTRACE"
    assert findings["capabilities"]["fix"] == "sudo sidewinder doctor"
    assert findings["bpf"]["level"] == "fault" and "CAP_BPF" in findings["bpf"]["text"]
    process = context.start_target("spins.py")
    _, found = doctor(context, "-p", process.pid, prefix=nobody, program=program)
    findings = by_key(found["targets"][0]["findings"])
    assert findings["memory"]["fix"] == "sudo sidewinder doctor -p %d" % process.pid, findings
    status, found = doctor(context, prefix=["setpriv", "--bounding-set=-sys_admin,-bpf", "--inh-caps=-all"])
    findings = by_key(found["machine"])
    assert status == 1 and findings["capabilities"]["text"] == "missing: CAP_BPF", findings
    assert "--cap-add=BPF" in findings["capabilities"]["fix"]


def test_colour_is_for_terminals_alone(context):
    done = context.profiler.run("doctor", check=False, env={"TERM": "xterm"})
    assert "\033" not in done.stdout
