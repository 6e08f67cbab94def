# SPDX-License-Identifier: MIT
"""Containers as targets: who is recorded, and by what container, pod and pid it is told."""
import json
import os
import signal
import subprocess
import time

import recording as rec
from container import by_function, hex_id, python_mounts, service


def fresh(name):
    """An id that no container of another test run has."""
    return "sdwtest-%s-%s" % (name, hex_id()[:8])


def test_two_containers_with_the_same_pids_inside_are_told_apart(context):
    ids = {"alpha": hex_id(), "beta": hex_id()}
    with service(context, fresh("a"), "alpha", 60, group="/docker/" + ids["alpha"], cpus="0") as alpha, \
            service(context, fresh("b"), "beta", 60, group="/docker/" + ids["beta"]) as beta:
        assert [one.output().split()[1] for one in (alpha, beta)] == ["pid=1", "pid=1"]
        pids = {"alpha": alpha.pid, "beta": beta.pid}
        recording = context.record_well("-F", "499", "-d", "2", "--container", ids["alpha"],
                                        "--container", ids["beta"])
        # one of them never ran on the other processors: that is no loss
        summary = recording.summary
        assert summary["overflows"] <= 1.05 * 499 * summary["duration_s"] * os.cpu_count(), summary
        assert {sample["comm"] for sample in recording.samples()} == {alpha.comm}
        found = by_function(recording.samples())
        for name in ids:
            for function in (name, name + "_thread"):
                assert found.get(function) == {(ids[name], pids[name])}, (function, found)
        assert {sample["inner_pid"] for sample in recording.samples()} == {1}
        assert recording.summary["processes"] == 2, recording.summary
        report = recording.report("--by=container")
        rows = [line.split()[2:] for line in report.splitlines() if line.strip()][-2:]
        assert sorted(rows) == sorted([id[:12], id[:12]] for id in ids.values()), report
        # one of them alone, by the beginning of its id, in a view
        only = recording.samples("--container", ids["beta"][:12])
        assert "beta" in by_function(only) and "alpha" not in by_function(only), by_function(only)
        assert {sample["pid"] for sample in only} == {pids["beta"]}
        text = recording.report("--by=process")
        assert "%d (1 in %s)" % (pids["alpha"], ids["alpha"][:12]) in text, text


def test_what_starts_later_in_the_container_is_recorded_and_what_is_outside_is_not(context):
    outside = context.start_target("spin.py", 600)
    with service(context, fresh("late"), "early", 60) as container:
        trace = context.fresh_trace()
        out = context.file("out")
        profiler = context.profiler.start(out, context.file("err"), "record", "--json", "-F", "499",
                                          "-o", trace, "--container", container.id)
        rec.wait_for(lambda: rec.has_begun(trace), 20, "trace")
        late = container.exec(context.python, "/srv/service.py", "later", "0.3", "FORK")
        assert late.wait(120) == 0, "runc exec failed"
        assert outside.poll() is None
        profiler.send_signal(signal.SIGINT)
        assert profiler.wait(120) == 0, rec.read_text(context.file("err"))
        recording = rec.Recording(context.profiler, trace, 0, rec.read_text(out), "")
        assert not recording.faults(), recording.faults()
        found = by_function(recording.samples())
        wanted = {"early", "later", "later_thread", "later_child"}
        assert wanted <= set(found), "missing: %r of %r" % (wanted - set(found), sorted(found))
        assert "heavy" not in found, "a process outside was recorded"
        assert {id for places in found.values() for id, _ in places} == {container.id}, found
        assert len({pid for _, pid in found["later_child"] | found["later"]}) == 2, found


def test_the_recording_ends_with_the_container(context):
    with service(context, fresh("short"), "brief", 0.3) as container:
        recording = context.record_well("-F", "499", "--container", container.id, timeout=120)
        assert "brief" in by_function(recording.samples())
        assert container.process.wait(120) == 0


@rec.slow
def test_a_container_that_vanishes_does_not_end_a_recording_of_everything(context):
    trace, out = context.fresh_trace(), context.file("out")
    profiler = None
    with service(context, fresh("gone"), "vanishing", 60) as container:
        profiler = context.profiler.start(out, context.file("err"), "record", "--json", "-a", "-F", "199",
                                          "-d", "4", "-o", trace)
        rec.wait_for(lambda: rec.has_begun(trace), 20, "trace")
        time.sleep(1)
    assert profiler.wait(120) == 0, rec.read_text(context.file("err"))
    recording = rec.Recording(context.profiler, trace, 0, rec.read_text(out), "")
    found = by_function(recording.samples())
    assert {id for id, _ in found["vanishing"]} == {container.id}, found["vanishing"]
    assert recording.summary["duration_s"] >= 3.9 and recording.summary["complete"]


