# SPDX-License-Identifier: MIT
"""Differences of real recordings: of a program before and after a change that is known."""
import json
import os
import stat

import recording as rec


def moved_copy(context, folder, lines_above):
    """The target in another folder, with more lines above its functions."""
    source = next(path for path in context.target("change.py") if path.endswith("change.py"))
    os.mkdir(context.file(folder))
    copy = os.path.join(context.file(folder), "change.py")
    text = rec.read_text(source)
    with open(copy, "w") as file:
        file.write(text.replace("import sys\n", "import sys\n" + "# more\n" * lines_above))
    return copy


def pair(context):
    """BASE with parse() once a turn, NEW with five times, elsewhere and further down."""
    before, after = moved_copy(context, "before", 0), moved_copy(context, "after", 7)
    base = context.record_well("-F", "997", "--", context.python, before, "1", "1")
    new = context.record_well("-F", "997", "--", context.python, after, "5", "1.5")
    return base, new, before, after


def rows_of(context, base, new, *options):
    done = context.profiler.run("diff", "--json", base.trace, new.trace, *options)
    found = json.loads(done.stdout)
    return found, {row["name"].rpartition(".")[2]: row for row in found["rows"]}


def test_a_known_change_is_found_and_marked(context):
    base, new, before, after = pair(context)
    found, rows = rows_of(context, base, new, "--sort=total")
    # of 4, 1 of them parse's, it becomes 5 of 8: from 25 % to 62 %
    for name, grows in (("parse", True), ("render", False), ("store", False)):
        total = rows[name]["total"]
        assert total["changed"] and (total["change"] > 0) == grows, rows[name]
        assert abs(total["change"] - (total["new"]["value"] - total["base"]["value"])) < 1e-6, total
        assert total["low"] < total["change"] < total["high"], total
        assert rows[name]["file"] == after, rows[name]
    assert rows["parse"]["total"]["base"]["value"] < 0.4 < 0.5 < rows["parse"]["total"]["new"]["value"], rows
    assert found["base"]["samples"] == base.summary["samples"], found["base"]
    assert found["new"]["samples"] == new.summary["samples"], found["new"]
    text = rec.read_text(after).split("\n")
    found, _ = rows_of(context, base, new, "--by=line")
    line = max((row for row in found["rows"] if row["name"] == "parse"), key=lambda row: row["total"]["new"]["samples"])
    assert text[line["line"] - 1].strip() == "return burn(300)", line
    assert line["total"]["base"]["samples"] > 0 and line["total"]["changed"], line


def test_a_recording_and_itself_do_not_differ(context):
    recording = context.record_well("-F", "997", "--", *context.target("change.py", 1, 0.5))
    for by in ("function", "line", "thread", "container"):
        found, _ = rows_of(context, recording, recording, "--by=" + by)
        assert found["changed"] == 0 and found["rows"], by
        assert all(row[which]["change"] == 0 and not row[which]["changed"]
                   for row in found["rows"] for which in ("self", "total")), by
    done = context.profiler.run("diff", recording.trace, recording.trace)
    functions = len(rows_of(context, recording, recording)[0]["rows"])
    assert "0 of %d functions" % functions in done.stdout and "\n~ " in done.stdout, done.stdout


def test_the_page_is_for_its_owner_alone(context):
    recording = context.record_well("-F", "997", "--", *context.target("change.py", 1, 0.3))
    page = context.file("diff.html")
    done = context.profiler.run("diff", "--flamegraph", page, recording.trace, recording.trace)
    assert done.stdout == "" and done.stderr == "", done
    assert stat.S_IMODE(os.stat(page).st_mode) == 0o600, oct(os.stat(page).st_mode)
    assert '"baseThreads":' in rec.read_text(page)


def test_what_cannot_be_compared_is_told(context):
    recording = context.record_well("-F", "997", "--", *context.target("change.py", 1, 0.2))
    faults = context.record("-e", "page-faults", "-c", "1", "--", *context.target("change.py", 1, 0.2))
    for arguments, status, words in (
            ((recording.trace,), 2, "diff: takes two traces, the old one and the new one: 1 is given"),
            ((recording.trace, recording.trace, "--json", "--flamegraph=x"), 2, "ask for one"),
            ((recording.trace, context.file("none")), 1, "cannot read trace"),
            ((recording.trace, faults.trace), 1, "BASE is of cpu-clock, NEW of page-faults"),
            ((recording.trace, recording.trace, "--thread=nobody"), 1, "is left: only thread nobody")):
        done = context.profiler.run("diff", *arguments, check=False)
        assert done.returncode == status and words in done.stderr, (arguments, done)
        assert done.stderr.count("\n") == 1, done.stderr
