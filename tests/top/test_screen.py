# SPDX-License-Identifier: MIT
"""`sidewinder top` in real terminals: by keys and screen contents."""
import os
import re
import signal

import recording as rec
import tmux

LONG = "a_function_whose_name_is_longer_than_any_narrow_terminal_can_show_in_a_line"
ROW = re.compile(r"^[> ](?: {6}-| {0,5}\d{1,3}\.\d%){2,4}  \S")

COLOUR = re.compile(r"\x1b\[[0-9;]*\b(3[0-7]|9[0-7]|38)[;m]")


def top(context, terminal, *options, pid=None):
    """Starts it, for a busy process, and waits for its table; gives the process."""
    busy = None if pid else context.start_target("busy.py")
    terminal.run("%s top %s" % (context.profiler.path, " ".join(options) or "-p %d" % busy.pid))
    terminal.wait(lambda text: any("  hot " in row + " " for row in rows_of(text)[:1]), "hot on top")
    return busy


def rows_of(text):
    """The rows of the table, hottest first."""
    lines = text.split("\n")
    heads = [number for number, line in enumerate(lines)
             if re.search(r"  (FUNCTION|THREAD|PROCESS|CALLER)\b", line)]
    return [line for line in lines[heads[0] + 1:] if line[:1] in "> " and line.strip()
            and not line.startswith(("h help", "   no"))] if heads else []


def samples_of(text):
    found = re.search(r"^start +(\d+) samples", text, re.M)
    return int(found.group(1)) if found else 0


def check_colour(terminal, wanted):
    text = terminal.screen("-e")
    assert bool(COLOUR.search(text)) == wanted, text


def test_keys_change_what_is_shown(context):
    with tmux.Terminal(100, 24) as terminal:
        busy = top(context, terminal)
        text = terminal.screen()
        assert text.startswith("pid %d " % busy.pid), text
        for part in ("functions by self now", "SINCE START", "samples/s", "Python", "native",
                     "kernel", "GIL held", "lost    ", "h help  q quit"):
            assert part in text, (part, text)
        rows = rows_of(text)
        assert rows[0].startswith(">") and all(map(ROW.match, rows)), text
        terminal.keys("l")
        terminal.wait_for("lines by self now", "FILE:LINE RUNNING", "busy.py:20", "busy.py:21")
        terminal.keys("t")
        text = terminal.wait_for("threads by share now", "TID OF PROCESS")
        assert len(rows_of(text)) == 2, text
        terminal.keys("Enter")
        text = terminal.wait(lambda text: "functions of thread" in text and "hot" in text, "its functions")
        assert "SINCE START" not in text, text
        terminal.keys("BSpace")
        terminal.wait_for("threads by share now")
        terminal.keys("p")
        text = terminal.wait_for("processes by share now")
        assert len(rows_of(text)) == 1 and str(busy.pid) in rows_of(text)[0], text
        terminal.keys("f", "s")
        text = terminal.wait_for("functions by total now")
        terminal.keys("S")
        terminal.wait_for("functions by self now")
        terminal.keys("n")
        terminal.wait(lambda text: re.search(r"  N \S+ +libz\S*", text), "a native row")
        check_colour(terminal, True)
        terminal.keys("n")
        terminal.wait(lambda text: "libz" not in text, "no native row")
        terminal.keys("h")
        terminal.wait_for("Keys", "who calls the function")
        terminal.keys("h")
        terminal.wait_for("functions by self now")
        terminal.keys("q")
        terminal.gone()


def test_filter_and_callers_without_colour(context):
    with tmux.Terminal(100, 24, NO_COLOR="1") as terminal:
        top(context, terminal)
        check_colour(terminal, False)
        terminal.type("/SQUEE")
        text = terminal.wait_for("filter: SQUEE_", 'with "SQUEE": 1 of ')
        assert len(rows_of(text)) == 1 and "squeeze" in text, text
        terminal.keys("Enter")
        terminal.wait_for("h help")
        terminal.keys("Escape")
        terminal.wait(lambda text: "with" not in text and len(rows_of(text)) > 3, "all rows")
        terminal.keys("Enter")
        text = terminal.wait_for("callers of hot", "FILE:LINE OF THE CALL")
        callers = "".join(rows_of(text))
        assert "work" in callers and "a_function" in callers and len(rows_of(text)) == 2, text
        terminal.type("/a_func\r\r")  # typed ahead: the second Enter is for the row that the filter leaves
        text = terminal.wait_for("callers of a_function")
        assert re.search(r"^> 100\.0% 100\.0%  work +\S*busy\.py:31$", rows_of(text)[0]), text
        terminal.keys("BSpace")
        terminal.wait_for("callers of hot")
        terminal.keys("BSpace")
        terminal.wait_for("functions by self now")
        terminal.keys("q")
        terminal.gone()


