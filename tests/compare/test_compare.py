# SPDX-License-Identifier: MIT
"""`sidewinder compare`: every overflow in a pair or explained, and what the two say of it."""
import json
import os

import recording as rec

WORKLOADS = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "bench", "workloads")
BENCH = os.path.dirname(os.path.abspath(WORKLOADS))


def workload(name):
    return os.path.join(os.path.abspath(WORKLOADS), name + ".py")


def compare(context, *arguments):
    """The JSON object of a comparison; what must hold of every one of them is asserted here."""
    done = context.profiler.run("compare", "--json", *arguments)
    found = json.loads(done.stdout)
    assert_adds_up(found)
    return found


def assert_adds_up(found):
    assert found["paired"] + found["bpf_only"] == found["seen"]["bpf"], found
    assert found["paired"] + found["signal_only"] == found["seen"]["signal"], found
    assert sum(found["alone"].values()) == found["bpf_only"] + found["signal_only"], found
    assert sum(one["pairs"] for one in found["delivery"].values()) == found["paired"], found
    assert sum(pairs for _, pairs in found["delay_ns"]["classes"]) == found["paired"], found
    assert found["delay_ns"]["p50"] <= found["delay_ns"]["p99"] <= found["delay_ns"]["max"], found
    for what, compared in found["compared"].items():
        assert compared <= found["paired"], found
        assert (found[what + "_agree"] is None) == (compared == 0), found


def disagree(found, what):
    """How many of the pairs of `found`, all of them or of one delivery, disagree."""
    compared = found["compared"][what]
    return round(compared * (1 - found[what + "_agree"])) if compared else 0


def test_a_python_loop_is_paired_and_both_say_the_same(context, python):
    found = compare(context, "--rounds=0", "-F", "2000", "--", python, workload("plain"), "8000")
    # every overflow that has no partner has a cause that is known; a slow machine has more of these, not others
    unexplained = found["alone"]["signal_unexplained"] + found["alone"]["bpf_unexplained"]
    assert unexplained <= found["overflows"] // 1000, found["alone"]
    assert found["alone"]["no_signal"] == 0, found["alone"]
    explained = sum(found["alone"].values()) - unexplained
    assert found["paired"] >= 0.999 * (found["overflows"] - explained - found["lost"]["bpf"]) > 0, found
    user = found["delivery"]["user_mode"]
    assert user["pairs"] > 0.5 * found["paired"], found["delivery"]
    assert found["delivery"]["wrong_thread"]["pairs"] == 0, found["delivery"]
    for what in ("python", "line"):
        assert disagree(user, what) <= user["compared"][what] // 1000, found["disagreements"]
    assert user["compared"]["python"] > 0, found


def test_a_trace_that_was_kept_says_the_same_and_a_page_is_drawn(context):
    trace, page = context.fresh_trace(), context.file("compare.html")
    first = compare(context, "--rounds=0", "-o", trace, "--html", page, "--", context.python, workload("plain"), "2000")
    again = compare(context, trace)
    assert again == first, (again, first)
    text = rec.read_text(page)
    assert '"paired":%d' % first["paired"] in text and text.rstrip().endswith("</html>"), text[-200:]
    table = context.profiler.run("compare", trace).stdout
    assert "%d overflows of " % first["overflows"] in table, table
    assert table.rstrip().endswith("trace: " + trace), table


def test_a_program_that_blocks_all_signals_is_sampled_all_the_same(context):
    found = compare(context, "--rounds=0", "-F", "4000", "--", context.python, workload("blocked"), "40")
    assert found["paired"] > 0 and found["alone"]["no_signal"] == 0, found["alone"]


def test_every_thread_has_signals_also_a_late_one(context):
    found = compare(context, "--rounds=0", "-F", "4000", "--", context.python, workload("threads"), "2")
    assert found["alone"]["no_signal"] <= found["overflows"] // 50, found["alone"]
    assert found["delivery"]["wrong_thread"]["pairs"] == 0, found["delivery"]


def test_overflows_in_the_kernel_are_told_apart(context):
    found = compare(context, "--rounds=0", "-F", "4000", "--", context.python, workload("system_calls"), "6")
    assert found["delivery"]["kernel_mode"]["pairs"] > 0, found["delivery"]


