#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs layouts, lines, system tests and cases on every CPython found; prints versions x tests.

    run.py [--cases all|telling|none] [--python TEXT] [--json|--markdown] --build FOLDER

Progress goes to stderr, what failed stays in FOLDER/matrix/VERSION. Status 1 if anything failed.
"""
import argparse
import collections
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.join(HERE, os.pardir)
sys.path.insert(0, os.path.join(TESTS, "tools"))
sys.dont_write_bytecode = True

import recording as rec  # noqa: E402

KINDS = ("layout", "lines", "system", "cases")
BUILD = """import sys, sysconfig
with open("/proc/self/maps") as maps:
    shared = "libpython" in maps.read()
words = ["shared" if shared else "static"]
words += ["debug"] * hasattr(sys, "gettotalrefcount")
words += ["free-threaded"] * bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
words += ["musl"] * str(sysconfig.get_config_var("MULTIARCH")).endswith("musl")
words += ["tail-call"] * ("--with-tail-call-interp" in str(sysconfig.get_config_var("CONFIG_ARGS")))
words += ["JIT"] * bool(getattr(sys, "_jit", None) and sys._jit.is_available())
print(", ".join(words))
"""
LINE = re.compile(r"^(ok|not ok) \d+ - (.*?)(?:  \([\d.]+ s\))?(?: # (?i:SKIP)(.*))?$")


def plain_name(name, version):
    """What a test is called on every version."""
    name = name.split(": ", 1)[0] if name.startswith(("lines of", "names of")) else name
    for part in (" (%s)" % version, " " + version, "of CPython", "is that of its headers"):
        name = name.replace(part, "")
    return " ".join(name.split())


def results_of(text, version):
    """{name: "ok", "FAIL" or "skip"} of TAP; several recordings of a case are one."""
    found = {}
    for line in text.splitlines():
        match = LINE.match(line)
        if match:
            word = "FAIL" if match[1] == "not ok" else "ok" if match[3] is None else "skip"
            name = plain_name(match[2], version).split(" (")[0]
            kept = found.get(name, word)
            found[name] = "FAIL" if "FAIL" in (kept, word) else "ok" if "ok" in (kept, word) else "skip"
    return found


def commands(options, version):
    build = options.build
    program = os.path.join(build, "sidewinder")
    yield "layout", ["sh", os.path.join(TESTS, "layout", "run.sh"), os.path.join(build, "tests/layout/print")]
    yield "lines", ["sh", os.path.join(TESTS, "lines", "run.sh"), os.path.join(build, "tests/lines/compare"),
                    os.path.join(build, "tests/lines/remote")]
    yield "system", [sys.executable, os.path.join(TESTS, "system", "run.py"), "--every",
                     "--only", "(%s)" % version, program]
    if options.cases != "none":
        yield "cases", [sys.executable, os.path.join(TESTS, "cases", "run.py"), "--every", "--jobs", "1",
                        *["--telling"] * (options.cases == "telling"),
                        "--work", os.path.join(build, "matrix", version, "cases"), program]


def examine(options, version, python):
    """{(kind, test): word} for one interpreter."""
    found = collections.OrderedDict()
    folder = os.path.join(options.build, "matrix", version)
    os.makedirs(folder, exist_ok=True)
    for kind, command in commands(options, version):
        log = os.path.join(folder, kind + ".log")
        with open(log, "w") as file:
            subprocess.run(command, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
                           env=dict(os.environ, SDW_PYTHONS=python))
        results = results_of(rec.read_text(log), version)
        for name, word in (results or {"nothing was run": "FAIL"}).items():
            found[kind, name] = word
        counts = collections.Counter(results.values())
        print("%-9s %-7s %s" % (version, kind, ", ".join("%d %s" % (n, word) for word, n in counts.items())),
              file=sys.stderr, flush=True)
    return found


def print_table(columns):
    names = []
    for cells in columns.values():
        names += [name for name in cells if name not in names]
    width = max(len(name) for _, name in names)
    kind = None
    for each in sorted(names, key=lambda name: KINDS.index(name[0])):
        if each[0] != kind:
            kind = each[0]
            print("\n%-*s%s" % (width, kind, "".join("%9s" % version for version in columns)))
        print("%-*s%s" % (width, each[1], "".join("%9s" % cells.get(each, "-") for cells in columns.values())))
    print()


def print_markdown(columns, builds):
    """A row an interpreter: how many of each kind passed, and how many were skipped."""
    print("| CPython | build | layout | lines and names | system tests | cases |\n|---|---|---|---|---|---|")
    for version, cells in columns.items():
        row = [version, builds[version]]
        for kind in KINDS:
            words = collections.Counter(word for name, word in cells.items() if name[0] == kind)
            row.append("%d of %d" % (words["ok"], words["ok"] + words["FAIL"]) +
                       (", %d skipped" % words["skip"] if words["skip"] else ""))
        print("| %s |" % " | ".join(row))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, help="folder of what was built")
    parser.add_argument("--cases", choices=("all", "telling", "none"), default="telling")
    parser.add_argument("--python", default="", help="only interpreters whose version or path holds this")
    parser.add_argument("--json", action="store_true", help="an object for programs instead of a table")
    parser.add_argument("--markdown", action="store_true", help="a row an interpreter, as in README.md")
    options = parser.parse_args()
    options.build = os.path.abspath(options.build)
    pythons = [found for found in rec.interpreters(every=True) if options.python in " ".join(found)]
    if not pythons:
        sys.exit("run.py: no CPython 2.7 or 3.6 to 3.15 found")
    columns = {version: examine(options, version, python) for version, python in pythons}
    builds = {version: subprocess.check_output([python, "-c", BUILD], text=True).strip()
              for version, python in pythons}
    words = collections.Counter(word for cells in columns.values() for word in cells.values())
    if options.json:
        print(json.dumps({version: {"build": builds[version],
                                    "results": {"%s: %s" % name: word for name, word in cells.items()}}
                          for version, cells in columns.items()}, indent=1))
    elif options.markdown:
        print_markdown(columns, builds)
    else:
        print_table(columns)
        print("%d interpreters: %d ok, %d failed, %d skipped" % (
            len(columns), words["ok"], words["FAIL"], words["skip"]))
    return 1 if words["FAIL"] else 0


if __name__ == "__main__":
    sys.exit(main())
