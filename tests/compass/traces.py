# SPDX-License-Identifier: MIT
"""Reads CTF traces by babeltrace2, with the clock's own nanoseconds."""
import re
import subprocess

LINE = re.compile(r"^\[0*(\d+)\] \(\S+\) \S+ (\w+): (.*)$")
FIELD = re.compile(r'(\w+) = (?:\( "(?:[^"\\]|\\.)*" : container = (?=\d))?("(?:[^"\\]|\\.)*"|-?\d+)')


def value(text):
    return text[1:-1] if text.startswith('"') else int(text)


def read(*paths):
    """[(time in ns of CLOCK_MONOTONIC, event's name, {field: value})]; a warning fails."""
    done = subprocess.run(["babeltrace2", "--clock-cycles", *paths], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          encoding="utf-8", errors="surrogateescape", timeout=120)
    assert done.returncode == 0 and not done.stderr, done.stderr[-1000:]
    found = []
    for line in done.stdout.splitlines():
        time, name, fields = LINE.match(line).groups()
        found.append((int(time), name, {key: value(text) for key, text in FIELD.findall(fields)}))
    return found


def metadata(folder):
    with open(folder + "/metadata", encoding="utf-8") as file:
        return file.read()
