# SPDX-License-Identifier: MIT
"""Wrong use and bad surroundings: one clear line each, the right status, nothing left behind."""
import os
import re
import shutil
import subprocess

import recording as rec

FAULT, USAGE = 1, 2


def refused(context, status, words, *arguments, **options):
    """Runs record, which must refuse with `status` and one line on stderr that matches `words`."""
    trace = context.fresh_trace()
    done = context.profiler.run("record", "-o", trace, *arguments, check=False, timeout=120, **options)
    assert done.returncode == status, "status %d: %s" % (done.returncode, done.stderr)
    assert re.search(words, done.stderr), "not said: %s: %s" % (words, done.stderr)
    assert len(done.stderr.strip().split("\n")) <= 3, done.stderr
    assert "libbpf" not in done.stderr, done.stderr
    assert not os.path.exists(trace), "a trace was left"


def test_unknown_pid_is_named(context):
    refused(context, FAULT, r"4194000.*(No such process|no such process)", "-p", "4194000")


def test_wrong_numbers_and_options_are_usage(context):
    for arguments in (("-p", "abc"), ("-p", "-1"), ("-F", "0", "--", "true"), ("-F", "1x", "--", "true"),
                      ("-d", "-3", "--", "true"), ("--no-such-option", "--", "true"), (),
                      ("-F", "99", "-c", "1000", "--", "true"), ("--native=maybe", "--", "true")):
        refused(context, USAGE, r"sidewinder", *arguments)


def test_unknown_event_is_named(context):
    refused(context, USAGE, "no-such-event", "-e", "no-such-event", "--", "true")
    refused(context, FAULT, "sys:|no_such_point", "-e", "sched:no_such_point", "--", "true")


def has_counter(context):
    done = context.profiler.run("record", "--quiet", "-e", "cycles", "-o", context.fresh_trace(), "--",
                                "true", check=False)
    return done.returncode == 0


def test_cycles_without_a_counter_is_an_error_and_the_default_is_not(context):
    if has_counter(context):
        raise rec.Skip("this machine has a hardware counter")
    refused(context, FAULT, r"cycles", "-e", "cycles", "--", "true")
    recording = context.record_well("--", *context.target("spin.py", 0.5))
    assert recording.summary["event"] == "cpu-clock"
    assert "cpu-clock" in recording.stderr, recording.stderr


def test_output_that_exists_is_not_touched(context):
    trace = context.file("mine")
    os.mkdir(trace)
    with open(os.path.join(trace, "precious"), "w") as file:
        file.write("text")
    done = context.profiler.run("record", "-o", trace, "--", "touch", context.file("ran"), check=False)
    assert done.returncode != 0 and "mine" in done.stderr, done.stderr
    assert os.listdir(trace) == ["precious"]
    assert not os.path.exists(context.file("ran")), "found only after the command ran"


def test_output_that_cannot_be_made_is_found_before_recording(context):
    for place in ("/proc/no/trace", context.file("no/such/folder"), "/dev/full"):
        done = context.profiler.run("record", "-o", place, "--", "touch", context.file("ran"), check=False)
        assert done.returncode == FAULT and place in done.stderr, done.stderr
        assert not os.path.exists(context.file("ran")), "found only after the command ran"


def small_disk(context, kilobytes):
    place = context.file("disk")
    os.mkdir(place)
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=%dk" % kilobytes, "none", place],
                          stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise rec.Skip("cannot mount: " + done.stderr.strip())
    return place


def test_full_disk_is_said_and_what_is_there_stays_readable(context):
    place = small_disk(context, 256)
    try:
        trace = os.path.join(place, "trace")
        done = context.profiler.run("record", "-F", "4999", "-o", trace, "--",
                                    *context.target("stacks.py", 0.3), check=False)
        assert done.returncode == FAULT, "status %d" % done.returncode
        assert "No space left on device" in done.stderr and place in done.stderr, done.stderr
        assert "@done" in done.stdout, "the command was hurt"
        if os.path.exists(os.path.join(trace, "metadata")):
            report = context.profiler.run("report", "--limit=0", trace, check=False)
            assert report.returncode == 0 and "FUNCTION" in report.stdout, report.stderr
    finally:
        subprocess.run(["umount", place])


def test_closed_pipe_ends_quietly(context):
    recording = context.record_well("--", *context.target("stacks.py", 0.02))
    for command in ("report --limit=0", "export --to=jsonl --samples", "export --to=folded"):
        words = command.split()
        text = subprocess.run("%s %s %s %s 2>%s | head -n 1" % (
            context.profiler.path, words[0], recording.trace, " ".join(words[1:]), context.file("err")),
            shell=True, stdout=subprocess.PIPE)
        assert text.stdout.count(b"\n") == 1
        assert rec.read_text(context.file("err")) == "", rec.read_text(context.file("err"))


def test_export_into_a_full_device_fails(context):
    recording = context.record_well("--", *context.target("spin.py", 0.5))
    with open("/dev/full", "w") as full:
        for words in (("export", "--to=folded"), ("export", "--to=flamegraph"), ("report", "--json")):
            done = subprocess.run([context.profiler.path, words[0], recording.trace, *words[1:]],
                                  stdout=full, stderr=subprocess.PIPE, text=True)
            assert done.returncode == FAULT, "%r: status %d" % (words, done.returncode)
            assert "No space left on device" in done.stderr, done.stderr


def test_trace_that_is_none_is_refused(context):
    for place in (context.file("nothing"), context.work, "/etc/passwd"):
        done = context.profiler.run("report", place, check=False)
        assert done.returncode == FAULT and place in done.stderr, (place, done.stderr)


def test_without_privilege_the_capabilities_are_named(context):
    if not shutil.which("setpriv"):
        raise rec.Skip("no setpriv")
    os.chmod(context.work, 0o777)
    program = shutil.copy(context.profiler.path, context.file("sidewinder"))
    done = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", program, "record",
                           "-o", context.file("trace"), "--", "touch", context.file("ran")],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=120)
    assert done.returncode == FAULT, done
    assert "CAP_BPF" in done.stderr and "CAP_PERFMON" in done.stderr, done.stderr
    assert re.search(r"sudo|setcap|as root", done.stderr), "no way out is named: %s" % done.stderr
    assert not os.path.exists(context.file("trace")) and not os.path.exists(context.file("ran"))


def test_missing_btf_file_is_named(context):
    refused(context, FAULT, r"/nonexistent/btf", "--btf", "/nonexistent/btf", "--", "true")


def test_unknown_command_and_help(context):
    done = context.profiler.run("no-such-command", check=False)
    assert done.returncode == USAGE and "no-such-command" in done.stderr
    for arguments in (("--help",), ("record", "--help"), ("report", "--help"), ("export", "--help")):
        text = context.profiler.run(*arguments).stdout
        assert "sidewinder" in text and len(text) > 200, text
    assert re.match(r"sidewinder \d", context.profiler.run("--version").stdout)
