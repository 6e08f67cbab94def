# SPDX-License-Identifier: MIT
"""What everybody meets every day: defaults from a file, a look at a recording that goes on, modes of files."""
import os
import re
import signal
import stat
import time

import recording as rec


def write_config(context, text):
    os.makedirs(context.file("config/sidewinder"), exist_ok=True)
    with open(context.file("config/sidewinder/config"), "w") as file:
        file.write(text)
    return {"XDG_CONFIG_HOME": context.file("config")}


def test_defaults_come_from_the_file_and_the_command_line_wins(context):
    env = write_config(context, "# mine\nrecord.frequency = 499\nreport.by = line\nreport.limit = 1\n")
    recording = context.profiler.record(context.fresh_trace(), "--", *context.target("spin.py", 0.5), env=env)
    assert recording.status == 0 and recording.summary["period_or_freq"] == 499, recording.summary
    trace = recording.trace
    shown = context.profiler.run("report", trace, env=env).stdout
    assert "FILE:LINE RUNNING" in shown and len(shown.split("FILE:LINE RUNNING\n")[1].splitlines()) == 1, shown
    shown = context.profiler.run("report", "--by=function", trace, env=env).stdout
    assert "RUNNING" not in shown and len(shown.split("FILE:LINE\n")[1].splitlines()) == 1, shown
    shown = context.profiler.run("--no-config", "report", trace, env=env).stdout
    assert "RUNNING" not in shown and len(shown.split("FILE:LINE\n")[1].splitlines()) > 1, shown


def test_a_mistake_in_the_file_is_named_with_its_line(context):
    env = write_config(context, "report.limit = 3\nreport.native = maybe\n")
    done = context.profiler.run("report", env=env, check=False)
    assert done.returncode == 2 and done.stdout == "", done
    assert done.stderr == "sidewinder: error: %s:2: an option without a value is 'yes' or 'no'\n" % \
        context.file("config/sidewinder/config"), done.stderr
    assert "Usage:" in context.profiler.run("help", "report", env=env).stdout


def test_a_signal_shows_how_it_looks_so_far(context):
    out, err, trace = context.file("out"), context.file("err"), context.fresh_trace()
    process = context.profiler.start(out, err, "record", "-o", trace, "--", *context.target("spin.py", 20))
    context.processes.append(process)
    rec.wait_for(lambda: "@main" in rec.read_text(out), 20, "start of the target")

    def asked():  # until the target's own functions are known, which can take a while
        process.send_signal(signal.SIGUSR1)
        time.sleep(0.2)
        text = rec.read_text(err)
        return text if "spin.py" in text else None

    text = rec.wait_for(asked, 30, "table of hot functions")
    assert re.search(r"\d+\.\d\d s so far: \d+ samples, \d+ lost; 'sidewinder report ", text), text
    assert process.poll() is None, "the recording ended"
    shown = context.profiler.run("report", trace).stdout
    assert "spin" in shown and "did not end in order" in shown, shown
    process.send_signal(signal.SIGTERM)
    process.wait(120)
    assert "so far" not in rec.read_text(err).split("trace: ")[1], rec.read_text(err)


def test_a_command_has_its_own_way_with_the_signal(context):
    code = "import os, signal; os.kill(os.getpid(), signal.SIGUSR1)"
    done = context.profiler.run("record", "-q", "-o", context.fresh_trace(), "--", context.python, "-c", code,
                                check=False)
    assert done.returncode == 128 + signal.SIGUSR1, done


def test_what_is_written_is_for_its_owner_alone(context):
    recording = context.record_well("-F", "997", "--", *context.target("spin.py", 0.3))
    assert stat.S_IMODE(os.stat(recording.trace).st_mode) == 0o700
    files = [os.path.join(recording.trace, name) for name in os.listdir(recording.trace)]
    help_text = context.profiler.run("help", "--completion=bash").stdout
    formats = re.search(r"export:--to[^)]*\) kind=\(WORDS? ([^)]*)\)", help_text)
    names = formats.group(1).split() if formats else \
        "folded jsonl flamegraph heatmap pprof speedscope firefox perfetto".split()
    old = os.umask(0)
    try:
        for name in names:
            files.append(context.file("out." + name))
            context.profiler.run("export", recording.trace, "--to=" + name, "-o", files[-1])
        files.append(context.file("out.diff"))
        context.profiler.run("diff", recording.trace, recording.trace, "--flamegraph", files[-1])
    finally:
        os.umask(old)
    modes = {os.path.basename(path): oct(stat.S_IMODE(os.stat(path).st_mode)) for path in files}
    assert set(modes.values()) == {"0o600"}, modes


def test_no_name_acts_on_the_terminal(context):
    script = context.file("names.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write("import time, threading\n"
                   "def work(end):\n    while time.process_time() < end: pass\n"
                   "code = work.__code__\n"
                   "name = 'a\\x1b[31m\\x9b2J\\u202e\\x7f'\n"
                   "work.__code__ = code.replace(co_name=name, **({'co_qualname': name} "
                   "if hasattr(code, 'co_qualname') else {}))\n"
                   "work(1)\n")
    trace = context.fresh_trace()
    done = context.profiler.run("record", "-o", trace, "--", context.python, script)
    shown = [done.stderr]
    for arguments in (("report",), ("report", "--by=line"), ("report", "--json"), ("report", "--callers"),
                      ("export", "--to=folded"), ("export", "--to=jsonl"), ("export", "--to=speedscope"),
                      ("export", "--to=firefox"), ("export", "--to=flamegraph"), ("export", "--to=heatmap")):
        shown.append(context.profiler.run(arguments[0], trace, *arguments[1:], env={"COLUMNS": "300"}).stdout)
    for arguments in ((), ("--json",), ("--by=line",), ("--flamegraph=-",)):
        shown.append(context.profiler.run("diff", trace, trace, *arguments, env={"COLUMNS": "300"}).stdout)
    shown.append(context.profiler.run("report", trace, "--callers=\x1b\x9b", check=False).stderr)
    for text in shown:
        assert "31m" in text or "no sample" in text, text[:300]
        found = re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)
        assert not found, repr(text[max(0, found.start() - 100):found.end() + 50])
