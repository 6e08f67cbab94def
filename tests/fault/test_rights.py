# SPDX-License-Identifier: MIT
"""Rights, namespaces, an environment and a size that others choose (RELIABILITY 03, 07)."""
import os
import re
import shutil
import socket
import stat
import subprocess

import recording as rec
import tools

FAULT = 1
NOBODY = 65534


def test_0702_target_that_may_make_no_system_call(context):
    target = tools.start(context, context.target("strict.py"))
    rec.wait_for(lambda: "Seccomp:\t1" in rec.read_text("/proc/%d/status" % target.pid), 20, "strict mode")
    recording = context.record_well("-F", "499", "-d", "1", "-p", str(target.pid))
    summary = recording.summary
    assert summary["status"]["complete"] > 0.9 * recording.looked_at() > 0, summary
    assert {"work", "<module>"} <= tools.functions(recording.samples())
    assert "work" in context.profiler.run("dump", str(target.pid)).stdout
    assert target.poll() is None, "it was killed: it made a system call"


def test_0703_target_in_a_user_namespace(context):
    if subprocess.run(["unshare", "--user", "--map-root-user", "true"], stderr=subprocess.DEVNULL).returncode:
        raise rec.Skip("this machine makes no user namespaces")
    target = tools.start(context, ["unshare", "--user", "--map-root-user", *context.target("spin.py", 600)])
    recording = context.record_well("-F", "499", "-d", "1", "-p", str(target.pid))
    assert "heavy" in tools.functions(recording.samples()), recording.summary
    assert {sample["pid"] for sample in recording.samples()} == {target.pid}
    assert "main" in context.profiler.run("dump", str(target.pid)).stdout


def test_0703_profiler_in_a_pid_namespace(context):
    trace = context.fresh_trace()
    done = subprocess.run(
        ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c",
         "%s & child=$!; \"$@\" -p $child; status=$?; echo \"@child $child\"; kill -9 $child; exit $status"
         % " ".join(context.target("spin.py", 600)), "sh",
         context.profiler.path, "record", "--json", "-F", "499", "-d", "1", "-o", trace],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
    recording = rec.Recording(context.profiler, trace, done.returncode, done.stdout, done.stderr)
    assert recording.status == 0 and not recording.faults(), (done.stderr, recording.faults())
    assert "heavy" in tools.functions(recording.samples()), recording.summary
    child = int(re.search(r"@child (\d+)", done.stdout).group(1))
    assert {sample["pid"] for sample in recording.samples()} == {child}, "not its number in there"


def test_0704_program_that_was_made_setuid(context):
    copy, trace = context.file("sidewinder"), context.fresh_trace()
    shutil.copy(context.profiler.path, copy)
    os.chmod(context.work, 0o755)
    os.chown(copy, NOBODY, NOBODY)
    os.chmod(copy, 0o4755)
    for arguments in (["record", "-o", trace, "--", "true"], ["--version"]):
        done = subprocess.run([copy, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert (done.returncode, done.stdout, done.stderr) == (
            FAULT, "", "sidewinder: error: refuses to run setuid, setgid or with file capabilities: use sudo\n"), done
    assert not os.path.exists(trace)


def build_with_a_debug_link(context, link):
    """A program whose file says that its debug information is elsewhere."""
    if not shutil.which("cc") or not shutil.which("objcopy"):
        raise rec.Skip("no C compiler")
    program, source = context.file("linked"), os.path.join(context.folder, "targets", "fake.c")
    subprocess.run(["cc", "-g", "-O1", "-rdynamic", "-DSIZE=16", "-DVERSION=0", '-DCOOKIE=""', "-o", program, source],
                   check=True)
    subprocess.run(["objcopy", "--only-keep-debug", program, link], check=True)
    subprocess.run(["objcopy", "--strip-debug", "--add-gnu-debuglink=" + link, program], check=True)
    return program


def test_0310_0705_what_file_and_environment_name_is_not_looked_for(context):
    if not shutil.which("strace"):
        raise rec.Skip("no strace")
    link, planted, log, trace = (context.file(name) for name in ("elsewhere.debug", "planted", "log", "trace"))
    program = build_with_a_debug_link(context, link)
    os.mkdir(planted)
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        environment = dict(os.environ, DEBUGINFOD_URLS="http://127.0.0.1:%d" % server.getsockname()[1],
                           PYTHONPATH=planted, PYTHONHOME=planted, PYTHONSTARTUP=planted + "/start", TMPDIR=planted,
                           LD_LIBRARY_PATH=planted, LD_DEBUG_OUTPUT=planted + "/out", HOME=planted,
                           XDG_CACHE_HOME=planted, DEBUGINFOD_CACHE_PATH=planted, LIBUNWIND_PRINT_IP="1")
        target = tools.start(context, [program], "")
        command = [context.profiler.path, "record", "-q", "-F", "499", "-d", "0.5", "-o", trace, "-p", str(target.pid)]
        for command in (command, [context.profiler.path, "report", trace]):
            done = subprocess.run(["strace", "-f", "-o", log, "-e", "trace=execve,execveat,socket,connect,open,openat,"
                                   "openat2,mkdir", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True, env=environment)
            assert done.returncode == 0, done.stderr
            calls = rec.read_text(log).splitlines()
            assert len(calls) > 20 and len([call for call in calls if "execve" in call]) == 1, "it starts a program"
            assert not [call for call in calls if "AF_INET" in call], "it uses the network"
            # where libraries are looked for is the loader's business: what is not root's to choose is AT_SECURE's
            named = [call for call in calls if link in call or planted in call and "/libs" not in call
                     and ".so" not in call]
            assert not named, named[:3]
    assert "native_work" in done.stdout and not os.listdir(planted), done.stdout


@rec.slow
def test_0707_ten_thousand_threads(context):
    code = ("import threading, time\nthreading.stack_size(65536)\nstop = threading.Event()\n"
            "for _ in range(10000): threading.Thread(target=stop.wait, daemon=True).start()\n"
            "print('@main', flush=True)\n"
            "def work():\n    while True: sum(range(1000))\nwork()")
    target = tools.start(context, [context.python, "-c", code])
    log = context.file("log")
    opened = {}
    for seconds in (1, 4):
        trace = context.fresh_trace()
        done = subprocess.run(["strace", "-f", "-o", log, "-e", "trace=open,openat,openat2", context.profiler.path,
                               "record", "--json", "-F", "999", "-d", str(seconds), "-o", trace, "-p", str(target.pid)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
        recording = rec.Recording(context.profiler, trace, done.returncode, done.stdout, done.stderr)
        assert recording.status == 0 and not recording.faults(), (done.stderr[-500:], recording.faults())
        assert "work" in tools.functions(recording.samples()), recording.summary
        opened[seconds] = len(rec.read_text(log).splitlines())
    # each thread is looked for at the start, none for a sample
    assert opened[4] < opened[1] + 200, opened
