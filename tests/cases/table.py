# SPDX-License-Identifier: MIT
"""How each program of given/ is recorded, and which function of verify.py checks its `do:` lines.

A case that is not here is recorded once, around `python target.py SECONDS` (or run.sh where there is
one). Every variant is judged by check.py unless `judge` is False.
"""
import collections

import verify

# start: "command" around the target, "all" the same with -a beside it, "attach" by -p ROLE once the
#        role's line is there, "inside" where run.sh itself starts the profiler through $PROF
# need:  a package from PyPI, put into a virtual environment of the interpreter
# wants: processors that the target would use if they were there
# since: the first version on which the program itself runs that way
# named: the first version on which it needs the names of the interpreter's own functions to be judged
# alone: nothing else may run beside it (many busy processes, or lists of the whole machine)
Variant = collections.namedtuple(
    "Variant", "label start role options argv env seconds rate status need alone wants judge verify since "
    "named", defaults=("", "command", "main", (), (), {}, 3, 997, 0, None, False, 1, True, None, (2, 7), (9,)))

PYTHON_ONLY = ("--native=none",)


def plain(**changes):
    return Variant(**changes)


CASES = {
    "01-line-backward": [plain(), plain(label="python-only", options=PYTHON_ONLY)],
    "03-c-calls-python": [plain(), plain(label="python-only", options=PYTHON_ONLY)],
    "05-crossed-callers": [plain(), plain(label="10-kHz", rate=9973, seconds=2)],
    "10-deep-600": [
        plain(verify=verify.deep),
        plain(label="python-only", options=PYTHON_ONLY, verify=verify.deep),
        plain(label="3000", argv=("3000",), judge=False, verify=verify.deep_cut)],
    "12-unicode-names": [
        plain(verify=verify.unicode_names),
        plain(label="LC_ALL=C", env={"LC_ALL": "C"}, verify=verify.unicode_names, since=(3, 7)),
        plain(label="LC_ALL=C.UTF-8", env={"LC_ALL": "C.UTF-8"}, verify=verify.unicode_names)],
    "14-long-names": [plain(verify=verify.long_names)],
    "15-folded-delimiters": [
        plain(),
        plain(label="folded", options=PYTHON_ONLY, verify=verify.folded_delimiters)],
    "16-markup-in-names": [plain(verify=verify.markup)],
    "17-same-name": [plain(verify=verify.same_name)],
    "18-comprehension-inlined": [plain(verify=verify.one_naming_style)],
    "21-upgraded-while-running": [plain(start="attach")],
    "23-stripped": [plain(verify=verify.stripped)],
    "25-embedded-late": [plain(start="attach", role="host", seconds=4, verify=verify.embedded)],
    "27-exec-launcher": [
        plain(seconds=4),
        plain(label="attached", start="attach", seconds=4),
        plain(label="all", start="all", seconds=4, alone=True)],
    "30-pid-namespace": [
        plain(alone=True, wants=3, seconds=6, verify=verify.outer_pids),
        plain(label="beta", start="attach", role="inside_beta", alone=True, wants=3, judge=False,
              verify=verify.only_beta)],
    "32-profiler-in-namespace": [plain(start="inside", seconds=5, verify=verify.inside_namespace)],
    "34-cgroup-v1-labels": [plain(alone=True, wants=2)],
    "35-prefork": [
        plain(alone=True, wants=4, seconds=4, verify=verify.prefork),
        plain(label="children", start="attach", options=("--children",), alone=True, wants=4, seconds=4,
              verify=verify.prefork),
        plain(label="parent", start="attach", alone=True, wants=4, seconds=4, judge=False,
              verify=verify.parent_only)],
    "37-gunicorn": [plain(need="gunicorn", alone=True, verify=verify.gunicorn)],
    "39-late-threads": [plain(seconds=4, verify=verify.late_threads)],
    "40-native-threads": [plain(wants=3, verify=verify.native_threads)],
    "43-lock-released-in-c": [plain(alone=True, wants=3, verify=verify.weight_is_cpu)],
    "44-free-threaded": [plain(verify=verify.weight_is_done_cpu)],
    "46-subinterpreters": [plain(verify=verify.one_of_three)],
    "48-async-chain": [plain(verify=verify.sleepers)],
    "50-greenlets": [plain(need="greenlet", verify=verify.greenlets)],
    # 52 and 54 work by the clock here and by count there: what else runs shifts their shares
    "52-interleaved": [
        plain(alone=True, verify=verify.interleaved),
        plain(label="frame-pointers", env={"FLAGS": "-O2 -fno-omit-frame-pointer"}, alone=True,
              verify=verify.interleaved),
        # from 3.14 on functions without exported names are between a trampoline and who calls it
        plain(label="-Xperf", env={"PYTHONPERFSUPPORT": "1"}, alone=True, named=(3, 14),
              verify=verify.interleaved)],
    "53-cython": [plain(need="cython"),
                  plain(label="python-only", need="cython", options=PYTHON_ONLY)],
    "54-no-unwind-tables": [plain(alone=True, verify=verify.dark_library)],
    "57-exit-status": [
        plain(label=how, argv=(how,), seconds=2, status=status, verify=verify.own_output)
        for how, status in (("0", 0), ("1", 1), ("7", 7), ("255", 255), ("raise", 1),
                            ("kill", 137), ("term", 143))
    ] + [plain(label="orphan", argv=("orphan",), seconds=2, judge=False),
         plain(label="attached", start="attach", argv=("7",), seconds=2)],
    "58-interrupted": [
        plain(label=signal, start="inside", env={"SIG": signal}, seconds=4, verify=verify.interrupted)
        for signal in ("INT", "TERM", "HUP", "KILL")],
    "59-mixed-children": [plain(alone=True, wants=3, verify=verify.mixed_children)],
    "60-short-lived": [plain(alone=True, verify=verify.short_lived),
                       plain(label="all", start="all", alone=True, verify=verify.short_lived)],
    "62-disk-full": [plain(start="inside", judge=False, verify=verify.disk_full)],
    "64-no-privilege": [plain(start="inside", judge=False, verify=verify.no_privilege)],
    "67-time-axis": [plain(seconds=4, verify=verify.time_axis)],
    "69-many-stacks": [plain(verify=verify.many_stacks)],
    "70-large-events": [plain(verify=verify.large_events)],
    "72-interrupted-calls": [plain(verify=verify.undisturbed)],
    "74-odd-paths": [plain(alone=True, wants=4, verify=verify.odd_paths)],
    "76-code-without-file": [plain(verify=verify.without_file)],
    "78-perf-trampolines": [plain(verify=verify.no_trampolines)],
    "79-attach-twice": [plain(start="inside", seconds=12, status=143, alone=True,
                              judge=False, verify=verify.attach_twice)],
}

