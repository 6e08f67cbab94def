# SPDX-License-Identifier: MIT
"""sidewinder dump: stacks, states, names and values are those that the target says it has."""
import json
import os
import signal
import subprocess

import recording as rec

PROCESS_KEYS = {"pid", "comm", "command", "python", "interpreters", "threads"}
THREAD_KEYS = {"tid", "inner_tid", "comm", "name", "state", "syscall", "certainty", "holds_gil",
               "waits_for_gil", "interpreters", "python_status", "native", "frames"}


def start(context, name, since=(3, 6)):
    """Starts targets/NAME; gives the process and what it printed before "ready"."""
    if context.python_version < since:
        raise rec.Skip("needs CPython %d.%d" % since)
    process = context.start_target(name)
    lines = [process.first_line]
    while lines[-1] != "ready\n":
        assert lines[-1], "the target ended: %r" % lines
        lines.append(process.stdout.readline())
    return process, "".join(lines[:-1])


def dump(context, *arguments):
    done = context.profiler.run("dump", "--json", *map(str, arguments))
    assert not done.stderr, done.stderr
    return json.loads(done.stdout)["processes"]


def by_name(process):
    return {thread["name"]: thread for thread in process["threads"]}


def python_frames(thread):
    return [[frame["name"], frame["file"], frame["line"]] for frame in thread["frames"]
            if frame["kind"] == "python"]


def native_names(thread):
    return [frame["name"] for frame in thread["frames"] if frame["kind"] == "native"]


def markers(thread):
    """What is not known of a stack; where it ends because of a register that only stopping tells is no fault."""
    return [frame["name"] for frame in thread["frames"]
            if frame["kind"] == "marker" and frame["name"] != "[native stack ends]"]


def asleep(context, process, count):
    """Waits until so many threads sleep at two looks: nothing moves any more."""
    def look():
        threads = dump(context, process.pid)[0]["threads"]
        return len(threads) == count and all(
            thread["certainty"] == "exact" and thread["state"] == "sleeping" for thread in threads)
    rec.wait_for(look, what="sleep of all threads")


SPINS = ["spin", "outer", "<module>"]


def spinning(context, process, certainty=("moving", "torn", "sampled")):
    """Waits until the thread of spins.py is where it stays; gives its dump."""
    def look():
        thread = dump(context, process.pid)[0]["threads"][0]
        here = [frame[0] for frame in python_frames(thread)] == SPINS
        return thread if here and thread["certainty"] in certainty else None
    return rec.wait_for(look, 30, "dump that is " + " or ".join(certainty))


@rec.telling
def test_stacks_of_sleeping_threads_are_those_the_interpreter_says(context, python):
    process, printed = start(context, "threads.py")
    stacks = json.loads(printed)["stacks"]
    asleep(context, process, 10)
    threads = by_name(dump(context, process.pid)[0])
    assert set(threads) == set(stacks) | {"MainThread"}, threads.keys()
    for name, stack in stacks.items():
        assert python_frames(threads[name]) == stack, (name, python_frames(threads[name]), stack)
        assert threads[name]["python_status"] == "complete"
        assert not markers(threads[name]), (name, markers(threads[name]))
    assert "recv" in native_names(threads["in_socket"]), native_names(threads["in_socket"])
    expected = {"in_socket": "recvfrom", "in_lock": "futex", "in_call_without_gil": "clock_nanosleep"}
    for name, syscall in expected.items():
        assert threads[name]["syscall"] == syscall, (name, threads[name]["syscall"])
    assert not any(thread["holds_gil"] or thread["waits_for_gil"] for thread in threads.values())


def test_native_frames_lie_between_the_python_frames_that_they_join(context, python):
    process, _ = start(context, "threads.py")
    asleep(context, process, 10)
    names = [frame["name"] for frame in by_name(dump(context, process.pid)[0])["in_sort"]["frames"]]
    if "[native stack ends]" in names:
        raise rec.Skip("the native stack needs a register that only stopping tells")
    at = next(i for i, name in enumerate(names) if name.endswith("__lt__"))
    end = names.index("in_sort")
    assert end > at + 1, names
    if not any(name.startswith("0x") for name in names):  # symbols are there
        assert {"list_sort_impl", "list_sort", "listsort"} & set(names[at:end]), names


@rec.telling
def test_locals_are_as_repr_has_them(context, python):
    process, printed = start(context, "threads.py")
    asleep(context, process, 10)
    threads = by_name(dump(context, "--locals", process.pid)[0])
    frame = next(frame for frame in threads["in_lock"]["frames"] if frame["name"] == "in_lock")
    assert frame["locals"] == json.loads(printed)["locals"], frame["locals"]
    frame = next(frame for frame in threads["long_values"]["frames"] if frame["name"] == "long_values")
    assert frame["locals"] == {
        "text": "'%s'\u2026" % ("x" * 80),
        "items": "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, \u2026]",
        "nested": "[[[[\u2026]]]]",
        "number": "<int of about 2010 bits>",
    }, frame["locals"]