def test_a_group_of_a_hierarchy_that_perf_does_not_know_is_told_by_the_program(context):
    with service(context, fresh("old"), "filtered", 60, "FORK") as container:
        for line in rec.read_text("/proc/%d/cgroup" % container.pid).splitlines():
            _, controllers, path = line.split(":", 2)
            folder = os.path.join("/sys/fs/cgroup", controllers.split(",")[0], path.lstrip("/"))
            if controllers and "=" not in controllers and controllers != "perf_event" and \
                    os.path.isdir(folder):
                break
        else:
            raise rec.Skip("no hierarchy of cgroup v1 with a controller here")
        outside = context.start_target("spin.py", 600)
        recording = context.record_well("-F", "499", "-d", "2", "--cgroup", folder)
        assert outside.poll() is None
        found = by_function(recording.samples())
        assert {"filtered", "filtered_child", "filtered_thread"} <= set(found), sorted(found)
        assert "heavy" not in found
        assert {id for places in found.values() for id, _ in places} == {container.id}, found


@rec.slow
def test_a_group_within_a_group_and_both_named_counts_once(context):
    id = fresh("nested")
    with service(context, id, "outer", 60, group="/sdwtest-%s/%s" % (hex_id()[:8], id)) as container:
        path = [line.split(":", 2)[2] for line in
                rec.read_text("/proc/%d/cgroup" % container.pid).splitlines()][-1]
        parent = os.path.dirname(path)
        recording = context.record_well("-F", "499", "-d", "2", "--cgroup", path, "--cgroup", parent)
        one = {sample["tid"] for sample in recording.samples()}
        assert len(one) == 2, one
        # at most what two threads can have used of the processors
        seconds = recording.summary["samples"] / 499
        assert seconds <= 1.05 * min(2, os.cpu_count()) * recording.summary["duration_s"], seconds


def test_a_name_that_is_not_clear_is_refused_with_those_it_may_mean(context):
    tag = hex_id()[:8]
    ids = ["sdwtest-%s-one" % tag, "sdwtest-%s-two" % tag]
    with service(context, ids[0], "one", 60), service(context, ids[1], "two", 60):
        done = context.profiler.run("record", "--container", "sdwtest-%s-" % tag, "-d", "1", check=False)
        assert done.returncode == 1
        assert "--container sdwtest-%s-: may be any of sdwtest-%s-" % (tag, tag) in done.stderr, done.stderr
        assert all(id in done.stderr for id in ids), done.stderr
        done = context.profiler.run("record", "--container", "sdwtest-none", "-d", "1", check=False)
        assert done.returncode == 1 and "no running container" in done.stderr, done.stderr
        assert all(id in done.stderr for id in ids), done.stderr
        offered = context.profiler.run("help", "--list=containers").stdout.splitlines()
        assert {id + "\t" for id in ids} <= set(offered), offered
        recording = context.record_well("-F", "499", "-d", "1", "--container", ids[1])
        assert "one" not in by_function(recording.samples())
    done = context.profiler.run("record", "--cgroup", "/sdwtest/none", "-d", "1", check=False)
    assert done.returncode == 1 and "no such control group" in done.stderr, done.stderr


def test_exports_name_the_container(context):
    id = hex_id()
    with service(context, fresh("x"), "exported", 60, group="/docker/" + id):
        recording = context.record_well("-F", "499", "-d", "1", "--container", id[:20])
    short = id[:12]
    folded = recording.export("folded", "--containers")
    assert all(line.startswith("container %s;process " % short) for line in folded.splitlines()), folded[:300]
    rows = json.loads(recording.report("--json", "--by=container"))["rows"]
    assert [(row["id"], row["pod"], row["kind"]) for row in rows] == [(id, "", "container")], rows
    assert "container %s" % id[:20] in recording.report()
    for to in ("speedscope", "flamegraph", "firefox"):
        assert " in %s" % short in recording.export(to), to
    trace = subprocess.run(["babeltrace2", recording.trace], stdout=subprocess.PIPE, text=True).stdout
    assert 'container = "%s"' % id in trace and "inner_pid = 1," in trace