# Rules that are wrong themselves, why, and for which versions: check.py still prints them, the runner
# does not count them, and verify.py asks for the right thing instead.
DISPUTED = {
    # the role's line names the main thread, which does nothing else: the share is 1. The range is that of
    # the whole process (1.25 of 2.25 seconds).
    ("25-embedded-late", "any 0.40..0.80 host : n:native_work"): ((2, 7), (3, 15)),
    # three processes that want two processors or more: how much each gets is the scheduler's affair
    ("30-pid-namespace", "share 0.20..0.45 any : ^<module>;in_alpha;spin$"): ((2, 7), (3, 15)),
    ("30-pid-namespace", "share 0.15..0.45 any : ^<module>;in_beta;spin$"): ((2, 7), (3, 15)),
    ("30-pid-namespace", "share 0.15..0.45 any : ^<module>;in_gamma;spin$"): ((2, 7), (3, 15)),
    ("30-pid-namespace", "share 0.05..0.45 any : second_thread;spin$"): ((2, 7), (3, 15)),
    # each sleeper runs for some microseconds before it sleeps, fifty of them one after another, and again
    # when it is cancelled: a sample there is true
    ("48-async-chain", "never main : asleep"): ((3, 6), (3, 15)),
    # 2.7's lock goes to whom the kernel wakes first: the first hasher has all of the CPU, or most of it, on its own
    ("43-lock-released-in-c", "share 0.20..0.50 main : hash_a$"): ((2, 7), (2, 7)),
    ("43-lock-released-in-c", "share 0.20..0.50 main : hash_b$"): ((2, 7), (2, 7)),
    ("43-lock-released-in-c", "share 0.20..0.50 main : squeeze$"): ((2, 7), (2, 7)),
    ("43-lock-released-in-c", "lines main squeeze : 27-28"): ((2, 7), (2, 7)),
    # one lock is shared, but the request to drop it is per interpreter: a thread of another interpreter
    # never gets it from one that computes, so one of the three has all of the CPU
    ("46-subinterpreters", "share 0.20..0.60 any : main_part;spin$"): ((3, 9), (3, 11)),
    ("46-subinterpreters", "share 0.15..0.60 any : <module>;inside_x;spin$"): ((3, 9), (3, 11)),
    ("46-subinterpreters", "share 0.15..0.60 any : <module>;inside_y;spin$"): ((3, 9), (3, 11)),
}


def disputed(case, rule, version):
    first, last = DISPUTED.get((case, rule), ((9,), (0,)))
    return first <= version <= last


# what `make check` runs on every interpreter; the others run on one
TELLING = ("01-line-backward", "03-c-calls-python", "04-ctypes-callback", "12-unicode-names",
           "18-comprehension-inlined", "39-late-threads", "46-subinterpreters", "52-interleaved")
# ... and on versions before 3.8 and from 3.14 on
MOST_TELLING = ("01-line-backward", "52-interleaved")


def variants_of(case):
    return CASES.get(case) or [plain()]
