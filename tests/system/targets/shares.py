# SPDX-License-Identifier: MIT
"""Ten functions with known shares of the CPU; prints what its own clock says of each.

argv: CPU seconds. The last line is @shares and JSON: {name: share}. Rounds differ in length, or a
sampler could fall into step with them.
"""
import json
import random
import sys
import time

sys.dont_write_bytecode = True
from compat import say  # noqa: E402

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 4.0
SHARES = (50, 20, 15, 5, 5, 1, 1, 1, 1, 1)


def burn(count):
    value = 12345
    for _ in range(count):
        value = (value * 1103515245 + 12345) & 0x3FFFFFFF
    return value


FUNCTIONS = []
for number in range(len(SHARES)):
    exec("def share_%d(count):\n    return burn(count)\nFUNCTIONS.append(share_%d)" % (number, number))
used = [0.0] * len(SHARES)
say("@main")
end = time.thread_time() + SECONDS
while time.thread_time() < end:
    scale = random.randrange(150, 450)
    for number, function in enumerate(FUNCTIONS):
        before = time.thread_time()
        function(SHARES[number] * scale)
        used[number] += time.thread_time() - before
say("@shares " + json.dumps({"share_%d" % n: t / sum(used) for n, t in enumerate(used)}))
