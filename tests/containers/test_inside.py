# SPDX-License-Identifier: MIT
"""Sidewinder in a container itself: beside one service, and for the whole machine."""
import json
import os

import recording as rec
from container import CAPABILITIES, Container, by_function, hex_id, mount, python_mounts, service


def run_inside(context, arguments, pid_of=None, host=False, capabilities=CAPABILITIES, denied=()):
    """`sidewinder record` in a container of its own, to its end; gives the recording."""
    out = context.file("inside-" + hex_id()[:8])
    os.mkdir(out)
    program = context.profiler.path
    mounts = python_mounts(context) + [mount("/sys"), mount("/opt/sidewinder", os.path.dirname(program)),
                                       mount("/out", out, ("rbind", "rw"))]
    command = ["/opt/sidewinder/" + os.path.basename(program), "record", "--json", "-o", "/out/trace", *arguments]
    # without privileged mode, as the documented line has it: the named capabilities and no more
    with Container(context, "sdwtest-inside-" + hex_id()[:8], command, pid_of=pid_of, host=host,
                   capabilities=capabilities, denied=denied, mounts=mounts) as container:
        status = container.process.wait(120)
        return rec.Recording(context.profiler, os.path.join(out, "trace"), status, container.output(),
                             container.output())


def test_beside_a_service_it_sees_that_service_with_its_pids(context):
    with service(context, "sdwtest-side-" + hex_id()[:8], "served", 60) as target, \
            service(context, "sdwtest-other-" + hex_id()[:8], "elsewhere", 60):
        recording = run_inside(context, ["-a", "-F", "499", "-d", "2"], pid_of=target.pid)
        assert recording.status == 0, recording.stderr[-500:]
        assert not recording.faults(), recording.faults()
        found = by_function(recording.samples())
        assert {"served", "served_thread"} <= set(found) and "elsewhere" not in found, sorted(found)
        assert {pid for _, pid in found["served"]} == {1}, found["served"]
        assert recording.summary["lost"]["outside_namespace"] > 0, recording.summary["lost"]
        assert "start Sidewinder with the host's pids (podman run --pid=host)" in recording.stderr
        # by its pid in there
        recording = run_inside(context, ["-p", "1", "-F", "499", "-d", "1"], pid_of=target.pid)
        assert recording.status == 0 and not recording.faults(), recording.stderr[-500:]
        found = by_function(recording.samples())
        assert {pid for _, pid in found["served"]} == {1}, found


def test_with_the_hosts_pids_it_records_the_machine_and_containers_by_name(context):
    id = hex_id()
    with service(context, "sdwtest-machine-" + hex_id()[:8], "contained", 60, group="/docker/" + id) as target:
        outside = context.start_target("spin.py", 600)
        recording = run_inside(context, ["-a", "-F", "499", "-d", "2"], host=True)
        assert recording.status == 0, recording.stderr[-500:]
        assert not recording.faults(), recording.faults()
        found = by_function(recording.samples())
        assert found["contained"] == {(id, target.pid)}, found["contained"]
        assert (None, outside.pid) in found["heavy"] or outside.pid in {pid for _, pid in found["heavy"]}
        recording = run_inside(context, ["--container", id[:16], "-F", "499", "-d", "1"], host=True)
        assert recording.status == 0, recording.stderr[-500:]
        found = by_function(recording.samples())
        assert found["contained"] == {(id, target.pid)} and "heavy" not in found, found


def test_a_filter_that_forbids_what_it_needs_is_named(context):
    recording = run_inside(context, ["-a", "-d", "1"], host=True, denied=["bpf"])
    assert recording.status == 1, recording.stderr
    assert "seccomp filter or a security module denies bpf()" in recording.stderr, recording.stderr
    assert "--security-opt=seccomp=unconfined" in recording.stderr, recording.stderr


def test_a_capability_that_is_missing_is_named(context):
    few = [name for name in CAPABILITIES if name != "CAP_PERFMON"]
    recording = run_inside(context, ["-a", "-d", "1"], host=True, capabilities=few)
    assert recording.status == 1, recording.stderr
    assert "not permitted: CAP_PERFMON is missing" in recording.stderr, recording.stderr
    assert "--cap-add=PERFMON" in recording.stderr, recording.stderr
