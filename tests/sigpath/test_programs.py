# SPDX-License-Identifier: MIT
"""Programs under the agent do what they do without it, and every overflow is accounted for."""
import os
import pwd
import resource
import shutil
import signal
import subprocess

import recording as rec

PATHS = (("--path=signal",), ("--path=signal", "--signal=sigio", "--signal-number=40", "--unwind=online"),
         ("--path=both",))


def adds_up(recording):
    summary = recording.summary
    counted = sum(summary["status"].values()) + sum(summary["lost"].values())
    assert counted == summary["overflows"], summary


def check_signals(context, *options):
    alone, under = context.file("alone"), context.file("under")
    status = subprocess.run(context.target("signals.py", alone, 9), stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL).returncode
    recording = context.record("-F", "2000", "--max-loss=100", *options, "--",
                               *context.target("signals.py", under, 9))
    assert recording.status == status == 9, "%d and %d: %s" % (recording.status, status, recording.stderr)
    with open(alone) as one, open(under) as other:
        assert one.read() == other.read(), open(under).read()
    adds_up(recording)
    assert recording.summary["processes"] > 5


def test_a_program_full_of_signals_does_the_same_under_sigtrap(context, python):
    check_signals(context, *PATHS[0])


def test_a_program_full_of_signals_does_the_same_under_another_signal(context, python):
    check_signals(context, *PATHS[1])


def test_a_program_full_of_signals_does_the_same_under_both_paths(context, python):
    check_signals(context, *PATHS[2])


def check_stacks(context, *options):
    """The one busy function is seen where it is, with its callers."""
    code = ("def leaf():\n    s = 0\n    for i in range(3000000):\n        s += i * i\n    return s\n"
            "def middle():\n    return leaf()\n"
            "def outer():\n    return middle()\n"
            "outer()\n")
    path = context.file("stacks.py")
    with open(path, "w") as file:
        file.write(code)
    recording = context.record_well("-F", "1000", *options, "--", context.python, path)
    chains = {tuple((frame[1], frame[3]) for frame in sample["frames"] if frame[0] == "p" and frame[2] == path)
              for sample in recording.samples()}
    chains = {tuple((name.split(".")[-1], line) for name, line in chain) for chain in chains}
    expected = {(("<module>", 10), ("outer", 9), ("middle", 7), ("leaf", line)) for line in (3, 4)}
    assert expected & chains, chains
    assert all(chain in expected for chain in chains if len(chain) == 4), chains


def test_stacks_are_exact_whichever_way(context, python):
    for options in (*PATHS, ("--path=signal", "--unwind=online"), ("--path=signal", "--native=none")):
        check_stacks(context, *options)


def test_every_thread_is_seen(context, python):
    code = ("import threading, time\n"
            "def work():\n    end = time.thread_time() + 0.1\n    while time.thread_time() < end: sum(range(99))\n"
            "for _ in range(2):\n    ts = [threading.Thread(target=work) for _ in range(4)]\n"
            "    [t.start() for t in ts]; [t.join() for t in ts]\n")
    for options in PATHS:
        recording = context.record_well("-F", "500", *options, "--", context.python, "-c", code)
        assert recording.summary["threads"] == 9, recording.summary


def test_a_full_ring_is_counted(context):
    # nobody reads while the recorder, the parent, is stopped
    code = ("import os, signal, time\n"
            "os.kill(os.getppid(), signal.SIGSTOP)\n"
            "end = time.process_time() + 0.5\n"
            "while time.process_time() < end: sum(range(99))\n"
            "os.kill(os.getppid(), signal.SIGCONT)\n")
    for options in PATHS[:2]:
        recording = context.record("-F", "5000", "--ring-bytes=64K", "--max-loss=100", *options, "--",
                                   context.python, "-c", code)
        assert recording.status == 0, recording.stderr
        adds_up(recording)
        assert recording.summary["lost"]["ring_full"] > 0, recording.summary


def test_a_handler_that_takes_long_lets_the_program_go_on(context):
    code = "def deep(n):\n    return deep(n - 1) if n else sum(i * i for i in range(300000))\ndeep(900)\n"
    for unwind in ("offline", "online"):
        recording = context.record("-F", "20000", "--path=signal", "--unwind=" + unwind, "--max-loss=100", "--",
                                   context.python, "-c", code)
        assert recording.status == 0, recording.stderr
        adds_up(recording)


