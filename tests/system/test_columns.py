# SPDX-License-Identifier: MIT
"""Expressions within a line: which were running, by the interpreter's own tables."""
import json
import re

import recording as rec


def heat(recording, name):
    """(the file of the heat map with that name, its lines of source)."""
    page = recording.export("heatmap")
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1))
    file = next(file for file in data["files"] if file["path"].endswith(name))
    return file, file["text"].split("\n")


def spans(file, lines):
    """{expression: (self, total)}; columns are bytes, counted from 1."""
    found = {}
    numbers = file.get("spans", [])
    for i in range(0, len(numbers), 6):
        line, column, end_line, end_column, self_, total = numbers[i:i + 6]
        assert 1 <= line <= end_line <= len(lines) and column >= 1, numbers[i:i + 6]
        text = lines[line - 1].encode()[column - 1:end_column - 1 if end_line == line else None].decode()
        found[line, text] = (self_, total)
    return found


def test_the_expression_that_runs_is_told(context):
    for version, python in rec.interpreters():
        if rec.minor_version(version) >= (3, 10):
            command = [python, *context.target("expressions.py", 0.5)[1:]]
            judge_expressions(context.record_well("-F", "997", "--", *command), version)


def judge_expressions(recording, version):
    file, lines = heat(recording, "expressions.py")
    found = spans(file, lines)
    if rec.minor_version(version) < (3, 11):
        assert not found, (version, found)
        return
    number = next(i for i, line in enumerate(lines, 1) if "len(numbers)" in line)
    of_line = file["lines"][file["lines"].index(number) + 1:][:2]
    self_, total = found[number, "sum(numbers)"]
    assert self_ > 0.9 * of_line[0] and self_ == total, (version, found, of_line)
    # the caller's line is told apart as well: the call that is running, not the sum beside it
    self_, total = found[number, "many(numbers)"]
    assert total > 0.8 * (of_line[1] - of_line[0]) and self_ < 0.1 * total, (version, found, of_line)
    assert sum(at[0] for (line, _), at in found.items() if line == number) <= of_line[0], (version, found, of_line)


def test_views_add_lines_up_whatever_their_expressions(context):
    recording = context.record_well("-F", "997", "--native=none", "--", *context.target("expressions.py", 1))
    rows = [json.loads(line) for line in recording.export("jsonl").split("\n") if line]
    keys = [(row["pid"], row["tid"], row["state"], json.dumps(row["frames"])) for row in rows]
    assert len(keys) == len(set(keys)), "a stack is there twice"
    report = json.loads(recording.report("--by=line", "--json"))
    keys = [(row["kind"], row["name"], row.get("file"), row.get("line")) for row in report["rows"]]
    assert len(keys) == len(set(keys)), "a line is there twice"


def test_columns_can_be_left_out(context):
    recording = context.record_well("-F", "997", "--no-columns", "--", *context.target("expressions.py", 0.5))
    file, _ = heat(recording, "expressions.py")
    assert "spans" not in file and file["lines"], file
