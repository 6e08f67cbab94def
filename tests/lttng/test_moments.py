# SPDX-License-Identifier: MIT
"""SIGKILL of a daemon, or of the recorder, at ten moments each: what is promised holds at every one.

A moment is a condition, looked for without rest: what LTTng and the recorder have made by then. Where it
would be too short to be met, the consumer daemon is stopped, so that it lasts.
"""
import glob
import os
import signal

import recording as rec
import test_relay
import tools

RECORDER, SESSION, CONSUMER, RELAY = "recorder", "lttng-sessiond", "lttng-consumerd", "lttng-relayd"
GONE = {SESSION: "the LTTng session daemon is gone", CONSUMER: "LTTng's consumer daemon is gone",
        RELAY: "the relay daemon at net://127.0.0.1 is gone"}
LACKS = ": the LTTng trace lacks what comes from here on"
PACKET = 4096  # the least that LTTng writes
EMPTY = 2 * os.cpu_count() * PACKET  # what it has written before anything is recorded, at most
LOSS = 3


class Run:
    """A recording of a process that spins, into a directory of ours and through LTTng."""

    def __init__(self, context, target, moment, relay):
        self.context, self.target, self.moment, self.relay = context, target, moment, relay
        self.trace = context.fresh_trace()
        self.theirs = context.file("relay") if relay else self.trace + "-l"
        self.out, self.err = self.trace + "-out", self.trace + "-err"
        where = "--lttng-url=net://127.0.0.1" if relay else "--lttng-output=" + self.theirs
        self.process = context.profiler.start(self.out, self.err, "record", "--json", "-o", self.trace, where,
                                              *moment.options, "-p", str(target.pid))
        context.processes.append(self.process)

    def ended(self):
        return self.process.poll() is not None

    def pid_of(self, name):
        pids = [self.process.pid] if name == RECORDER else tools.processes(name)
        return pids[0] if pids else None

    def controller(self):
        """The process that speaks with LTTng for the recorder."""
        children = rec.read_text("/proc/%d/task/%d/children" % (self.process.pid, self.process.pid)).split()
        return int(children[0]) if children else None

    def files(self, pattern):
        return [path for path in glob.glob(self.theirs + "/**/" + pattern, recursive=True)
                if not path.endswith(".idx")]

    def written(self):
        """Bytes of packets that LTTng has written."""
        return sum(os.path.getsize(path) for path in self.files("sidewinder_[0-9]*"))

    def metadata(self):
        """Bytes of metadata, -1 before its file is there."""
        return max([os.path.getsize(path) for path in self.files("metadata")] or [-1])

    def has_begun(self):
        return rec.has_begun(self.trace)

    def ours(self):
        """Bytes of packets that we have written."""
        return os.path.getsize(self.trace + "/stream") if self.has_begun() else 0

    def is_asking(self):
        """Is the controller at a question, and not in wait for the recorder's next one: in recvfrom(3, ...)?"""
        call = rec.read_text("/proc/%s/syscall" % self.controller()).split()
        return call[:2] not in ([], ["45", "0x3"])

    def end(self, number):
        if number and not self.ended():
            self.process.send_signal(number)
        self.process.wait(60)
        return rec.Recording(self.context.profiler, self.trace, self.process.returncode, rec.read_text(self.out),
                             rec.read_text(self.err))


class Moment:
    """When `until` holds; with `act` that signal is sent then, and LTTng does not come to an end of it."""

    def __init__(self, name, until, *options, idle=False, act=None):
        self.name, self.until, self.options, self.idle, self.act = name, until, options, idle, act
        self.snapshot = "--snapshot" in options


MOMENTS = [
    Moment("it begins", Run.controller),
    Moment("its session is made", lambda run: run.pid_of(CONSUMER)),
    Moment("its buffers are made", lambda run: run.metadata() >= 0 or run.relay and run.files("*")),
    Moment("it gets to know of its session", lambda run: run.metadata() > 0 or run.relay and run.written()),
    Moment("it records and nothing comes yet", Run.has_begun, idle=True),
    Moment("nothing is written yet", lambda run: run.ours() > PACKET),
    Moment("a packet is written", lambda run: run.ours() and run.written() > EMPTY),
    Moment("many packets are written", lambda run: run.written() > EMPTY + 40 * PACKET, "-F", "5000"),
    Moment("a snapshot is written", lambda run: run.ours() > 4 * PACKET, "--snapshot", act=signal.SIGUSR1),
    Moment("it is stopped", lambda run: run.ours() > 4 * PACKET, act=signal.SIGTERM),
]
# the rest takes longer, and is for `make lttng`
FAST = {(RECORDER, "its session is made"), (SESSION, "its session is made"), (CONSUMER, "it gets to know of its session"),
        (SESSION, "a packet is written")}


