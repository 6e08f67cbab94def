# SPDX-License-Identifier: MIT
"""Files of containers: an interpreter of the container's own, deleted, replaced, behind links."""
import os
import shutil
import subprocess

import recording as rec
from container import Container, by_function, hex_id, mount, python_mounts


def own_interpreter(context, root):
    """Copies the interpreter (and its shared library) into a root; gives (command's path, its env)."""
    code = ("import sys, sysconfig as s; print(sys.base_prefix); print(s.get_config_var('LIBDIR') or ''); "
            "print(s.get_config_var('INSTSONAME') or '')")
    prefix, folder, library = subprocess.run([context.python, "-c", code], stdout=subprocess.PIPE, text=True,
                                             check=True).stdout.split("\n")[:3]
    os.makedirs(os.path.join(root, "opt"))
    if ".so" in library and os.path.exists(os.path.join(folder, library)):
        shutil.copy(os.path.join(folder, library), os.path.join(root, "opt"))
    shutil.copy(os.path.realpath(context.python), os.path.join(root, "opt", "python3"))
    return "/opt/python3", ["PYTHONHOME=" + prefix, "LD_LIBRARY_PATH=/opt"]


def start(context, name):
    root = context.file("root-" + name)
    command, env = own_interpreter(context, root)
    return Container(context, "sdwtest-%s-%s" % (name, hex_id()[:8]), [command, "/srv/service.py", name, "60"],
                     root=root, env=env, mounts=python_mounts(context)).wait_for("@" + name)


def expect(context, container, name):
    recording = context.record_well("-F", "499", "-d", "1", "--container", container.id)
    found = by_function(recording.samples())
    assert {name, name + "_thread"} <= set(found), sorted(found)
    assert recording.summary["status"]["no_python"] == 0, recording.summary["status"]
    native = {frame[2] for sample in recording.samples() for frame in sample["frames"] if frame[0] == "n"}
    assert any("python" in file for file in native), native


def test_an_interpreter_that_was_deleted(context):
    with start(context, "deleted") as container:
        shutil.rmtree(os.path.join(container.root, "opt"))
        expect(context, container, "deleted")


@rec.slow
def test_an_interpreter_that_was_replaced_by_something_else(context):
    with start(context, "replaced") as container:
        folder = os.path.join(container.root, "opt")
        for file in os.listdir(folder):
            os.unlink(os.path.join(folder, file))
            with open(os.path.join(folder, file), "w") as other:
                other.write("no ELF file")
        expect(context, container, "replaced")


def test_a_root_full_of_links_leads_nowhere_else(context):
    with start(context, "linked") as container:
        # the container's own files become links out of it: absolute, by .., and to a device
        folder = os.path.join(container.root, "opt")
        for file in os.listdir(folder):
            os.unlink(os.path.join(folder, file))
            os.symlink("/../../../../etc/shadow", os.path.join(folder, file))
        os.makedirs(os.path.join(container.root, "tmp"))
        os.symlink("/dev/zero", os.path.join(container.root, "tmp", "perf-1.map"))
        expect(context, container, "linked")
