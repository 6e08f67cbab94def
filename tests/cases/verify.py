# SPDX-License-Identifier: MIT
"""The `do:` lines of the cases that a machine can check: one function for each case that has some.

Each takes a Run (run.py) after its recording, and calls run.expect(condition, words).
"""
import collections
import itertools
import json
import os
import re
import subprocess
import time

import recording as rec


def python_frames(sample):
    return [frame for frame in sample["frames"] if frame[0] == "p"]


def native_frames(sample):
    return [frame for frame in sample["frames"] if frame[0] == "n"]


def marked(sample):
    return any(frame[0] == "x" for frame in sample["frames"])


def plain_name(frame):
    return frame[1].rpartition(".")[2]


def weight(samples):
    return sum(sample.get("w", 1) for sample in samples)


def samples_with(run, name, *options):
    return [sample for sample in run.samples(*options)
            if any(plain_name(frame) == name for frame in python_frames(sample))]


def callees(run):
    """{(name, file, line): weight} of what <module> calls, for stacks that end in spin."""
    found = collections.Counter()
    for sample in run.samples():
        frames = python_frames(sample)
        if len(frames) == 3 and frames[0][1] == "<module>" and plain_name(frames[2]) == "spin":
            found[tuple(frames[1][1:])] += sample.get("w", 1)
    return found


def lines_of(text):
    """Lines as a program that reads folded text sees them: split at line feeds only."""
    return text.split("\n")[:-1] if text.endswith("\n") else text.split("\n")


def deep(run):
    for sample in run.samples():
        frames = python_frames(sample)
        if frames and plain_name(frames[-1]) == "spin" and not marked(sample):
            depth = sum(plain_name(frame) == "rec" for frame in frames)
            run.expect(depth == 601, "a stack with %d rec frames has no marker" % depth)


def deep_cut(run):
    cut = 0
    for sample in samples_with(run, "spin"):
        frames = python_frames(sample)
        depth = sum(plain_name(frame) == "rec" for frame in frames)
        if plain_name(frames[-1]) == "spin" and depth:
            cut += depth < 3001
            run.expect(depth == 3001 or marked(sample), "%d of 3001 frames and no marker" % depth)
    truncated = run.recording.summary["status"].get("truncated", 0)
    run.expect(bool(cut) == bool(truncated), "%d cut stacks, truncated=%d" % (cut, truncated))
    run.expect(run.weight_of("main") > 0.8 * run.rate * run.cpu("main"), "samples are missing")


UNICODE = {"plain": "mod_plain.py", "café_über": "mod_été.py", "zażółć_漢字": "mod_漢字.py",
           "wide_𠀀𠜎": "mod_🐍.py"}


def unicode_names(run):
    found = {name: os.path.basename(file) for name, file, _ in callees(run)}
    run.expect(found == UNICODE, "functions and files: %r" % found)
    folded = run.recording.export("folded")
    for name, file in UNICODE.items():
        run.expect("%s (%s:" % (name, file) in folded, "not in folded output: %s (%s" % (name, file))
    page = run.recording.export("flamegraph")
    run.expect(page.encode("utf-8", "surrogateescape").decode("utf-8"), "the page is empty")


def long_names(run):
    found = callees(run)
    run.expect(len(found) == 2, "%d functions instead of 2" % len(found))
    path = re.search(r"^@path (.*)$", run.stdout, re.M).group(1)
    for name, file, _ in found:
        run.expect(os.path.basename(file) == "tail_mod.py", "base name lost: %s" % file[-40:])
        run.expect(file == path or "…" in file, "a cut path is not marked")
        run.expect(re.search(r"n_(one|two)$", name) or "…" in name, "a cut name is not marked")
    folded = [line for line in lines_of(run.recording.export("folded")) if "tail_mod.py:" in line]
    run.expect(len({re.search(r"n[^;]*tail_mod.py:\d+", line).group() for line in folded}) == 2,
               "not two functions in folded output")


