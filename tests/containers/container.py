# SPDX-License-Identifier: MIT
"""Containers for tests: runc with a bundle whose root is a folder of this machine's files."""
import json
import os
import shutil
import subprocess
import sys

import recording as rec

HERE = os.path.dirname(os.path.abspath(__file__))
CAPABILITIES = ["CAP_BPF", "CAP_PERFMON", "CAP_SYS_PTRACE", "CAP_DAC_READ_SEARCH",
                "CAP_CHECKPOINT_RESTORE", "CAP_SYSLOG"]


def hex_id():
    return os.urandom(32).hex()


def runc(*arguments, **options):
    return subprocess.run(["runc", *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, **options)


def mount(destination, source=None, options=("rbind", "ro"), kind="bind"):
    return {"destination": destination, "type": kind, "source": source or destination,
            "options": list(options)}


class Container:
    """A container that runs a command; gone at the end of the `with`.

    group: path of its control group; by default runc's own, called after the id.
    denied: system calls that a seccomp filter forbids. pid_of: pid of a process whose pid namespace it shares. host: the host's namespaces, its root.
    """

    def __init__(self, context, id, command, group=None, root=None, pid_of=None, host=False,
                 capabilities=(), mounts=(), env=(), denied=(), cpus=None):
        if not shutil.which("runc"):
            raise rec.Skip("no runc: apt-get install runc")
        self.id = id
        self.folder = context.file("bundle-" + id)
        self.root = root or os.path.join(self.folder, "root")
        os.makedirs(self.root, exist_ok=True)
        os.makedirs(self.folder, exist_ok=True)
        self.log = os.path.join(self.folder, "log")
        namespaces = [{"type": "mount"}]
        if not host:
            namespaces += [{"type": "uts"}, {"type": "ipc"}]
            namespaces.append({"type": "pid", "path": "/proc/%d/ns/pid" % pid_of} if pid_of else
                              {"type": "pid"})
        caps = list(capabilities)
        config = {
            "ociVersion": "1.0.2", "hostname": "test", "root": {"path": self.root, "readonly": False},
            "process": {"terminal": False, "user": {"uid": 0, "gid": 0}, "args": list(command),
                        "env": ["PATH=/usr/bin:/bin", *env], "cwd": "/", "noNewPrivileges": True,
                        "capabilities": {kind: caps for kind in
                                         ("bounding", "effective", "permitted", "inheritable")}},
            "mounts": [mount("/proc", "proc", (), "proc"),
                       mount("/dev", "tmpfs", ("nosuid", "mode=755"), "tmpfs"), *mounts],
            # a group weighs no more than one task beside it, and would starve; more than its three or so
            # tasks weigh would starve the profiler
            "linux": {"namespaces": namespaces, "resources": {"cpu": {"shares": 3072}}},
        }
        if host:
            config.pop("hostname")
        if cpus:
            config["linux"]["resources"]["cpu"]["cpus"] = cpus
        if denied:  # system calls
            config["linux"]["seccomp"] = {"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [
                {"names": list(denied), "action": "SCMP_ACT_ERRNO", "errnoRet": 1}]}
        if group:
            config["linux"]["cgroupsPath"] = group
        with open(os.path.join(self.folder, "config.json"), "w") as file:
            json.dump(config, file)
        with open(self.log, "wb") as out:
            self.process = subprocess.Popen(["runc", "run", "-b", self.folder, id],
                                            stdin=subprocess.DEVNULL, stdout=out, stderr=out)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        runc("kill", self.id, "KILL")
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        runc("delete", "--force", self.id)

    def output(self):
        return rec.read_text(self.log)

    def wait_for(self, text):
        rec.wait_for(lambda: text in self.output() or self.process.poll() is not None, 20, text)
        if text not in self.output():
            said = self.output()
            if "runc" in said or "cgroup" in said or "container" in said:
                raise rec.Skip("runc starts no containers here: " + said.strip()[-200:])
            raise AssertionError("the container ended: " + said[-500:])
        return self

    @property
    def pid(self):
        return json.loads(runc("state", self.id).stdout)["pid"]

    @property
    def comm(self):
        return rec.read_text("/proc/%d/comm" % self.pid).strip()

    def exec(self, *command):
        """Starts another process in it; the Popen object of `runc exec`, which waits for it."""
        return subprocess.Popen(["runc", "exec", self.id, *command], stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def python_mounts(context):
    """What an interpreter of this machine needs, where it is here."""
    facts = subprocess.run([context.python, "-c", "import sys; print(sys.prefix, sys.base_prefix)"],
                           stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    folders = {"/usr", "/lib", "/lib64", "/bin", *facts, os.path.dirname(os.path.realpath(context.python))}
    folders = {folder for folder in folders if os.path.exists(folder) and
               not any(folder != other and folder.startswith(other + "/") for other in folders)}
    return [mount(folder) for folder in sorted(folders)] + [mount("/srv", os.path.join(HERE, "targets"))]


def service(context, id, name, seconds, *more, **options):
    """A container with targets/service.py in it, which has begun."""
    command = [context.python, "/srv/service.py", name, str(seconds), *more]
    options.setdefault("mounts", python_mounts(context))
    return Container(context, id, command, **options).wait_for("@" + name)


def by_function(samples):
    """{Python function: set of (container id or None, pid)}."""
    found = {}
    for sample in samples:
        for frame in sample["frames"]:
            if frame[0] == "p":
                found.setdefault(frame[1], set()).add((sample.get("container_id"), sample["pid"]))
    return found


if __name__ == "__main__":
    sys.exit("container.py is a part of the tests")
