# SPDX-License-Identifier: MIT
"""`sidewinder top` without a terminal: one table, one object."""
import json
import os
import re


def test_table_of_a_process(context):
    busy = context.start_target("busy.py")
    done = context.profiler.run("top", "--once", "-d", "1", "-n", "3", "-p", str(busy.pid),
                                env={"COLUMNS": "100", "TERM": "dumb"})
    lines = done.stdout.split("\n")
    assert re.match(r"pid %d +0:\d\d$" % busy.pid, lines[0]), done.stdout
    assert re.match(r"now \d+s  \d+ samples/s  CPU \d+%  Python [\d.]+%  native [\d.]+%  kernel [\d.]+%",
                    lines[1]), done.stdout
    assert "\x1b" not in done.stdout and max(map(len, lines)) <= 100, done.stdout
    table = lines[lines.index("functions by self now"):]
    assert table[2] == "    SELF  TOTAL   SELF  TOTAL  FUNCTION" + " " * 30 + "FILE:LINE", table
    assert re.search(r" hot +\S+busy\.py:18$", table[3]), table
    assert table[6:] == [""], table


def test_object_adds_up(context):
    busy = context.start_target("busy.py")
    arguments = ("top", "--json", "-d", "1", "-p", str(busy.pid))
    found = json.loads(context.profiler.run(*arguments, "--all-frames").stdout)
    assert found["command"] == "pid %d" % busy.pid and found["by"] == "function", found
    assert found["complete"] is True and found["sort"] == "self-now"
    for span in ("now", "since_start"):
        sums = found[span]
        assert sums["samples"] > 0, found
        assert sum(row[span]["self"]["amount"] for row in found["rows"]) == sums["samples"]
        assert abs(sum(sums[kind] for kind in ("python", "native", "kernel", "unknown")) - 1) < 1e-6
        assert 0 < sums["gil_held"] <= 1
    assert found["since_start"]["samples"] == sum(found["status"].values())
    kinds = {row["kind"] for row in found["rows"]}
    assert {"python", "native"} <= kinds, kinds
    hot = next(row for row in found["rows"] if row["name"] == "hot")
    assert hot["line"] == 18 and hot["file"].endswith("busy.py"), hot
    assert 0 < hot["now"]["self"]["share"] <= hot["now"]["total"]["share"] <= 1

    threads = json.loads(context.profiler.run(*arguments, "--by=thread").stdout)
    assert {row["pid"] for row in threads["rows"]} == {busy.pid}
    assert busy.pid in {row["tid"] for row in threads["rows"]} and len(threads["rows"]) == 2
    assert sum(row["now"]["share"]["amount"] for row in threads["rows"]) == threads["now"]["samples"]


def test_trace_beside_it_has_the_same_samples(context):
    trace = context.fresh_trace()
    done = context.profiler.run("top", "--json", "-o", trace, "--", *context.target("busy.py", 0.5))
    found = json.loads(done.stdout)
    assert "trace: %s" % trace in done.stderr, done.stderr
    report = json.loads(context.profiler.run("report", "--json", trace).stdout)
    assert report["recording"]["samples"] == found["since_start"]["samples"] > 0
    assert report["recording"]["lost"] == found["lost"]
    shares = {(row["name"], row["file"], row["line"]): row["self"]["samples"] for row in report["rows"]}
    for row in found["rows"]:
        if row["kind"] == "python":
            assert shares[row["name"], row["file"], row["line"]] == row["since_start"]["self"]["amount"], row


def test_filter_sort_and_two_processes(context):
    first, second = context.start_target("busy.py"), context.start_target("busy.py")
    both = "%d,%d" % (first.pid, second.pid)
    found = json.loads(context.profiler.run("top", "--json", "-d", "1", "-p", both, "-b", "process").stdout)
    assert {row["pid"] for row in found["rows"]} == {first.pid, second.pid}, found
    found = json.loads(context.profiler.run("top", "--json", "-d", "1", "-p", both, "--filter", "SQUEEZE",
                                            "-s", "total-start").stdout)
    assert [row["name"] for row in found["rows"]] == ["squeeze"] and found["sort"] == "total-start"


def test_only_some_samples(context):
    busy = context.start_target("busy.py")
    arguments = ("top", "--json", "-d", "1", "-p", str(busy.pid))
    found = json.loads(context.profiler.run(*arguments, "--thread", str(busy.pid), "-b", "thread").stdout)
    assert found["only"] == "thread %d" % busy.pid
    assert [row["tid"] for row in found["rows"]] == [busy.pid], found
    assert found["rows"][0]["now"]["share"]["share"] == 1
    found = json.loads(context.profiler.run(*arguments, "--function=squeeze").stdout)
    total = {row["name"]: row["since_start"]["total"]["amount"] for row in found["rows"]}
    assert total["squeeze"] == total["work"] == found["since_start"]["samples"] > 0 and "hot" not in total


def test_command_has_its_own_output_and_status(context):
    output = context.file("output")
    done = context.profiler.run("top", "--json", "--command-output", output, "--", "sh", "-c",
                                "cat; echo out; echo err >&2; exit 7", check=False)
    assert done.returncode == 7, done
    assert open(output).read() == "out\nerr\n" and os.stat(output).st_mode & 0o777 == 0o600
    assert json.loads(done.stdout)["complete"] is True
    assert context.profiler.run("top", "--once", "--", "sh", "-c", "exit 3", check=False).returncode == 3
    done = context.profiler.run("top", "--once", "--", "no-such-program", check=False)
    assert done.returncode == 127 and "not found in PATH" in done.stderr, done


def test_wrong_use_is_told(context):
    for status, text, arguments in (
            (1, "standard output is no terminal: --once prints a table", ("-p", str(os.getpid()))),
            (2, "top: --children and --no-children mean nothing with", ("--children",)),
            (2, "top: --command-output is for a command", ("--once", "-a", "--command-output", "x")),
            (2, "top: --force replaces a trace", ("--once", "-a", "--force")),
            (2, "top: --by: 'module' is not one of function line thread process", ("--by=module", "-a")),
            (2, "top: --window: 0.5 is too small, the least is 1", ("-w", "0.5", "-a")),
            (2, "top: --pid: 'x' is not a process id", ("--once", "-p", "x")),
            (1, "pid 4194303: No such process", ("--once", "-p", "4194303"))):
        done = context.profiler.run("top", *arguments, check=False)
        assert (done.returncode, done.stdout) == (status, "") and text in done.stderr, (arguments, done)
