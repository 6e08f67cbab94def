# SPDX-License-Identifier: MIT
"""Outputs, signals, limits and a locale that are against the profiler (RELIABILITY 04, 05, 07)."""
import json
import os
import resource
import shutil
import signal
import subprocess
import time

import recording as rec
import tools

FAULT, LOSS = 1, 3


def test_0401_summary_that_nobody_reads(context):
    script = "%s record --json -o %s -- %s -c pass 2>%s | true; echo ${PIPESTATUS[0]}" % (
        context.profiler.path, context.fresh_trace(), context.python, context.file("err"))
    done = subprocess.run(["bash", "-c", script], stdout=subprocess.PIPE, text=True, timeout=120)
    assert done.stdout.strip() == "0", done.stdout
    assert "rror" not in rec.read_text(context.file("err")), rec.read_text(context.file("err"))


@rec.slow
def test_0402_limit_of_file_size(context):
    trace = context.fresh_trace()
    done = context.profiler.run(
        "record", "-F", "4999", "-o", trace, "--", *context.target("stacks.py", 0.2), check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000)))
    assert done.returncode == FAULT, "status %d: %s" % (done.returncode, done.stderr)
    assert "File too large" in done.stderr and trace in done.stderr, done.stderr
    report = context.profiler.run("report", trace, check=False)
    assert report.returncode == 0, report.stderr


@rec.slow
def test_0404_second_signal_ends_at_once(context):
    code = ("import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('@ready', flush=True)\n"
            "end = time.monotonic() + 6\nwhile time.monotonic() < end: sum(range(1000))\nprint('@done', flush=True)")
    profiler = tools.start_profiler(context, "-F", "499", "--", context.python, "-c", code)
    rec.wait_for(lambda: "@ready" in rec.read_text(profiler.out), 20, "start of the command")
    time.sleep(0.5)
    profiler.terminate()
    time.sleep(0.5)
    assert profiler.poll() is None, "ended while its command runs"
    sent = time.monotonic()
    recording = tools.end_profiler(context, profiler)
    assert time.monotonic() - sent < 60, "took %.1f s" % (time.monotonic() - sent)
    assert recording.status in (0, 143), "status %d: %s" % (recording.status, recording.stderr)
    assert tools.add_up(recording)["samples"] > 100, recording.summary
    rec.wait_for(lambda: "@done" in rec.read_text(profiler.out), 15, "end of the command, which is not to be killed")


def without_files():
    for descriptor in (0, 1, 2):
        os.close(descriptor)