def folded_delimiters(run):
    total, shares = 0, collections.Counter()
    for line in lines_of(run.recording.export("folded")):
        stack, _, count = line.rpartition(" ")
        run.expect(stack and re.fullmatch(r"[0-9]+", count), "not a folded line: %r" % line[:80])
        frames = stack.split(";")
        run.expect(all(frames), "an empty frame in %r" % line[:80])
        if "spin (target.py" in frames[-1] and count.isdigit():
            run.expect(len(frames) == 3, "%d frames in %r" % (len(frames), line[:80]))
            total += int(count)
            shares[frames[1]] += int(count)
    run.expect(len(shares) == 5, "callees in folded output: %r" % sorted(shares))
    for name, count in shares.items():
        run.expect(0.14 <= count / total <= 0.26, "%r has %.3f" % (name, count / total))


def markup(run):
    names = {name for name, _, _ in callees(run)}
    run.expect(len(callees(run)) == 7, "callees: %r" % names)
    for name in ("</script><script>alert(1)</script>", "a\"b'c\\d", "&amp; <b> ]]>", "${HOME}`id`%s%n"):
        run.expect(name in names, "missing or changed: %r" % name)
    page = run.recording.export("flamegraph")
    run.expect("<script>alert(1)" not in page, "the page holds a foreign script")
    run.expect("lambda" in page and "genexpr" in page, "the page lost <lambda> or <genexpr>")
    text = run.recording.report() + run.recording.export("folded") + run.recording.stderr
    run.expect("\x1b" not in text and "\x01" not in text, "a raw control byte in text for people")


def same_name(run):
    found = callees(run)
    twins = {file for name, file, _ in found if os.path.basename(file) == "twin.py"}
    run.expect(len(twins) == 2, "files called twin.py: %r" % sorted(twins))
    rows = {(name, file, line) for name, file, line in found if plain_name([0, name]) == "run"}
    run.expect(len(rows) == 6, "functions called run: %r" % sorted(rows))


def one_naming_style(run):
    names = {frame[1] for sample in run.samples() for frame in python_frames(sample)
             if os.path.basename(frame[2]) == "target.py"}
    qualified = run.python_version >= (3, 11)
    run.expect(("by_nested.<locals>.part" in names) == qualified and ("part" in names) != qualified,
               "names of a mixed style: %r" % sorted(names))


def dynamic_symbols(path):
    text = subprocess.run(["nm", "-D", path], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True).stdout
    return {line.split()[-1].split("@")[0] for line in text.splitlines() if line.split()}


def interpreter_files(python):
    """The file that holds the interpreter: its shared library, or the executable itself."""
    maps = subprocess.run([python, "-c", "print(open('/proc/self/maps').read())"],
                          stdout=subprocess.PIPE, text=True).stdout
    files = set(re.findall(r"(/\S*/libpython\S*\.so\S*)$", maps, re.M))
    return files or {os.path.realpath(python)}


def stripped(run):
    known = {"_start"}.union(  # that name the file's header gives
        *map(dynamic_symbols, interpreter_files(run.python) | {os.path.realpath(run.python)}))
    main = run.roles["main"][0][0]
    wrong = {frame[1] for sample in run.samples() for frame in native_frames(sample)
             if sample["pid"] == main and re.match(r"libpython|python-copy", os.path.basename(frame[2]))
             and frame[1].replace("@plt", "") not in known and "0x" not in frame[1]}
    run.expect(not wrong, "native names that a stripped file does not have: %r" % sorted(wrong)[:5])


def embedded(run):
    host = run.roles["host"][0]
    mine = [sample for sample in run.samples("--samples") if sample["pid"] == host[0]]
    run.expect(not any(python_frames(sample) for sample in mine if sample["tid"] == host[1]),
               "the host's main thread has Python frames")
    native = weight([s for s in mine if s["tid"] == host[1] and
                     any(frame[1] == "native_work" for frame in native_frames(s))])
    run.expect(native > 0.95 * weight([s for s in mine if s["tid"] == host[1]]),
               "%d samples in native_work" % native)
    times = [sample["t"] for sample in mine if "main" in map(plain_name, python_frames(sample))]
    began = run.watch.seen.get("main", 0) - run.recording_start()
    run.expect(times and min(times) <= began + 1.0, "first Python stack at %r, @main at %.2f s" % (
        times and min(times), began))


