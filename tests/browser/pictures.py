#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the README's pictures: records example.py before and after a change, opens the pages, looks at them.

    pictures.py SIDEWINDER FOLDER     (leaves change.png, time.png and heatmap.png there; needs root and a Chromium)
"""
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, os.pardir, "tools")]
sys.dont_write_bytecode = True

import devtools  # noqa: E402
import recording as rec  # noqa: E402

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SETTLE = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
PYTHON_ONLY = "document.querySelector('#only [data-value=python]').click()"
BRUSH = """(() => {
    const strip = document.getElementById("strip"), box = strip.getBoundingClientRect();
    const at = (type, x) => strip.dispatchEvent(new PointerEvent(type, { bubbles: true, button: 0,
        clientX: box.left + x * box.width, clientY: box.top + 9 }));
    at("pointerdown", %g); at("pointermove", %g); at("pointerup", %g);
})()"""


def picture(program, page, path, height, dark, *actions):
    with devtools.Browser(program) as browser:
        browser.open("file://" + page, 1200, height, dark)
        for action in (SETTLE, *actions, SETTLE):
            browser.evaluate(action)
        browser.screenshot(path)


def main():
    profiler, folder = rec.Profiler(sys.argv[1]), sys.argv[2]
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    pythons = [python for version, python in rec.interpreters() if rec.minor_version(version) == (3, 12)]
    if not browser or not pythons:
        sys.exit("pictures.py: needs a Chromium and CPython 3.12")
    with tempfile.TemporaryDirectory(prefix="sidewinder-pictures-") as work:
        # names without this machine's folders: the command is what somebody would type
        os.symlink(pythons[0], os.path.join(work, "python3"))
        shutil.copy(os.path.join(HERE, "example.py"), work)
        env = dict(os.environ, PATH=work + ":" + os.environ["PATH"])
        for name, indent in (("before", "none"), ("after", "2")):
            subprocess.run((profiler.path, "record", "-q", "-o", name, "--", "python3", "example.py", indent), cwd=work,
                           env=env, check=True)
        page = os.path.join(work, "page.html")
        subprocess.run((profiler.path, "diff", "--flamegraph", page, "before", "after"), cwd=work, check=True)
        picture(browser, page, os.path.join(folder, "change.png"), 420, False, PYTHON_ONLY)
        subprocess.run((profiler.path, "export", "--to=flamegraph", "-o", page, "after"), cwd=work, check=True)
        picture(browser, page, os.path.join(folder, "time.png"), 400, True, PYTHON_ONLY, BRUSH % (0.45, 0.6, 0.75))
        subprocess.run((profiler.path, "export", "--to=heatmap", "--function=add_up", "-o", page, "after"), cwd=work,
                       check=True)
        picture(browser, page, os.path.join(folder, "heatmap.png"), 480, False)
        print(subprocess.run((profiler.path, "diff", "-n", "8", "before", "after"), cwd=work, check=True,
                             stdout=subprocess.PIPE, text=True).stdout)


if __name__ == "__main__":
    main()