def test_the_cost_is_of_every_way(context):
    found = compare(context, "--rounds=1", "--", context.python, workload("plain"), "500")
    assert found["cost"]["rounds"] == 1, found["cost"]
    assert set(found["cpu_us_per_sample"]) == {"none", "floor", "bpf", "signal"}, found["cpu_us_per_sample"]
    assert found["cpu_us_per_sample"]["none"] == 0, found["cpu_us_per_sample"]
    for way in ("none", "floor", "bpf", "signal"):
        assert found["cost"][way]["cpu_s"]["median"] > 0, found["cost"]
    for way in ("bpf", "signal"):
        assert found["bytes_per_sample"][way] > 0 and found["cost"][way]["samples"] > 0, found
    assert os.listdir(context.work) == [], "nothing is left of the runs"


def test_an_error_is_against_what_the_program_says(context):
    truth = context.file("truth.json")
    found = compare(context, "--rounds=0", "--truth", truth, "--", context.python, os.path.join(BENCH, "ten.py"),
                    "--seconds", "1", "--truth", truth, "--out", os.devnull)
    functions = {one["name"]: one for one in found["truth"]["functions"]}
    assert sorted(functions) == ["f_%02d" % i for i in range(10)], functions
    for path in ("bpf", "signal"):
        assert found["truth"][path]["counted"] > 0 and functions["f_00"][path] > functions["f_09"][path], found["truth"]
        assert abs(sum(one[path] for one in functions.values()) - 1) < 1e-6, functions


def test_wrong_use_is_said_in_a_line(context):
    trace = context.fresh_trace()
    context.profiler.run("record", "-q", "--no-report", "-o", trace, "--", "true")
    for arguments, status, words in (
            ([trace], 1, "holds one path only: record with --path=both"),
            ([context.file("none")], 1, "no such"),
            (["a", "b"], 2, "'b' is one too many"),
            (["--html=-", trace], 2, "--html wants a file"),
            (["--", context.file("none")], 127, "cannot run")):
        done = context.profiler.run("compare", *arguments, check=False)
        lines = done.stderr.strip().split("\n")
        assert done.returncode == status and words.lower() in lines[0].lower(), (arguments, done)
        assert len(lines) == 1 and not done.stdout, done


# ---- the programs that make the two differ run as they do by themselves ----

ROUNDS = {"plain": 500, "calls_with_gil": 5, "calls_without_gil": 6, "threads": 1, "blocked": 15, "system_calls": 6,
          "own_signals": 10, "deep": 6, "generators": 1, "strides": 4, "forks": 6}


def assert_unharmed(context, python, *how):
    for name, rounds in ROUNDS.items():
        command = [python, workload(name), str(rounds)]
        bare = context.profiler.__class__(python).run(*command[1:])
        # deep stacks take a handler longer than a period: what is merged then is a loss, and no fault
        done = context.profiler.run("record", "-q", "--no-report", "-F", "2000", "--max-loss=100", "-o",
                                    context.fresh_trace(), *how, "--", *command)
        assert (done.stdout, done.returncode) == (bare.stdout, bare.returncode), (name, how, done.stdout, bare.stdout)


def test_programs_do_the_same_under_both_paths(context, python):
    assert_unharmed(context, python, "--path=both")


def test_unwinding_in_the_handler_ends_at_any_rate(context):
    """A handler that is interrupted by the next overflow within libunwind would wait for its own lock."""
    for name, rounds in (("deep", 2), ("plain", 1000)):
        command = [context.python, workload(name), str(rounds)]
        done = context.profiler.run("record", "-q", "--no-report", "-F", "8000", "--max-loss=100", "--path=signal",
                                    "--unwind=online", "-o", context.fresh_trace(), "--", *command, timeout=120)
        assert done.stdout.startswith(name), done


@rec.slow
def test_programs_do_the_same_under_each_signal(context, python):
    for how in (["--signal=sigtrap"], ["--signal=sigio"], ["--signal=sigio", "--rearm"], ["--unwind=online"]):
        assert_unharmed(context, python, "--path=signal", *how)
