# SPDX-License-Identifier: MIT
"""Runs functions whose names, files and line tables no source could have given them."""
import sys
import time
import types

NAMES = ["semi;colon", "new\nline", "esc\x1b[31mape", "n\x00ul", "lone\ud800surrogate", "<script>alert(1)</script>",
         "x" * 100000, "\u200bzero\u202ewidth", "tab\tbed", " ", "\xff\x80"]


def work():
    end = time.process_time() + SECONDS
    while time.process_time() < end:
        pass


def renamed(function, **changes):
    code = function.__code__
    if hasattr(code, "co_qualname") and "co_name" in changes:
        changes["co_qualname"] = changes["co_name"]
    return types.FunctionType(code.replace(**changes), globals())


def names():
    for _ in range(4):  # until the interpreter has been found
        work()
    for name in NAMES:
        renamed(work, co_name=name, co_filename="/tmp/%s.py" % name.replace("/", ""))()


def tables():
    field = "co_linetable" if sys.version_info >= (3, 10) else "co_lnotab"
    for table in (b"", b"\x00" * 50, b"\xff" * 999, b"\x80" * 7, bytes(range(256)) * 20, b"\x7f" * 3000000,
                  work.__code__.co_code):
        renamed(work, co_name="garbage", **{field: table})()


def many():
    """Thousands of code objects with long names, each for a moment."""
    end, number = time.process_time() + 3, 0
    while time.process_time() < end:
        number += 1
        for i in range(50):
            renamed(work, co_name="%07d%s" % (number * 50 + i, "y" * 1500))()


SECONDS = 0.0005 if sys.argv[1] == "many" else 0.15
globals()[sys.argv[1]]()
print("@done", flush=True)
