# SPDX-License-Identifier: MIT
"""Makes the caller of a running frame that frame itself (argv[1] = 1) or one inside it (2), for a while."""
import ctypes
import gc
import sys
import time

FRAME_BACK = 24  # PyFrameObject.f_back to 3.10, PyFrameObject.f_frame from 3.11
PREVIOUS = {11: 48, 12: 8, 13: 8}  # _PyInterpreterFrame.previous (Include/internal/pycore_frame.h)


def link_of(frame):
    """The word that holds the caller of a frame, and the address by which a frame is linked."""
    if sys.version_info < (3, 11):
        return ctypes.c_size_t.from_address(id(frame) + FRAME_BACK), id(frame)
    inside = ctypes.c_size_t.from_address(id(frame) + FRAME_BACK).value
    return ctypes.c_size_t.from_address(inside + PREVIOUS[sys.version_info[1]]), inside


def spin():
    frame = sys._getframe()
    link, _ = link_of(frame if sys.argv[1] == "1" else frame.f_back)
    to = link_of(frame)[1]
    kept = link.value
    end = time.process_time() + 1
    link.value = to
    while now() < end:
        pass
    link.value = kept


def middle():
    spin()


now = time.process_time
gc.disable()  # it would follow the chain
print("@main", flush=True)
middle()
print("@done", flush=True)
