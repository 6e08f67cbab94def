#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the screens that the README shows: docutils makes pages, `sidewinder top` looks on.

    listing.py SIDEWINDER [KEY]...    a screen, then one after each KEY, e.g. l, Enter, Down
"""
import os
import re
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, os.pardir, "tools")]

import recording as rec  # noqa: E402
import tmux  # noqa: E402

PAGES = "/usr/share/doc/docutils-doc"
WIDTH, HEIGHT = 92, 20
TITLE = re.compile(r"^callers of .*|^\w+ by .*", re.M)
ENOUGH = re.compile(r"^now 5s .*^start +([6-9]|\d\d)\d{3} samples", re.M | re.S)


def prefer(pid):
    """Other work on the machine shall not show in the figures, as far as that goes."""
    try:
        os.setpriority(os.PRIO_PROCESS, int(pid), -15)
        with open("/proc/%s/autogroup" % pid, "w") as file:
            file.write("-15")
    except OSError:
        pass


def main():
    if not os.path.exists(os.path.join(PAGES, "FAQ.txt")):
        sys.exit("listing.py: the package docutils-doc is not here, or without its documents")
    work = tempfile.mkdtemp(prefix="sidewinder-listing-")
    profiler = rec.Profiler(sys.argv[1]).path
    try:
        for copy in "123":  # a few seconds of work each
            shutil.copytree(PAGES, os.path.join(work, "pages", copy))
        os.symlink(profiler, os.path.join(work, "sidewinder"))
        with tmux.Terminal(WIDTH, HEIGHT) as terminal:
            prefer(terminal.ask("#{pane_pid}"))
            terminal.run("cd %s; ./sidewinder top -- python3 /usr/bin/rst-buildhtml --silent pages" % work)
            text = terminal.wait(lambda text: ENOUGH.search(text) or "ENDED" in text,
                                 "some thousand samples")
            print(text.rstrip())
            for key in sys.argv[2:]:
                before = TITLE.search(text).group()
                terminal.keys(key)
                text = terminal.wait(lambda text: TITLE.search(text).group() != before, "another view")
                print("\n-- %s\n%s" % (key, text.rstrip()))
            terminal.keys("q", "q")
            terminal.gone()
    finally:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