def test_pause_keeps_every_figure_on_a_terminal_of_1978(context):
    with tmux.Terminal(80, 24) as terminal:
        terminal.run("export TERM=vt100")
        top(context, terminal)
        check_colour(terminal, False)
        terminal.keys("Space")
        before = terminal.wait_for("PAUSED")
        terminal.keys("l")
        terminal.wait_for("lines by")
        terminal.keys("f")
        after = terminal.wait_for("functions by")
        assert before == after, (before, after)
        terminal.keys("Space")
        terminal.wait(lambda text: "live" in text and samples_of(text) > samples_of(before), "more")
        terminal.keys("q")
        terminal.gone()


def check_layout(text, width, both):
    lines = text.rstrip("\n").split("\n")
    assert lines[-1].startswith("h help  q quit"), text
    assert all(len(line) <= width for line in lines), text
    rows = rows_of(text)
    assert len(rows) >= 4 and all(map(ROW.match, rows)), text
    assert ("SINCE START" in text) == both, text


def test_narrow_and_wide_and_resized(context):
    with tmux.Terminal(40, 24) as terminal:
        top(context, terminal)
        text = terminal.wait_for("a_funct…")
        check_layout(text, 40, False)
        terminal.resize(200, 30)
        text = terminal.wait_for(LONG, "p processes", "SINCE START")
        check_layout(text, 200, True)
        terminal.resize(80, 20)
        text = terminal.wait(lambda text: "a_functi…" in text and LONG not in text, "80 columns")
        check_layout(text, 80, True)
        terminal.resize(40, 22)
        text = terminal.wait(lambda text: "a_funct…" in text and "SINCE" not in text, "40 columns")
        check_layout(text, 40, False)
        terminal.keys("q")
        terminal.gone()


def test_terminal_is_given_back_whatever_ends_it(context):
    with tmux.Terminal(80, 24) as terminal:
        terminal.run("stty -g > %s" % context.file("before"))
        busy = context.start_target("busy.py")
        command = "%s top -p %d; echo status $?" % (context.profiler.path, busy.pid)

        def check(status):
            text = terminal.wait_for("status %d" % status)
            assert "samples/s" not in terminal.gone(), text
            terminal.run("stty -g > %s" % context.file("after"))
            rec.wait_for(lambda: rec.read_text(context.file("after")).endswith("\n"))
            assert rec.read_text(context.file("after")) == rec.read_text(context.file("before"))
            os.unlink(context.file("after"))
            terminal.run("clear")
            terminal.wait(lambda text: "status" not in text, "an empty screen")

        for end in ("C-c", signal.SIGTERM, signal.SIGQUIT):
            terminal.run(command)
            terminal.wait_for("functions by self now", "hot")
            if isinstance(end, str):
                terminal.keys(end)
            else:
                os.kill(int(terminal.children()[0]), end)
            check(0)


def test_stops_for_the_shell_and_goes_on(context):
    with tmux.Terminal(80, 24) as terminal:
        top(context, terminal)
        terminal.keys("C-z")
        text = terminal.gone()
        assert "functions by" not in text, text
        terminal.run("echo between")
        terminal.wait_for("between\n")
        terminal.run("fg")
        terminal.wait_for("functions by self now", "live", "hot")
        assert terminal.ask("#{alternate_on}") == "1"
        terminal.keys("l")
        terminal.wait_for("lines by self now")
        terminal.keys("q")
        terminal.gone()


def test_end_of_the_target_keeps_the_last_table(context):
    with tmux.Terminal(80, 24) as terminal:
        busy = top(context, terminal)
        busy.kill()
        text = terminal.wait_for("ENDED after", "the process has ended; q quits")
        assert "hot" in rows_of(text)[0], text
        terminal.keys("l")  # it can still be looked at
        terminal.wait_for("lines by self now", "busy.py:21")
        terminal.keys("q")
        terminal.gone()


def test_terminal_that_goes_away_ends_it(context):
    with tmux.Terminal(80, 24) as terminal:
        top(context, terminal)
        profiler = terminal.children()[0]
        terminal.tmux("kill-server")
        rec.wait_for(lambda: "top" not in rec.read_text("/proc/%s/cmdline" % profiler).split("\0"),
                     tmux.SECONDS, "end of the profiler")


def test_command_keeps_off_the_screen_and_ends_with_q(context):
    output = context.file("output")
    with tmux.Terminal(80, 24) as terminal:
        python = " ".join(context.target("busy.py"))
        terminal.run("%s top --command-output %s -- %s; echo status $?" % (
            context.profiler.path, output, python))
        text = terminal.wait_for("functions by self now", "hot")
        assert "ready" not in [row.strip() for row in text.split("\n")], text
        assert rec.read_text(output) == "ready\n"
        command = terminal.children(terminal.children()[0])[0]
        assert "busy.py" in rec.read_text("/proc/%s/cmdline" % command)
        terminal.keys("q")
        terminal.wait_for("status 0")
        assert "busy.py" not in rec.read_text("/proc/%s/cmdline" % command)
        terminal.gone()


def test_terminal_that_cannot_show_a_screen_is_told_so(context):
    with tmux.Terminal(140, 24) as terminal:
        for kind in ("dumb", "no-such-terminal"):
            terminal.run("TERM=%s %s top -a; echo status $?" % (kind, context.profiler.path))
            terminal.wait_for("a terminal of type '%s' cannot show a full screen" % kind, "status 1")
            terminal.run("clear")
