# SPDX-License-Identifier: MIT
"""Programs that were made one file or folder, with the interpreter in it, by PyInstaller and Nuitka."""
import glob
import os
import subprocess

import environments
import recording as rec

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "targets")


def built(context, package, *command):
    """Runs a tool of a package on program.py in the test's own folder; Skip if it cannot be had."""
    python = environments.with_package(context.python, context.version, package)
    done = subprocess.run([python, "-m", *command, os.path.join(FOLDER, "program.py")], cwd=context.work,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout[-500:]


def recorded(context, pattern):
    found = glob.glob(context.file(pattern))
    assert len(found) == 1, "%s: %r" % (pattern, found)
    recording = context.record_well("-F", "499", "--", found[0], "2")
    assert not recording.summary["status"]["broken"], recording.summary["status"]
    return recording


def python_names(sample):
    return [frame[1] for frame in sample["frames"] if frame[0] == "p"]


def marks(sample):
    return [frame[1] for frame in sample["frames"] if frame[0] == "x"]


def check_functions(recording):
    """Each sample in the program's functions has all of its callers; both halves were seen."""
    seen = {"compute": 0, "encode": 0}
    for sample in recording.samples():
        names = python_names(sample)
        for name in seen:
            if name in names:
                seen[name] += sample["w"]
                assert names[:3] == ["<module>", "main", name], names
    assert min(seen.values()) > 0.3 * sum(seen.values()) > 30, seen


def check_interpreted(recording):
    """Native frames of a whole interpreter are laid into the Python frames, from the program's start on."""
    for sample in recording.samples():
        if "compute" in python_names(sample):
            assert not marks(sample), sample["frames"]
            assert sample["frames"][0][0] == "n", sample["frames"]


def check_compiled(recording):
    """Nothing is evaluated in compiled functions: Python frames in one piece, native ones in another."""
    for sample in recording.samples():
        names = [frame[:2] for frame in sample["frames"]]
        if "compute" in python_names(sample):
            assert marks(sample) == ["native order not known"], sample["frames"]
            assert ["n", "__libc_start_main"] in names, sample["frames"]


def test_pyinstaller_in_one_file(context):
    built(context, "pyinstaller", "PyInstaller", "--onefile", "--log-level", "ERROR")
    recording = recorded(context, "dist/program")
    check_functions(recording)
    check_interpreted(recording)


def test_pyinstaller_in_a_folder(context):
    built(context, "pyinstaller", "PyInstaller", "--onedir", "--log-level", "ERROR")
    recording = recorded(context, "dist/program/program")
    check_functions(recording)
    check_interpreted(recording)


def test_nuitka_in_a_folder(context):
    built(context, "nuitka", "nuitka", "--standalone", "--assume-yes-for-downloads", "--jobs=2", "--quiet")
    recording = recorded(context, "program.dist/program.bin")
    check_functions(recording)
    check_compiled(recording)


def test_nuitka_in_one_file_that_unpacks_and_starts_another(context):
    built(context, "nuitka", "nuitka", "--onefile", "--assume-yes-for-downloads", "--jobs=2", "--quiet")
    recording = recorded(context, "program.bin")
    check_functions(recording)
    check_compiled(recording)
    main = {sample["pid"] for sample in recording.samples() if "main" in python_names(sample)}
    assert len(main) == 1, "the unpacked program is one process: %r" % main