def outer_pids(run):
    found = {}
    for name in ("in_alpha", "in_beta", "in_gamma"):
        found[name] = {sample["pid"] for sample in samples_with(run, name)}
        run.expect(len(found[name]) == 1, "%s has pids %r" % (name, found[name]))
    pids = set().union(*found.values())
    run.expect(len(pids) == 3 and 1 not in pids, "pids are not the outer ones: %r" % found)
    for name, own in found.items():
        of_it = [sample for sample in run.samples() if sample["pid"] in own]
        working = [sample for sample in of_it if {name, "second_thread"} &
                   {plain_name(frame) for frame in python_frames(sample)}]
        run.expect(weight(working) > 0.6 * weight(of_it), "%s: %d of %d samples are in its functions" % (
            name, weight(working), weight(of_it)))


def only_beta(run):
    names = {plain_name(frame) for sample in run.samples() for frame in python_frames(sample)}
    run.expect({"in_beta", "second_thread"} <= names, "beta's functions are missing: %r" % names)
    run.expect(not {"in_alpha", "in_gamma"} & names, "others' functions in it: %r" % names)


def inside_namespace(run):
    run.expect("@prof_exit pid=0 status=0" in run.stdout, "profiler: %s" % run.stderr[-300:])


def prefork(run):
    for worker in ("w0", "w1", "w2"):
        run.expect(run.weight_of(worker) > 0, "no samples of %s" % worker)
    first = run.roles["w1"][0][0]
    run.expect(any(sample["pid"] != first for sample in samples_with(run, "worker_1")),
               "the second process of w1 is missing")


def parent_only(run):
    parent = run.roles["main"][0][0]
    others = {sample["pid"] for sample in run.samples()} - {parent}
    run.expect(not others, "pids that nobody asked for: %r" % others)


def gunicorn(run):
    master = run.roles["master"][0][0]
    workers = {pid for pid, _ in run.roles.get("worker", [])}
    for sample in samples_with(run, "app"):
        if sample["pid"] not in workers:
            run.expect(False, "app runs in pid %d, workers are %r" % (sample["pid"], workers))
            break
        frames = python_frames(sample)
        run.expect(frames[0][1] in ("<module>", "_run_module_as_main") and any("gunicorn" in frame[2] for frame in frames),
                   "a worker's stack without gunicorn: %r" % [frame[1] for frame in frames][:6])
    mine = weight([s for s in run.samples() if s["pid"] == master and
                   any(plain_name(f) in ("view_a", "view_b") for f in python_frames(s))])
    run.expect(mine == 0, "%d samples of views carry the master's pid" % mine)


def late_threads(run):
    first = {}
    for name in ("thr_0", "thr_1", "thr_2"):
        times = [sample["t"] for sample in samples_with(run, name, "--samples")]
        if run.expect(times, "no sample of %s" % name):
            first[name] = min(times)
    if len(first) == 3:
        for later, earlier in (("thr_1", "thr_0"), ("thr_2", "thr_1")):
            gap = first[later] - first[earlier]
            run.expect(abs(gap - 0.2 * run.seconds) < 0.25, "%s begins %.2f s after %s" % (
                later, gap, earlier))


def native_threads(run):
    holder = run.roles["holder"][0]
    mine = [sample for sample in run.samples() if (sample["pid"], sample["tid"]) == holder]
    run.expect(weight(mine) > 0, "no samples of holder")
    run.expect(not any(python_frames(sample) for sample in mine), "holder has Python frames")


def close_to(run, got, want, what):
    run.expect(abs(got - want) <= 0.1 * want, "%s: %.3f s sampled, %.3f s of CPU" % (what, got, want))


