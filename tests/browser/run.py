#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Opens pages in a headless Chromium, acts on them by a script beside this one, and prints TAP.

    run.py FLAMEGRAPH COMPARISON HEATMAP     (the unit tests of the pages, which write pages of known profiles)
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True

import devtools  # noqa: E402

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PAGES = (("page", 1200, False), ("page", 400, True), ("page", 2000, True), ("many", 1200, False),
         ("change", 1200, False), ("change", 420, True), ("compare", 1200, False), ("compare", 420, True),
         ("heat", 1200, False), ("heat", 400, True))
SCRIPTS = {"compare": "compare.js", "heat": "heat.js"}
PROGRAMS = {"compare": 2, "heat": 3}  # which argument writes the page


def results(browser, page, kind, width, dark):
    """One line a check: "ok ..." or "not ok ...". """
    with open(os.path.join(HERE, SCRIPTS.get(kind, "page.js")), encoding="utf-8") as file:
        script = file.read()
    try:
        with devtools.Browser(browser) as opened:
            opened.open("file://" + page, width, 700, dark)
            return opened.evaluate("(%s)(%r)" % (script.rstrip().rstrip(";"), kind))
    except (OSError, RuntimeError, EOFError) as error:
        return ["not ok the page can be acted on: %s" % error]


def main():
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if not browser:
        print("1..1\nok 1 - the pages # SKIP no Chromium found")
        return 0
    number = failed = 0
    with tempfile.TemporaryDirectory(prefix="sidewinder-pages-") as work:
        for kind, width, dark in PAGES:
            page = os.path.join(work, kind + ".html")
            subprocess.run((sys.argv[PROGRAMS.get(kind, 1)], "--" + kind, page), check=True)
            for line in results(browser, page, kind, width, dark):
                number += 1
                failed += line.startswith("not ok")
                word, what = re.fullmatch(r"(ok|not ok) (.*)", line, re.S).groups()
                print("%s %d - %s (%d wide, %s)" % (word, number, what, width, "dark" if dark else "light"))
    print("1..%d" % number)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