def test_unwinding_in_the_handler_waits_for_no_lock_of_a_program_that_loads_libraries(context):
    """dlopen() waits, with the linker's lock, for the allocator's lock that the interrupted thread has."""
    if not shutil.which("cc"):
        raise rec.Skip("no C compiler")
    program, library = context.file("loading"), context.file("library.so")
    source = next(path for path in context.target("loading.c") if path.endswith(".c"))
    subprocess.run(["cc", "-O1", "-o", program, source, "-lpthread", "-ldl"], check=True)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, "-x", "c", "-", "-lm"], check=True, text=True,
                   input="#include <math.h>\ndouble used(double x) { return sin(x) + cos(x); }\n")
    recording = context.record("-F", "5000", "--max-loss=100", "--path=signal", "--unwind=online", "--",
                               program, library, timeout=120)
    assert recording.status == 0 and "@done" in recording.stdout, recording.stderr
    adds_up(recording)
    chains = [[frame[1] for frame in sample["frames"] if frame[0] == "n"] for sample in recording.samples()]
    assert any("allocate" in chain for chain in chains), chains[:5]
    assert any("load" in chain and "dlopen" in "".join(chain) for chain in chains), chains[:5]


def test_a_killed_program_loses_nothing_but_what_is_counted(context):
    code = ("import os, signal, threading\n"
            "threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGKILL)).start()\n"
            "while True: sum(range(100))\n")
    for options in PATHS:
        recording = context.record("-F", "2000", "--max-loss=100", *options, "--", context.python, "-c", code)
        assert recording.status == 128 + signal.SIGKILL, recording.stderr
        adds_up(recording)


def test_a_program_outlives_its_recorder(context):
    done = context.file("done")
    code = ("import os, signal, sys, threading\n"
            "os.kill(os.getppid(), signal.SIGKILL)\n"
            "def work(): sum(range(3000000))\n"
            "for _ in range(2):\n    thread = threading.Thread(target=work); thread.start(); work(); thread.join()\n"
            "pid = os.fork()\n"
            "if not pid: work(); os._exit(3)\n"
            "with open(%r, 'w') as file: file.write(str(os.waitpid(pid, 0)[1] >> 8))\n" % done)
    for options in PATHS:
        recording = context.record("-F", "2000", *options, "--", context.python, "-c", code)
        assert recording.status == -signal.SIGKILL, recording.status
        rec.wait_for(lambda: rec.read_text(done) == "3", 60, "end of the program")
        os.unlink(done)


def test_who_connects_without_a_word_does_not_hold_the_recorder_up(context):
    """More connections than it serves at once; it ends when it is told to, while they are open."""
    wanted = 4200
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard < 2 * wanted:
        raise rec.Skip("only %d descriptors are allowed" % hard)
    code = ("import os, resource, signal, socket, time\n"
            "resource.setrlimit(resource.RLIMIT_NOFILE, (%d, %d))\n"
            "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
            "recorder = os.getppid()\n"
            "kept = [socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(%d)]\n"
            "for one in kept: one.connect('\\0' + os.environ['SIDEWINDER_AGENT'])\n"
            "while os.getppid() == recorder:\n"
            "    os.kill(recorder, signal.SIGINT)\n"
            "    time.sleep(0.1)\n") % (hard, hard, wanted)
    recording = context.record("--path=signal", "--", context.python, "-c", code, timeout=120)
    assert recording.summary["processes"] == 1, recording.stderr
    adds_up(recording)


