# SPDX-License-Identifier: MIT
"""Interpreters that are not where, or not as, one expects them: inside a program, without symbols, deleted."""
import os
import shutil
import subprocess
import zipfile

import recording as rec

SPINNING = ["<module>", "main", "heavy", "spin"]  # three quarters of what targets/spin.py does


def python_names(sample):
    return [frame[1] for frame in sample["frames"] if frame[0] == "p"]


def check_spinning(recording):
    named = [(python_names(sample), sample["w"]) for sample in recording.samples()]
    spinning = sum(weight for names, weight in named if names[-1:] == ["spin"])
    heavy = sum(weight for names, weight in named if names[-4:] == SPINNING)
    assert spinning > 300, "%d samples, %r" % (spinning, recording.summary["status"])
    assert 0.6 < heavy / spinning < 0.9, "heavy: %d of %d" % (heavy, spinning)
    odd = [names for names, _ in named if names[-1:] == ["spin"] and
           names[-4:-2] + names[-1:] != SPINNING[:2] + SPINNING[3:]]
    assert not odd, odd[0]


def variable(python, name):
    return subprocess.check_output(
        [python, "-c", "import sysconfig; print(sysconfig.get_config_var(%r))" % name], text=True).strip()


def static_library():
    """(path, include folder) of an interpreter that can be linked into a program."""
    for version, python in reversed(rec.interpreters()):
        if (3, 10) <= rec.minor_version(version) <= (3, 13):  # they have section .PyRuntime
            path = os.path.join(variable(python, "LIBPL"), "libpython%d.%d.a" % rec.minor_version(version))
            if os.path.exists(path):
                return path, variable(python, "INCLUDEPY")
    raise rec.Skip("no libpython3.*.a here")


def test_an_interpreter_inside_a_program_without_any_symbol_is_found(context):
    library, include = static_library()
    source, program = context.file("host.c"), context.file("host")
    with open(source, "w") as file:
        file.write("#include <Python.h>\nint main(int argc, char **argv)\n"
                   "{\n\treturn Py_BytesMain(argc, argv);\n}\n")
    done = subprocess.run(["cc", "-no-pie", "-s", "-o", program, source, "-I" + include, library, "-lm", "-lz",
                           "-lexpat", "-lpthread", "-ldl", "-lutil"], stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise rec.Skip("it cannot be linked: " + done.stderr.strip().splitlines()[-1])
    check_spinning(context.record_well("-F", "997", "--", program, *context.target("spin.py", 1.5)[1:]))


def test_an_interpreter_deleted_from_disk_is_found(context):
    copy = shutil.copy(context.python, context.file("python-copy"))
    home = subprocess.check_output([context.python, "-c", "import sys; print(sys.base_prefix)"], text=True).strip()
    process = subprocess.Popen([copy, *context.target("spin.py", 20)[1:]], stdout=subprocess.PIPE, text=True,
                               env=dict(os.environ, PYTHONHOME=home))
    context.processes.append(process)
    process.stdout.readline()
    os.unlink(copy)
    check_spinning(context.record_well("-F", "997", "-d", "1.5", "-p", str(process.pid)))


def test_functions_of_a_zip_application_have_its_path(context):
    path = context.file("app.pyz")
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(context.target("spin.py")[1], "__main__.py")
        archive.write(os.path.join(os.path.dirname(context.target("spin.py")[1]), "compat.py"), "compat.py")
    recording = context.record_well("-F", "997", "--", context.python, path, "1.5")
    check_spinning(recording)
    files = {frame[2] for sample in recording.samples() for frame in sample["frames"] if frame[1] == "spin"}
    assert files == {os.path.join(path, "__main__.py")}, files
