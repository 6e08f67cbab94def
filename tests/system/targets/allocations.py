# SPDX-License-Identifier: MIT
"""Takes and gives back pieces of memory that are too large for the interpreter's own allocator. argv: CPU seconds."""
import sys
import time

sys.dont_write_bytecode = True
from compat import say  # noqa: E402


def allocate():
    return [bytearray(520 + 17 * number) for number in range(50)]


say("@main")
end = time.process_time() + float(sys.argv[1])
while time.process_time() < end:
    allocate()
