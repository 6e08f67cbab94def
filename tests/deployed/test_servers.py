# SPDX-License-Identifier: MIT
"""Servers that fork their workers, recorded from outside by the master's pid, while they are told to reload."""
import os
import signal
import subprocess
import sys
import time

import environments
import recording as rec

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "targets")


def started(context, command):
    """Starts a server on the socket in the test's folder, and a client; gives the server's Popen object."""
    path = context.file("socket")
    with open(context.file("log"), "wb") as log:
        server = subprocess.Popen(command, cwd=FOLDER, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    context.processes.append(server)
    rec.wait_for(lambda: os.path.exists(path) or server.poll() is not None, 60, "socket")
    assert server.poll() is None, rec.read_text(context.file("log"))[-500:]
    context.processes.append(subprocess.Popen([sys.executable, os.path.join(FOLDER, "web_client.py"), path]))
    return server


def children(pid):
    return set(rec.read_text("/proc/%d/task/%d/children" % (pid, pid)).split())


def recorded_over_reload(context, server):
    """Records the server with its workers; half way all of these are replaced. Gives samples of view."""
    trace = context.fresh_trace()
    first = rec.wait_for(lambda: len(children(server.pid)) == 2 and children(server.pid), 60, "two workers")
    process = context.profiler.start(context.file("out"), context.file("err"), "record", "--json", "-F", "499",
                                     "-o", trace, "-p", str(server.pid), "--children")
    rec.wait_for(lambda: rec.has_begun(trace), 60, "begin of the recording")
    time.sleep(1.5)
    server.send_signal(signal.SIGHUP)
    later = rec.wait_for(lambda: len(children(server.pid) - first) == 2 and not children(server.pid) & first and
                         children(server.pid), 60, "two other workers")
    busy = lambda: all((rec.cpu_seconds(int(pid)) or 0) > 0.5 for pid in later)
    rec.wait_for(busy, 60, "work of theirs")
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0, rec.read_text(context.file("err"))
    recording = rec.Recording(context.profiler, trace, 0, rec.read_text(context.file("out")),
                              rec.read_text(context.file("err")))
    assert not recording.faults(), recording.faults()
    views = [sample for sample in recording.samples()
             if "view" in [frame[1] for frame in sample["frames"] if frame[0] == "p"]]
    workers = {str(sample["pid"]) for sample in views}
    assert workers == first | later, "workers: %r, %r, seen %r" % (first, later, workers)
    return views


def check(views, root, python):
    """Every stack of view begins at `root`, and its first Python frame is `python`; nothing is marked."""
    for sample in views:
        frames = sample["frames"]
        names = [frame[1] for frame in frames if frame[0] == "p"]
        assert frames[0][1] in root, frames
        assert names[0] == python and names[names.index("app"):][:2] == ["app", "view"], names
        marks = [frame[1] for frame in frames if frame[0] == "x"]
        assert marks == [mark for mark in root if mark == "greenlet"], frames


def gunicorn(context, kind, *packages):
    python = environments.with_package(context.python, context.version, "gunicorn", *packages)
    return started(context, [os.path.join(os.path.dirname(python), "gunicorn"), "-k", kind, "-w", "2", "--log-level", "error",
                             "-b", "unix:" + context.file("socket"), "web_app:app"])


def uwsgi(context, *options, packages=()):
    python = environments.with_package(context.python, context.version, "uwsgi", *packages)
    home = os.path.dirname(os.path.dirname(python))
    return started(context, [os.path.join(home, "bin", "uwsgi"), "--http-socket", context.file("socket"),
                             "--master", "--processes", "2", "--wsgi-file", "web_app.py", "--callable", "app",
                             "--home", home, "--disable-logging", *options])


def test_gunicorn_with_workers_that_serve_one_by_one(context):
    check(recorded_over_reload(context, gunicorn(context, "sync")), ("_start",), "<module>")


def test_gunicorn_with_threads(context):
    views = recorded_over_reload(context, gunicorn(context, "gthread"))
    check(views, ("clone3", "clone", "__clone"), "Thread._bootstrap")


def test_gunicorn_with_gevent(context):
    views = recorded_over_reload(context, gunicorn(context, "gevent", "gevent", "packaging"))
    check(views, ("greenlet",), "_handle_and_close_when_done")


def test_uwsgi(context):
    views = recorded_over_reload(context, uwsgi(context))
    check(views, ("_start",), "app")
    assert all("uwsgi_request_wsgi" in [frame[1] for frame in sample["frames"]] for sample in views)


def test_uwsgi_with_gevent(context):
    views = recorded_over_reload(context, uwsgi(context, "--gevent", "10", packages=("gevent",)))
    check(views, ("greenlet",), "app")
