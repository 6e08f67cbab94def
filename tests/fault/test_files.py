# SPDX-License-Identifier: MIT
"""Files of a target that are not what they were, or what they seem (RELIABILITY 03)."""
import ctypes
import glob
import os
import re
import shutil
import subprocess
import time

import recording as rec
import tools


def library_of(python):
    """The libpython that an interpreter is linked with, or None."""
    prefix = os.path.dirname(os.path.dirname(python))
    found = glob.glob(os.path.join(prefix, "lib", "libpython3.*.so.1.0"))
    return found[0] if found else None


def start_private(context, python, folder, seconds):
    """Starts spin.py with a copy of the interpreter, and of its library, that lies in `folder`."""
    os.makedirs(folder)
    environment = ["PYTHONHOME=" + os.path.dirname(os.path.dirname(python))]
    if library_of(python):  # what is preloaded is taken before any path that the program names
        environment.append("LD_PRELOAD=" + shutil.copy(library_of(python), folder))
    process = tools.start(context, ["env", *environment, shutil.copy(python, folder),
                                    *context.target("spin.py", seconds)[1:]])
    mapped = rec.read_text("/proc/%d/maps" % process.pid)
    assert folder.split("\n")[0] in mapped, "the copy does not run"
    assert not library_of(python) or library_of(python) not in mapped, "not the copy's library"
    return process


def replace(path, how):
    if how == "truncated":
        with open(path, "rb") as file:
            start = file.read(5000)
    os.unlink(path)
    if how == "fifo":
        os.mkfifo(path)
    elif how == "folder":
        os.mkdir(path)
    elif how == "garbage":
        with open(path, "wb") as file:
            file.write(os.urandom(100000))
    elif how == "truncated":
        with open(path, "wb") as file:
            file.write(start)


@rec.slow
def test_0302_0303_interpreter_whose_path_is_something_else_now(context):
    for how in ("fifo", "folder", "garbage", "truncated"):
        folder = context.file("python-" + how)
        target = start_private(context, context.python, folder, 1.2)
        for path in glob.glob(folder + "/*"):
            replace(path, how)
        recording = context.record("-F", "499", "-p", str(target.pid), timeout=120)
        assert recording.status == 0 and not recording.faults(), (how, recording.stderr, recording.faults())
        assert "heavy" in tools.functions(recording.samples()), "%s: %r" % (how, recording.summary)
        assert target.wait(120) == 0


def test_0303_file_that_is_cut_while_it_is_mapped(context):
    library = context.file("cut.so")
    shutil.copy(glob.glob("/lib/*-linux-gnu/libm.so.6")[0], library)
    code = ("import ctypes, os, time; ctypes.CDLL(%r); os.truncate(%r, 3000); print('@main', flush=True)\n"
            "def work():\n    end = time.process_time() + 1\n    while time.process_time() < end: pass\nwork()"
            % (library, library))
    target = tools.start(context, [context.python, "-c", code])
    recording = context.record_well("-F", "499", "-p", str(target.pid))
    assert "work" in tools.functions(recording.samples())


def test_0307_mapped_names_with_every_character(context):
    static = [python for _, python in rec.interpreters() if not library_of(python)]
    if not static:
        raise rec.Skip("no interpreter without libpython")
    folder = context.file("a b\nc;\x1b[1m (deleted)")
    target = start_private(context, static[-1], folder, 1)
    recording = context.record_well("-F", "499", "-p", str(target.pid))
    samples = recording.samples()
    assert "heavy" in tools.functions(samples), recording.summary
    text = subprocess.run(["babeltrace2", recording.trace], stdout=subprocess.PIPE, text=True).stdout
    assert "a b\\nc;\\e[1m (deleted)/python3" in text, "its name is lost"
    assert "\x1b" not in recording.report("--by=module", "--limit=0")
    assert not re.search(r"\n *c;", recording.report("--by=file", "--limit=0"))


def test_0308_thread_names_with_every_byte(context):
    comm = b") R 1 (x\n\x1b[2J\xff;"
    code = ("import ctypes, time; ctypes.CDLL(None).prctl(15, %r)\nprint('@main', flush=True)\n"
            "def work():\n    end = time.process_time() + 1\n    while time.process_time() < end: pass\nwork()" % comm)
    target = tools.start(context, [context.python, "-c", code])
    recording = context.record_well("-F", "499", "-p", str(target.pid))
    assert "work" in tools.functions(recording.samples())
    comms = {sample["comm"] for sample in recording.samples()}
    assert comms == {") R 1 (x\n\x1b[2J\\xff;"}, comms
    for by in ("thread", "process"):
        assert "\x1b" not in recording.report("--by=" + by)
    folded = recording.export("folded", "--threads", "--processes")
    total = sum(int(line.rpartition(" ")[2]) for line in folded.split("\n")[:-1])
    assert total == recording.summary["samples"], folded[:300]
    done = subprocess.run(["babeltrace2", recording.trace], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert done.returncode == 0 and not done.stderr, done.stderr[:300]


@rec.slow
def test_0309_perf_maps_that_must_not_be_believed(context):
    for how in ("good", "fifo", "link", "foreign", "huge"):
        began = time.monotonic()
        recording = context.record("-F", "499", "--", *context.target("generated.py", how, context.file("victim")),
                                   timeout=120)
        assert recording.status == 0 and not recording.faults(), (how, recording.stderr)
        assert time.monotonic() - began < 100, "%s took %.0f s" % (how, time.monotonic() - began)
        believed = "believed" in tools.functions(recording.samples(), "n")
        assert believed == (how == "good"), "%s: the map was %s" % (how, "believed" if believed else "not read")