def one_of_three(run):
    """Whichever thread of the three interpreters computes, it is seen in its own function."""
    wanted = {"main_part", "inside_x", "inside_y"}
    working = [sample for sample in run.samples() if
               any(plain_name(frame) == "spin" for frame in python_frames(sample))]
    right = [sample for sample in working if
             len(wanted & {plain_name(frame) for frame in python_frames(sample)}) == 1]
    run.expect(weight(right) == weight(working) > 0.8 * run.rate * run.cpu("main"),
               "%d of %d, %.2f s of CPU" % (weight(right), weight(working), run.cpu("main")))
    # native frames: what called the subinterpreter is outside of its Python frames
    inside = [sample for sample in working if {"inside_x", "inside_y"} &
              {plain_name(frame) for frame in python_frames(sample)}]
    parts = ("other interpreter", "PyEval_EvalCode", "<module>")
    ordered = [sample for sample in inside if [name for name, _ in itertools.groupby(
        plain_name(frame) for frame in sample["frames"] if plain_name(frame) in parts)] == list(parts)]
    run.expect(weight(ordered) >= 0.99 * weight(inside), "%d of %d in order, e.g. %s" % (
        weight(ordered), weight(inside), json.dumps([s["frames"] for s in inside if s not in ordered][:1])))


def sleepers(run):
    seen = weight(samples_with(run, "asleep"))
    run.expect(seen <= 0.005 * weight(run.samples()), "%d samples of tasks that sleep" % seen)


def weight_is_cpu(run):
    close_to(run, run.weight_of("main") / run.rate, run.cpu("main"), "main")


def weight_is_done_cpu(run):
    used = float(re.search(r"^@done cpu=([\d.]+)", run.stdout, re.M).group(1))
    close_to(run, run.weight_of("main") / run.rate, used, "main")


def interleaved(run):
    # an overflow while the interpreter links a frame may leave a stack whose order is not known, and
    # that says so: some in a million
    unknown = [sample for sample in run.samples()
               if ["x", "native order not known"] in [frame[:2] for frame in sample["frames"]]]
    shown = [sample for sample in run.samples() if sample not in unknown and
             any(frame[1].startswith("_PyEval_EvalFrameDefault") for frame in native_frames(sample))]
    run.expect(not shown, "the interpreter's evaluation frames are shown: %s" % json.dumps(shown[:1]))
    run.expect(weight(unknown) <= 2, "the order is not known: %s" % json.dumps(unknown[:1]))
    no_trampolines(run)


def dark_library(run):
    inside = [sample for sample in run.samples()
              if any(frame[1] == "dark_leaf" for frame in native_frames(sample))]
    run.expect(weight(inside) > 0, "no sample in dark_leaf")
    whole = [sample for sample in inside if [plain_name(f) for f in python_frames(sample)] ==
             ["<module>", "stay_inside"]]
    run.expect(weight(whole) >= 0.99 * weight(inside), "dark_leaf without its Python frames")


def own_output(run):
    run.expect(run.stdout.startswith("@main pid="), "stdout of the program: %r" % run.stdout[:80])
    run.expect(run.weight_of("main") > 0.9 * run.rate * run.cpu("main"), "samples are missing")
    if run.variant.argv == ("raise",):
        run.expect("SystemError: as asked" in run.stderr, "the program's stderr is not there")


def interrupted(run):
    signal = run.variant.env["SIG"]
    status, seconds = re.search(r"@prof_exit pid=\d+ status=(\S+) seconds=(\S+)", run.stdout).groups()
    run.expect(int(status) == (-9 if signal == "KILL" else 0), "status %s" % status)
    run.expect(float(seconds) < 2, "ended %s s after the signal" % seconds)
    state = re.search(r"@target_state pid=\d+ state=(.?)", run.stdout).group(1)
    run.expect(state in ("R", "S"), "state of the target: %r" % state)
    run.expect(re.search(r"@target_exit pid=\d+ status=0", run.stdout), "the target did not end well")
    last = max([sample["t"] for sample in run.samples("--samples")] or [0.0])
    run.expect(last > (0.4 if signal == "KILL" else 1.2), "the last sample is at %.2f s" % last)
    start = run.recording_start()
    used = run.watch.used(run.roles["main"][0], start, start + last)
    lasting = weight(run.samples()) / run.rate
    run.expect(abs(lasting - used) < 0.15, "%.2f s of samples, %.2f s of CPU" % (lasting, used))


