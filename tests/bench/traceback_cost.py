# SPDX-License-Identifier: MIT
"""What Python's own traceback costs at call depths 0 to 100, on a chain of distinct functions (of a recursive one newer
versions print only the first frames).

traceback_cost.py COUNT [DEPTH...]: prints {depth: {"us": CPU time of a print_stack(), "bytes": of its text}}.
Runs on CPython 3.8 and later.
"""
import io
import json
import statistics
import sys
import time
import traceback


def chain(depth, innermost):
    scope = {'level_0': innermost}
    for i in range(1, depth + 1):
        exec(compile('def level_%d(a):\n    return level_%d(a)' % (i, i - 1), '/srv/app/module_%d.py' % (i % 10), 'exec'),
             scope)
    return scope['level_%d' % depth]


def several(count):
    """[microseconds of CPU time each] of five times `count` tracebacks, and the bytes of one."""
    text, found = io.StringIO(), []
    traceback.print_stack(file=text)
    for _ in range(5):
        with open('/dev/null', 'w') as null:
            begin = time.clock_gettime_ns(time.CLOCK_THREAD_CPUTIME_ID)
            for _ in range(count):
                traceback.print_stack(file=null)
            found.append((time.clock_gettime_ns(time.CLOCK_THREAD_CPUTIME_ID) - begin) / count / 1e3)
    return found, len(text.getvalue())


def main():
    count = int(sys.argv[1])
    result = {}
    for depth in [int(x) for x in sys.argv[2:]] or range(0, 101, 10):
        found, size = chain(depth, several)(count)
        result[depth] = {'us': statistics.median(found), 'least': min(found), 'most': max(found), 'bytes': size}
    print(json.dumps(result))


if __name__ == '__main__':
    main()
