# SPDX-License-Identifier: MIT
"""A relay daemon on loopback: streamed to, read while it comes, and gone."""
import json
import os
import signal
import socket

import recording as rec
import tools

HOST = socket.gethostname()


def relay_daemon(context):
    os.mkdir(context.file("relay"))

    def ready():
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", 5344)) == 0

    return tools.Daemon(context, "lttng-relayd", "--output=" + context.file("relay"), ready=ready)


def start(context, trace):
    process = context.profiler.start(context.file("out"), context.file("err"), "record", "--json", "-o", trace,
                                     "--lttng-url=net://127.0.0.1", "--", *context.target("spin.py", 60))
    context.processes.append(process)
    process.url = "net://127.0.0.1/host/%s/sidewinder-%d" % (HOST, process.pid)
    rec.wait_for(lambda: process.poll() is not None or os.path.exists(trace + "/stream") and
                 os.path.getsize(trace + "/stream") > 20000, 40, "samples")
    assert process.poll() is None, rec.read_text(context.file("err"))
    return process


def test_streamed_and_read_while_it_comes(context):
    trace = context.fresh_trace()
    with relay_daemon(context):
        process = start(context, trace)

        def read_live():
            done = context.profiler.run("export", "--to=jsonl", "--samples", "--live=3", process.url, check=False)
            return [json.loads(line) for line in done.stdout.splitlines()] if done.returncode == 0 else None

        live = rec.wait_for(read_live, 60, "samples of the live session")
        process.send_signal(signal.SIGTERM)
        process.wait(120)
        summary = rec.last_summary(rec.read_text(context.file("out")))
        assert summary["lttng"]["trace"] == process.url and not summary["lttng"]["incomplete"], summary
        done = context.profiler.run("report", process.url, check=False)
        assert done.returncode == 1 and "no relay daemon streams it" in done.stderr, done.stderr
    ours = context.profiler.run("export", "--to=jsonl", "--samples", trace).stdout
    assert ours == context.profiler.run("export", "--to=jsonl", "--samples", context.file("relay")).stdout
    every = [json.loads(line) for line in ours.splitlines()]
    first = every.index(live[0])
    assert len(live) > 1 and every[first:first + len(live)] == live, (first, len(live), len(every))


@rec.slow
def test_diff_of_a_directory_and_what_is_streamed(context):
    trace = context.fresh_trace()
    with relay_daemon(context):
        process = start(context, trace)

        def compare():
            done = context.profiler.run("diff", "--json", "--live=3", trace, process.url, check=False)
            return json.loads(done.stdout) if done.returncode == 0 else None

        found = rec.wait_for(compare, 60, "samples of the live session")
        process.send_signal(signal.SIGTERM)
        process.wait(40)
    assert found["base"]["command"] == found["new"]["command"] and found["new"]["samples"], found
    assert any(row["name"].endswith("heavy") for row in found["rows"]), found


def test_0604_the_relay_daemon_is_killed(context):
    trace = context.fresh_trace()
    with relay_daemon(context) as relay:
        process = start(context, trace)
        relay.process.kill()
        rec.wait_for(lambda: "the relay daemon at net://127.0.0.1 is gone: the LTTng trace lacks what comes from "
                     "here on" in rec.read_text(context.file("err")), 20, "word")
        process.send_signal(signal.SIGTERM)
        process.wait(120)
        summary = rec.last_summary(rec.read_text(context.file("out")))
        assert summary["complete"] and summary["lttng"]["incomplete"], summary
        count = len(context.profiler.run("export", "--to=jsonl", "--samples", trace).stdout.splitlines())
        assert count == summary["samples"]


def test_0604_no_relay_daemon_is_said_before_anything_is_recorded(context):
    done = context.profiler.run("record", "--lttng-url=net://127.0.0.1", "--", *context.target("spin.py", 0.2),
                                check=False)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (
        1, "sidewinder: error: --lttng: no relay daemon answers at net://127.0.0.1: Connection refused (there: "
           "lttng-relayd)"), done.stderr