def mixed_children(run):
    for role in ("main", "grandchild"):
        run.expect(run.weight_of(role) > 0, "no samples of %s" % role)
    run.expect(len(run.stderr.splitlines()) < 12, "messages: %s" % run.stderr[:300])


def greenlets(run):
    """Native frames of a greenlet begin at greenlet's own; those of the first one at the thread's start."""
    for sample in run.samples():
        names = [plain_name(frame) for frame in python_frames(sample)]
        if names[-1:] != ["spin"]:
            continue
        marks = [frame[1] for frame in sample["frames"] if frame[0] == "x"]
        files = [os.path.basename(frame[2]) for frame in native_frames(sample)]
        if names[0] == "<module>":
            run.expect(marks != ["greenlet"] and not any("greenlet" in file for file in files),
                       "the first greenlet has frames of another: %r" % sample["frames"])
        else:
            run.expect(marks == ["greenlet"] and sample["frames"][0][:2] == ["x", "greenlet"] and
                       "greenlet" in files[0], "not a greenlet of its own: %r" % sample["frames"])


def short_lived(run):
    children = int(re.search(r"^@done children=(\d+)", run.stdout, re.M).group(1))
    # 0.15 s each by the clock; on a busy machine they get less, which the kernel tells
    seconds = min(0.15 * children, run.watch.children[run.roles["main"][0]])
    share = weight(samples_with(run, "brief_job")) / run.rate / seconds
    run.expect(share >= 0.5, "FAIL share of the children's work: %.2f" % share)
    # of all of their CPU time, the start of their interpreters included
    pids = {sample["pid"] for sample in samples_with(run, "brief_job")}
    known = [sample for sample in run.samples() if sample["pid"] in pids and python_frames(sample)]
    seen = weight(known) / run.rate / run.watch.children[run.roles["main"][0]]
    run.expect(seen >= 0.75, "FAIL share of the children's CPU time with Python frames: %.2f" % seen)
    run.expect(len(run.stderr.splitlines()) < 12, "messages: %s" % run.stderr[:300])


def disk_full(run):
    ends = re.findall(r"^@prof_exit pid=0 status=(\d+)", run.stdout, re.M)
    run.expect(len(ends) == 3 and "0" not in ends, "status: %r" % ends)
    for words in (r"/out.*No space left on device", r"/dev/full", r"no/such/folder.*No such file"):
        run.expect(re.search(words, run.stderr), "not said: %s in %s" % (words, run.stderr[-400:]))


def no_privilege(run):
    end = re.search(r"^@prof_exit pid=0 status=(\d+) out=(\S+)", run.stdout, re.M)
    run.expect(end and end.group(1) != "0", "status: %s" % (end and end.group()))
    run.expect(end and end.group(2) == "none", "an output was left")
    run.expect(re.search(r"CAP_BPF.*CAP_PERFMON|CAP_PERFMON.*CAP_BPF", run.stderr, re.S),
               "the capabilities are not named: %s" % run.stderr[-300:])
    run.expect("libbpf" not in run.stderr, "lines of libbpf: %s" % run.stderr[-300:])


def time_axis(run):
    def times(name):
        return [sample["t"] for sample in samples_with(run, name, "--samples")] or [0.0]

    run.expect(max(times("phase_one")) <= min(times("phase_two")), "phases overlap")
    late = min(times("latecomer")) - min(times("phase_one"))
    run.expect(abs(late - run.seconds / 2) < 0.3, "latecomer begins %.2f s after the start" % late)
    early = max(times("early_bird")) - min(times("phase_one"))
    run.expect(abs(early - run.seconds / 2) < 0.3, "early ends %.2f s after the start" % early)


def many_stacks(run):
    stacks = [sample for sample in run.samples() if python_frames(sample)]
    run.expect(len(stacks) > 0.5 * weight(stacks), "%d stacks in %d samples" % (
        len(stacks), weight(stacks)))
    page = run.recording.export("flamegraph")
    run.expect(page.rstrip().endswith("</html>"), "the page is not whole")