def reach(run, victim):
    """Waits for the moment; gives the pid to be killed, and of a daemon that is stopped until then, or None."""
    moment, stopped = run.moment, None
    rec.wait_for(lambda: run.ended() or run.pid_of(victim) and moment.until(run), 60, "moment: " + moment.name)
    if moment.act and not run.ended():
        stopped = run.pid_of(CONSUMER)
        run.process.send_signal(moment.act)
        os.kill(stopped, signal.SIGSTOP)
        rec.wait_for(lambda: run.is_asking() or run.ended(), 60, "question to the session daemon")
    assert not run.ended(), rec.read_text(run.err)
    return run.pid_of(victim), stopped


def kill(run, victim):
    """Gives the pids of what else runs for the recorder, and how much LTTng had written."""
    pid, stopped = reach(run, victim)
    others = [run.controller(), *tools.processes(SESSION), *tools.processes(CONSUMER)]
    written = run.written()
    os.kill(pid, signal.SIGKILL)
    if stopped and stopped != pid:
        os.kill(stopped, signal.SIGCONT)
    if run.moment.idle:
        os.kill(run.target.pid, signal.SIGCONT)
    return others, written


def samples(context, trace):
    return context.profiler.run("export", "--to=jsonl", "--samples", trace).stdout.splitlines()


def check_nothing_left(run, others):
    rec.wait_for(lambda: not [pid for pid in others if pid and os.path.exists("/proc/%d" % pid)], 60,
                 "end of the daemons that it has started")
    assert not [name for name in os.listdir("/dev/shm") if not name.startswith("lttng-ust-wait-")]
    before = rec.cpu_seconds(run.target.pid)
    rec.wait_for(lambda: rec.cpu_seconds(run.target.pid) > before, 60, "work of the target, which goes on")


def check_refused(run):
    """It had not begun: one line says why, and nothing is left."""
    recording = run.end(None)
    assert recording.status == 1 and recording.stderr.count("error: ") == 1, (recording.status, recording.stderr)
    assert "error: --lttng: " in recording.stderr, recording.stderr
    assert not os.path.exists(run.trace), "a trace was left"
    assert run.relay or not os.path.exists(run.theirs), "a trace was left"


def check_daemon(run, victim, written):
    """A daemon was killed: it is said, what we write is whole, what LTTng had written can be read."""
    stopping = run.moment.act == signal.SIGTERM
    rec.wait_for(lambda: run.ended() or run.has_begun(), 60, "begin or end")
    if run.ended() and not stopping:
        check_refused(run)
        return
    if not stopping:
        rec.wait_for(lambda: run.ended() or LACKS in rec.read_text(run.err), 20, "word of the loss")
        size = run.ours()
        rec.wait_for(lambda: run.ended() or run.ours() > size, 60, "more in the other trace")
    recording = run.end(None if stopping else signal.SIGTERM)
    assert run.moment.act or "warning: --lttng: " + GONE[victim] + LACKS in recording.stderr, recording.stderr
    assert recording.stderr.count(LACKS) == 1 and "error" not in recording.stderr, recording.stderr
    assert recording.status == LOSS and recording.summary["lttng"]["incomplete"], recording.summary
    assert recording.summary["complete"] and not recording.faults(), (recording.summary, recording.faults())
    if written > EMPTY and not run.moment.snapshot:
        ours, theirs = samples(run.context, run.trace), samples(run.context, run.theirs)
        assert theirs and ours[:len(theirs)] == theirs, (len(theirs), len(ours))
        tools.read(run.theirs)


def check_recorder(run, others):
    """The recorder was killed: all that it had written is in both traces."""
    run.process.wait()
    check_nothing_left(run, others)
    if run.ours() > PACKET and not run.moment.snapshot:
        ours, theirs = samples(run.context, run.trace), samples(run.context, run.theirs)
        assert ours and theirs[:len(ours)] == ours, (len(ours), len(theirs))
        tools.read(run.trace)
        tools.read(run.theirs)


def check_one(context, victim, moment, relay=None):
    target = context.start_target("spin.py", 600)
    if moment.idle:
        os.kill(target.pid, signal.SIGSTOP)
    try:
        run = Run(context, target, moment, relay)
        others, written = kill(run, victim)
        if victim == RECORDER:
            check_recorder(run, others)
        else:
            check_daemon(run, victim, written)
            check_nothing_left(run, others)
    finally:
        tools.end_daemons()


def make_test(victim, moment):
    def test(context):
        if victim != RELAY:
            check_one(context, victim, moment)
            return
        with test_relay.relay_daemon(context) as relay:
            check_one(context, victim, moment, relay)

    test.__name__ = "test_%s_is_killed_when_%s" % (victim.replace("-", "_"), moment.name.replace(" ", "_"))
    globals()[test.__name__] = test if (victim, moment.name) in FAST else rec.slow(test)


for one in (RECORDER, SESSION, CONSUMER, RELAY):
    for at in MOMENTS:
        make_test(one, at)
