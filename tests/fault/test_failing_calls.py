# SPDX-License-Identifier: MIT
"""The n-th call of one kind fails, for one n after another (RELIABILITY 0411)."""
import os
import shutil
import subprocess

import recording as rec
import tools

OK, FAULT, WRONG_USE, LOSS = range(4)


def build(context):
    if not shutil.which("cc"):
        raise rec.Skip("no C compiler")
    library = context.file("failing.so")
    source = os.path.join(context.folder, "targets", "failing.c")
    subprocess.run(["cc", "-O1", "-fno-builtin", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return library


def check_one(context, library, target, kind, number):
    """Records while the call fails; gives whether it came at all."""
    met = context.file("%s-%d" % (kind, number))
    environment = {"LD_PRELOAD": library, "FAIL_KIND": kind, "FAIL_AT": str(number), "FAIL_FILE": met}
    trace = context.fresh_trace()
    done = context.profiler.run("record", "--json", "--no-report", "-F", "499", "-d", "0.1", "-o", trace,
                                "-p", str(target.pid), check=False, env=environment)
    what = "%s %d: status %d, %s" % (kind, number, done.returncode, done.stderr[-300:])
    assert done.returncode in (OK, FAULT, WRONG_USE, LOSS), what
    if done.returncode in (FAULT, WRONG_USE):
        assert "sidewinder: error: " in done.stderr, "it fails without a word: " + what
    if done.returncode == OK or os.path.exists(trace):
        report = context.profiler.run("report", trace, check=False)
        assert report.returncode == OK, "what is left cannot be read: %s; %s" % (what, report.stderr[-300:])
    return os.path.exists(met)


def check(context, kind, factor, atleast=1):
    library = build(context)
    target = tools.start(context, context.target("spin.py", 600))
    number, met = 1, 0
    while check_one(context, library, target, kind, number):
        met += 1
        number = max(number + 1, int(number * factor))
    assert met >= atleast, "only %d %s calls were met" % (met, kind)
    assert target.poll() is None, "the target did not survive"


def test_0411_a_call_fails_of_each_kind(context):
    for kind in ("malloc", "open", "write", "map", "bpf", "perf"):
        check(context, kind, 3)


@rec.slow
def test_0411_memory_runs_out(context):
    check(context, "malloc", 1.08, 50)


@rec.slow
def test_0411_the_kernel_refuses(context):
    check(context, "bpf", 1.1, 20)
    check(context, "perf", 1, 5)
    check(context, "map", 1, 2)


@rec.slow
def test_0411_files_do_not_open_or_take_nothing(context):
    check(context, "open", 1, 8)
    check(context, "write", 1, 5)