def test_a_program_that_gives_events_without_end_does_not_use_up_the_recorder(context):
    """A thread has one event. The recorder keeps one, for as long as the program goes on giving it more."""
    code = ("import array, ctypes, os, socket, struct, time\n"
            "libc = ctypes.CDLL(None)\n"
            "recorder, pid = os.getppid(), os.getpid()\n"
            "attr = struct.pack('IIQQQQQ', 1, 64, 9, 0, 0, 0, 1).ljust(64, b'\\0')\n"  # a dummy, disabled
            "def give():\n"
            "    fd = libc.syscall(298, attr, 0, -1, -1, 8)\n"
            "    assert fd >= 0\n"
            "    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as agent:\n"
            "        agent.connect('\\0' + os.environ['SIDEWINDER_AGENT'])\n"
            "        message = struct.pack('6I16s', 0x5357534a, 2, 3, pid, pid, 0, b'giver')\n"
            "        agent.sendmsg([message], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [fd]))])\n"
            "        assert len(agent.recv(64)) == 16\n"  # it has it
            "    os.close(fd)\n"
            "def target(fd):\n"
            "    try: return os.readlink('/proc/%d/fd/%s' % (recorder, fd))\n"
            "    except FileNotFoundError: return ''\n"  # closed meanwhile
            "def kept(): return sum('perf_event' in target(fd) for fd in os.listdir('/proc/%d/fd' % recorder))\n"
            "give()\n"
            "before = kept()\n"
            "for _ in range(200): give()\n"
            "print('@more', kept() - before)\n")
    recording = context.record("--path=signal", "--", context.python, "-c", code, timeout=120)
    assert "@more 0" in recording.stdout, (recording.stdout, recording.stderr)
    adds_up(recording)


def test_an_ordinary_user_needs_no_privilege(context):
    if os.geteuid():
        raise rec.Skip("only root can become somebody else")
    paranoid = int(rec.read_text("/proc/sys/kernel/perf_event_paranoid") or 2)
    if paranoid > 2:
        raise rec.Skip("kernel.perf_event_paranoid is %d" % paranoid)
    nobody = pwd.getpwnam("nobody")
    folder = os.path.join(context.work, "bin")
    os.mkdir(folder)
    for name in ("sidewinder", "sidewinder-agent.so"):
        source = os.path.join(os.path.dirname(context.profiler.path), name)
        subprocess.run(["cp", source, folder], check=True)
    os.chmod(context.work, 0o777)
    python = "/usr/bin/python3"
    if not os.path.exists(python):
        raise rec.Skip("no interpreter that everybody may run")

    def become():
        os.setgroups([])
        os.setgid(nobody.pw_gid)
        os.setuid(nobody.pw_uid)

    done = subprocess.run([os.path.join(folder, "sidewinder"), "record", "--path=signal", "-q", "-o",
                           os.path.join(context.work, "trace"), "--", python, "-c",
                           "sum(i * i for i in range(3000000)); raise SystemExit(4)"],
                          preexec_fn=become, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env={"PATH": "/usr/bin:/bin"}, cwd="/")
    assert done.returncode == 4, done.stderr
    report = context.profiler.run("report", os.path.join(context.work, "trace"))
    assert "<genexpr>" in report.stdout, report.stdout


def test_a_program_that_uses_the_signal_itself_has_it(context):
    code = ("import os, signal, time\n"
            "end = time.process_time() + 0.1\n"
            "while time.process_time() < end: sum(range(99))\n"
            "seen = []\nsignal.signal(signal.SIGIO, lambda n, f: seen.append(n))\n"
            "end = time.process_time() + 0.1\n"
            "while time.process_time() < end: sum(range(99))\n"
            "os.kill(os.getpid(), signal.SIGIO)\n"
            "raise SystemExit(len(seen))\n")
    recording = context.record("--path=signal", "--signal=sigio", "--", context.python, "-c", code)
    assert recording.status == 1, (recording.status, recording.stderr)
    assert "--signal-number" in recording.stderr, recording.stderr


def test_wrong_use_is_said(context):
    for options in (["--path=signal", "-p", "1"], ["--path=both", "-a"],
                    ["--path=signal", "--signal-number=40", "--", "true"],
                    ["--signal=sigio", "--", "true"], ["--path=signal", "--no-children", "--", "true"],
                    ["--path=signal", "--signal=sigio", "--signal-number=9", "--", "true"]):
        recording = context.record(*options)
        assert recording.status == 2, (options, recording.status, recording.stderr)
        assert len(recording.stderr.splitlines()) == 1, recording.stderr


def test_what_is_in_ld_preload_stays(context):
    code = "import os; print(os.environ['LD_PRELOAD'].split(':')[1:])"
    done = context.profiler.run("record", "-q", "--path=signal", "-o", context.fresh_trace(), "--",
                                context.python, "-c", code, check=False,
                                env={"LD_PRELOAD": "libm.so.6"})
    assert "['libm.so.6']" in done.stdout, done.stdout + done.stderr