def test_nobody_is_woken_or_traced(context):
    process, _ = start(context, "threads.py")
    asleep(context, process, 10)

    def counters():
        found = {}
        for tid in os.listdir("/proc/%d/task" % process.pid):
            text = rec.read_text("/proc/%d/task/%s/status" % (process.pid, tid))
            found[tid] = [line for line in text.splitlines()
                          if line.startswith(("voluntary", "nonvoluntary", "TracerPid"))]
        return found
    before = counters()
    dump(context, "--locals", process.pid)
    assert counters() == before, (before, counters())


def test_the_collector_runs_and_its_callback_is_on_the_stack(context, python):
    process, _ = start(context, "threads.py")
    asleep(context, process, 10)
    found = dump(context, process.pid)[0]
    assert found["interpreters"] == [
        {"id": 0, "gil_holders": [], "gil_waiters": [], "gc_running": True if context.python_version > (3, 6) else None}], found["interpreters"]


def test_holder_and_waiters_of_the_gil(context, python):
    if "t" in context.version:
        raise rec.Skip("has no GIL")
    process, _ = start(context, "gil.py", (3, 7))

    def look():
        found = dump(context, process.pid)[0]
        threads = by_name(found)
        gil = found["interpreters"][0]
        waiters = [threads[name]["tid"] for name in ("waiter-0", "waiter-1") if name in threads]
        return "keeper" in threads and gil["gil_holders"] == [threads["keeper"]["tid"]] and \
            gil["gil_waiters"] == sorted(waiters) and len(waiters) == 2
    rec.wait_for(look, 20, "one holder and two waiters")


def test_frames_of_subinterpreters_are_inside_those_of_the_main_one(context, python):
    process, _ = start(context, "subinterpreters.py", (3, 8))
    asleep(context, process, 3)
    found = dump(context, process.pid)[0]
    assert [interpreter["id"] for interpreter in found["interpreters"]] == [0, 1, 2]
    threads = by_name(found)
    identities = set()
    for name in "first", "second":
        inner, outer = threads[name]["interpreters"]
        assert outer == 0 and inner in (1, 2), threads[name]["interpreters"]
        identities.add(inner)
        names = [frame[0] for frame in python_frames(threads[name])]
        assert names[:3] == ["inside", "<module>", "enter"], names
        assert not markers(threads[name]), (name, markers(threads[name]))
    assert identities == {1, 2}
    assert threads["MainThread"]["interpreters"] == [0]


@rec.telling
def test_frames_are_those_of_the_walk_in_the_kernel(context, python):
    process, _ = start(context, "wakes.py", (2, 7))
    recording = context.record_well("-e", "context-switches", "-c", "1", "-d", "1", "-p",
                                    str(process.pid))
    recorded = {json.dumps(sample["frames"]) for sample in recording.samples()}

    def look():
        thread = dump(context, process.pid)[0]["threads"][0]
        return thread if thread["certainty"] == "exact" and thread["syscall"] else None
    thread = rec.wait_for(look, what="sleep")
    found = [["p" if frame["kind"] == "python" else "n", frame["name"], frame["file"],
              frame["line"] if frame["kind"] == "python" else 0]
             for frame in reversed(thread["frames"])]
    shown = [[frame[0], frame[1], os.path.basename(frame[2]), frame[3]] for frame in found]
    walked = [[[frame[0], frame[1], os.path.basename(frame[2]), frame[3]]
               for frame in json.loads(text)] for text in recorded]
    ends = next((i for i, frame in enumerate(shown) if frame[1] == "[native stack ends]"), None)
    if ends is not None:  # all Python frames, and the native ones inside of the marker
        inner = shown[ends + 1:]
        shown = [frame for frame in shown[:ends] if frame[0] == "p"] + inner
        walked = [[frame for frame in stack[:-len(inner)] if frame[0] == "p"] + stack[-len(inner):]
                  for stack in walked]
    assert shown in walked, "%s\nnot among\n%s" % (shown, walked)


def test_the_stack_of_a_running_thread_is_taken_in_an_interrupt(context, python):
    process, _ = start(context, "spins.py", (2, 7))
    thread = spinning(context, process, ("sampled",))
    assert thread["state"] == "running" and thread["native"], thread
    assert not markers(thread), thread
    if context.python_version >= (3, 8):
        assert "Py_BytesMain" in native_names(thread), native_names(thread)


