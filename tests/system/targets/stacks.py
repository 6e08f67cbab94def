# SPDX-License-Identifier: MIT
"""Burns CPU at many places and prints, for each, the exact stack that a profiler has to find there.

argv: CPU seconds at each place. A line is @stack and JSON: [[name, file, line], ...], root first.
"""
import collections
import functools
import itertools
import json
import operator
import sys
import time

sys.dont_write_bytecode = True
from compat import say  # noqa: E402

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 0.15
clock = time.thread_time


def report(frame, line):
    """Prints the stack of `frame`, whose own line will be `line` while it burns."""
    stack = []
    while frame:
        code = frame.f_code
        name = getattr(code, "co_qualname", code.co_name)
        stack.append([name, code.co_filename, frame.f_lineno if stack else line])
        frame = frame.f_back
    say("@stack " + json.dumps(stack[::-1]))
    return clock() + SECONDS


def burn(*ignored):
    frame = sys._getframe()
    end = report(frame, frame.f_lineno + 1)
    while clock() < end: sum(range(2000))  # noqa: E701
    return 0


def called_over_lines():
    return functools.reduce(
        operator.add,
        [
            1,
            burn(
                "an argument on a line of its own",
            ),
            2,
        ],
    )


def in_list_comprehension():
    return [
        burn()
        for _ in range(1)
    ]


def in_generator_expression():
    return sum(
        burn()
        for _ in range(1)
    )


def generator():
    yield 1
    burn()
    yield 2


def in_generator():
    for _ in delegating():
        pass


def decorated(function):
    @functools.wraps(function)
    def wrapper(*arguments):
        return function(*arguments)
    return wrapper


@decorated
@decorated
def in_decorated():
    burn()


class Thing(object):
    def method(self):
        burn()

    @classmethod
    def of_class(cls):
        burn()

    @staticmethod
    def static():
        burn()

    @property
    def attribute(self):
        return burn()

    def __getattr__(self, name):
        return burn()

    def __enter__(self):
        burn()
        return self

    def __exit__(self, *ignored):
        burn()

    def __lt__(self, other):
        burn()
        return False

    def __del__(self):
        burn()


def in_key_function():
    sorted([1], key=burn)
    sorted([1], key=lambda value: burn(value))


def in_comparison():
    one, two = Thing(), Thing()
    keep.extend((one, two))
    sorted([one, two])


def in_closure():
    place = "here"

    def inner():
        return place, burn()
    inner()


def in_handler():
    try:
        raise ValueError
    except ValueError:
        burn()
    finally:
        burn()


def recursive(depth):
    if depth:
        return recursive(depth - 1)
    return burn()


def in_text():
    exec(compile("\n" * 300 + "def of_text():\n    burn()\n\nof_text()\n", "<text>", "exec"), {"burn": burn})


if sys.version_info[0] > 2:
    from stacks_new import delegating, in_loop_of_events  # noqa: E402
else:
    delegating = in_loop_of_events = generator
keep = []
thing = Thing()
collections.deque(itertools.repeat(None, 100000000), 0)  # until the profiler has looked at a new process, on a busy machine too
keep.append(thing)
called_over_lines()
in_list_comprehension()
in_generator_expression()
in_generator()
in_decorated()
thing.method()
Thing.of_class()
Thing.static()
thing.attribute
thing.missing
with thing:
    pass
in_key_function()
in_comparison()
in_closure()
in_handler()
recursive(40)
functools.partial(recursive, 2)()
in_loop_of_events()
in_text()
list(map(burn, [1]))
(lambda: burn())()
Thing()
say("@done")
import os  # noqa: E402
os._exit(0)