def large_events(run):
    depths = {len(python_frames(sample)) for sample in samples_with(run, "busy")}
    run.expect(depths == {122}, "Python frames: %r" % depths)
    folded = [line for line in lines_of(run.recording.export("folded")) if "busy (target.py" in line]
    run.expect(folded and all(line.count(" (large.py:") == 120 for line in folded),
               "frames of large.py in folded output: %r" % [l.count(" (large.py:") for l in folded])


def undisturbed(run):
    for word in ("eintr=0", "short_sleep=0"):
        run.expect(re.search(r"@done .*\b%s\b" % word, run.stdout), "not %s: %s" % (
            word, run.stdout.split("@done")[-1][:100]))
    run.expect(not re.search(r"@done .*\bfork=0\b", run.stdout), "no fork")


def odd_paths(run):
    pids = collections.defaultdict(int)
    native = collections.defaultdict(int)
    for sample in samples_with(run, "main"):
        files = {frame[2] for frame in python_frames(sample)}
        if not any(os.path.basename(file) == "target.py" for file in files):
            continue
        pids[sample["pid"]] += sample.get("w", 1)
        native[sample["pid"]] += sum(bool(re.match(r"[A-Za-z_]", frame[1])) and "0x" not in frame[1]
                                     for frame in native_frames(sample))
        run.expect(len(files) == 1 and "/" in min(files), "file names: %r" % files)
    total = sum(pids.values())
    run.expect(len(pids) == 4 and all(0.15 <= count / total <= 0.35 for count in pids.values()),
               "samples by pid: %r" % dict(pids))
    run.expect(all(native[pid] for pid in pids), "native names by pid: %r" % dict(native))
    for line in lines_of(run.recording.export("folded")):
        run.expect(re.search(r" \d+$", line), "not a folded line: %r" % line[:80])


def without_file(run):
    files = {plain_name([0, name]): file for name, file, _ in callees(run)}
    run.expect(files.get("in_string") == "<string>", "in_string: %r" % files.get("in_string"))
    run.expect(os.path.basename(files.get("in_far", "")) == "far.py", "in_far: %r" % files.get("in_far"))
    run.expect(files.get("in_zip", "").endswith("/pack.zip/zipped_mod.py"), "in_zip: %r" % files.get("in_zip"))
    run.expect(files.get("in_gone", "").endswith("/gone_mod.py"), "in_gone: %r" % files.get("in_gone"))
    for line in lines_of(run.recording.export("folded")):
        run.expect(";;" not in line and not line.startswith(";"), "an empty frame: %r" % line[:80])


def no_trampolines(run):
    shown = {frame[1] for sample in run.samples() for frame in sample["frames"]
             if frame[1].startswith("py::")}
    run.expect(not shown, "trampolines are shown: %r" % sorted(shown)[:3])


def attach_twice(run):
    ends = re.findall(r"^@prof_exit pid=0 run=(\w+) status=(\d+)", run.stdout, re.M)
    run.expect(sorted(ends) == [(name, "0") for name in ("first", "left", "right", "second")],
               "runs: %r" % ends)
    for name in ("first", "second", "left", "right"):
        recording = run.recording_of(os.path.join(run.work, name))
        last = max(sample["t"] for sample in recording.samples("--samples"))
        start = run.recording_start(recording)
        used = run.watch.used(run.roles["main"][0], start, start + last)
        got = weight(recording.samples()) / run.rate
        run.expect(last > 1.8 and abs(got - used) < 0.15, "%s: %.2f s sampled, %.2f s of CPU, to %.2f s" % (
            name, got, used, last))
        run.judge(recording, name)
    left, deadline = rec.bpf_programs(), time.monotonic() + 5
    left -= rec.bpf_programs_held()
    while left and time.monotonic() < deadline:  # the kernel frees them a moment later
        time.sleep(0.2)
        left &= rec.bpf_programs() - rec.bpf_programs_held()
    run.expect(not left, "kernel programs left behind: %r" % left)