@rec.telling
def test_a_stopped_thread_is_exact(context, python):
    process, _ = start(context, "spins.py", (2, 7))
    spinning(context, process)
    os.kill(process.pid, signal.SIGSTOP)

    def look():
        thread = dump(context, process.pid)[0]["threads"][0]
        return thread if thread["state"] == "stopped" else None
    thread = rec.wait_for(look, what="stop")
    assert [frame[0] for frame in python_frames(thread)] == SPINS, thread
    assert thread["certainty"] == "exact" and not markers(thread), thread
    assert thread["holds_gil"] == ("t" not in context.version), thread


def test_a_main_thread_that_has_ended_hides_nothing(context):
    process, _ = start(context, "leaderless.py")

    def look():
        found = dump(context, process.pid)[0]["threads"]
        return found if found[0]["certainty"] == "gone" else None
    leader, other = rec.wait_for(look, what="end of the main thread")
    assert not leader["frames"] and leader["tid"] == process.pid
    assert python_frames(other)[0][0] == "stay" and other["name"] == "stays", other


def test_keys_of_json(context):
    process, _ = start(context, "gil.py")
    found = dump(context, process.pid)[0]
    assert set(found) == PROCESS_KEYS, found.keys()
    assert set(found["python"]) == {"version", "path", "problem"}
    assert found["python"]["version"] == context.version.rstrip("dt") and found["python"]["problem"] is None
    for thread in found["threads"]:
        assert set(thread) == THREAD_KEYS, thread.keys()
        for frame in thread["frames"]:
            assert set(frame) == {"kind", "name", "file", "line"}, frame


def test_several_processes_and_children(context):
    first, _ = start(context, "spins.py")
    second, _ = start(context, "wakes.py")
    found = dump(context, first.pid, "-p", second.pid)
    assert [process["pid"] for process in found] == sorted([first.pid, second.pid])
    shell = subprocess.Popen(["sh", "-c", "sleep 1000 & echo; wait"], stdout=subprocess.PIPE)
    context.processes.append(shell)
    shell.stdout.readline()
    found = dump(context, "--children", shell.pid)
    children = [process for process in found if process["pid"] != shell.pid]
    try:
        assert len(children) == 1 and children[0]["comm"] in ("sleep", "sh"), children
        assert children[0]["python"] is None
    finally:
        for process in children:
            os.kill(process["pid"], 9)


def test_errors_name_what_is_wrong(context):
    def fails(status, words, *arguments):
        done = context.profiler.run("dump", *arguments, check=False)
        assert done.returncode == status and words in done.stderr, (done.returncode, done.stderr)
        assert len(done.stderr.splitlines()) == 1, done.stderr
    fails(2, "of which process?")
    fails(2, "'12x' is not a process id", "12x")
    fails(1, "pid 4194303: No such process", "4194303")
    process, _ = start(context, "gil.py")
    thread = max(map(int, os.listdir("/proc/%d/task" % process.pid)))
    fails(1, "pid 2 is a kernel thread" if rec.read_text("/proc/2/comm") == "kthreadd\n" else "pid", "2")
    fails(1, "is a thread of process %d" % process.pid, str(thread))


def test_own_processes_without_any_right(context):
    if subprocess.run(["sh", "-c", "command -v setpriv"], stdout=subprocess.DEVNULL).returncode:
        raise rec.Skip("no setpriv")
    scope = rec.read_text("/proc/sys/kernel/yama/ptrace_scope").strip()
    as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all"]
    program = context.file("sidewinder")
    subprocess.run(["install", "-m", "0755", context.profiler.path, program], check=True)
    os.chmod(context.work, 0o755)
    sleeper = subprocess.Popen(as_nobody + ["sleep", "1000"])
    context.processes.append(sleeper)
    rec.wait_for(lambda: rec.read_text("/proc/%d/comm" % sleeper.pid) == "sleep\n", what="sleep")
    busy = subprocess.Popen(as_nobody + ["sh", "-c", "while :; do :; done"])
    context.processes.append(busy)
    rec.wait_for(lambda: rec.read_text("/proc/%d/comm" % busy.pid) == "sh\n", what="shell")
    done = subprocess.run(as_nobody + [program, "dump", str(busy.pid)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    if scope in ("", "0"):
        assert done.returncode == 0 and "(sh): running" in done.stdout, done
        assert "its native stack cannot be read while it runs" in done.stdout, done
    other, _ = start(context, "spins.py")
    done = subprocess.run(as_nobody + [program, "dump", str(sleeper.pid)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    if scope in ("", "0"):
        assert done.returncode == 0 and "sleeping in clock_nanosleep" in done.stdout, done
    else:
        assert done.returncode == 1 and "ptrace_scope is %s" % scope in done.stderr, done
    done = subprocess.run(as_nobody + [program, "dump", str(other.pid)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1 and "not permitted to read its memory" in done.stderr, done
    assert "sudo sidewinder dump %d" % other.pid in done.stderr
