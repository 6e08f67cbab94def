# SPDX-License-Identifier: MIT
"""The same number of steps through fresh memory, near and far: differ in page faults and cache misses, not in steps.
strides.py [ROUNDS]; for -e page-faults -c 1: far() has nearly all of them."""
import mmap
import sys

PAGES = 4096
PAGE = 4096


def near(memory):
    for i in range(PAGES):
        memory[i] = 1
    return PAGES


def far(memory):
    for i in range(0, PAGES * PAGE, PAGE):
        memory[i] = 1
    return PAGES


def once(function):
    memory = mmap.mmap(-1, PAGES * PAGE)
    if hasattr(memory, 'madvise') and hasattr(mmap, 'MADV_NOHUGEPAGE'):
        memory.madvise(mmap.MADV_NOHUGEPAGE)
    touched = function(memory)
    memory.close()
    return touched


total = 0
for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 40):
    total += once(near) + once(far)
print('strides', total)