def test_0407_standard_files_closed(context):
    trace = context.fresh_trace()
    process = subprocess.Popen([context.profiler.path, "record", "-F", "499", "-o", trace, "--",
                                *context.target("spin.py", 0.7)], preexec_fn=without_files)
    assert process.wait(120) == 0
    done = subprocess.run(["babeltrace2", trace], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace")
    assert done.returncode == 0 and not done.stderr, done.stderr[:300]
    assert "heavy" in context.profiler.run("report", trace).stdout


def test_0407_no_terminal_to_speak_of(context):
    environment = {"TERM": "", "COLUMNS": "0", "LINES": "-1", "PAGER": "/nonexistent"}
    recording = context.record_well("-F", "499", "--", *context.target("spin.py", 0.5), env=environment)
    text = context.profiler.run("report", recording.trace, env=environment).stdout
    assert "heavy" in text or "spin" in text, text


def test_0408_locale_with_a_decimal_comma(context):
    if not shutil.which("localedef"):
        raise rec.Skip("no localedef")
    folder = context.file("locales")
    os.mkdir(folder)
    made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", folder + "/de_DE.UTF-8"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if not os.path.isdir(folder + "/de_DE.UTF-8"):
        raise rec.Skip("no locale can be made: " + made.stderr.strip()[:100])
    environment = {"LOCPATH": folder, "LC_ALL": "de_DE.UTF-8"}
    recording = context.record_well("-F", "499", "--max-loss=0.5", "--", *context.target("spin.py", 0.7),
                                    env=environment)
    assert recording.summary["duration_s"] > 0.6, recording.summary
    report = json.loads(context.profiler.run("report", "--json", recording.trace, env=environment).stdout)
    assert report["recording"]["duration_s"] > 0.6
    done = context.profiler.run("record", "-d", "0.3", "-o", context.fresh_trace(), "-a", env=environment)
    assert "lost" in done.stderr and not any(word[:1] == "0," for word in done.stderr.split()), done.stderr


@rec.slow
def test_0410_0501_full_ring_is_counted_with_its_time(context):
    target = tools.start(context, context.target("spin.py", 5))
    profiler = tools.start_profiler(context, "-F", "4999", "--ring-bytes=64K", "-p", str(target.pid))
    tools.wait_until_recording(profiler)
    time.sleep(0.5)
    profiler.send_signal(signal.SIGSTOP)
    time.sleep(2)
    profiler.send_signal(signal.SIGCONT)
    recording = tools.end_profiler(context, profiler, 0)
    summary = tools.add_up(recording)
    assert summary["lost"]["ring_full"] > 1000, summary
    assert recording.status == LOSS, "status %d" % recording.status
    assert "lost" in recording.stderr and "%" in recording.stderr, recording.stderr
    text = subprocess.run(["babeltrace2", "--clock-seconds", recording.trace], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, errors="replace").stdout
    lost = [line for line in text.split("\n") if " lost: {" in line or ":lost: {" in line]
    counts = [int(line.split("count = ")[1].split(",")[0].split(" ")[0]) for line in lost]
    assert sum(counts) == sum(summary["lost"].values()), (counts, summary["lost"])
    after = [sample for sample in recording.samples("--samples") if sample["t"] > 3.2]
    assert len(after) > 1000, "it did not recover: %d samples after" % len(after)


def limited(soft, hard):
    return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_0508_limit_of_descriptors(context):
    target = tools.start(context, context.target("threads.py", 3))
    done = context.profiler.run("record", "-d", "0.5", "-o", context.fresh_trace(), "-p", str(target.pid),
                                preexec_fn=limited(16, 4096))
    assert "samples" in done.stderr, done.stderr
    done = context.profiler.run("record", "-q", "-o", context.fresh_trace(), "--", "sh", "-c", "ulimit -n",
                                preexec_fn=limited(16, 4096))
    assert done.stdout == "16\n", "the command has another limit: " + done.stdout
    trace = context.fresh_trace()
    done = context.profiler.run("record", "-d", "0.5", "-o", trace, "-p", str(target.pid), check=False,
                                preexec_fn=limited(16, 16))
    assert done.returncode == FAULT, "status %d: %s" % (done.returncode, done.stderr)
    assert "open files" in done.stderr or "RLIMIT_NOFILE" in done.stderr or "descriptors" in done.stderr, done.stderr
    assert not os.path.exists(trace), "a trace was left"


def test_0706_links_at_the_output_are_not_followed(context):
    victim, empty = context.file("victim"), context.file("empty")
    os.mkdir(empty)
    with open(victim, "w") as file:
        file.write("precious")
    for target in (victim, empty, context.file("nowhere")):
        for options in ((), ("--force",)):
            trace = context.fresh_trace()
            os.symlink(target, trace)
            done = context.profiler.run("record", "-o", trace, *options, "--", "true", check=False)
            assert done.returncode == FAULT and trace in done.stderr, (target, options, done.returncode, done.stderr)
            assert os.readlink(trace) == target, "the link was replaced"
    assert rec.read_text(victim) == "precious" and not os.listdir(empty)
    assert not os.path.exists(context.file("nowhere"))


def test_0706_link_of_another_user_at_an_exports_output_is_not_followed(context):
    recording = context.record_well("--", *context.target("spin.py", 0.3))
    victim, link = context.file("victim"), context.file("link")
    with open(victim, "w") as file:
        file.write("precious")
    os.symlink(victim, link)
    os.lchown(link, 65534, 65534)
    done = context.profiler.run("export", recording.trace, "--to=folded", "-o", link, check=False)
    assert done.returncode == FAULT and link in done.stderr, done.stderr
    assert rec.read_text(victim) == "precious", "the file behind the link was written"
