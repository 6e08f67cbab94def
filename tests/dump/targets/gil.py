# SPDX-License-Identifier: MIT
"""One thread keeps the GIL in a C function that sleeps; two others wait for it, without end."""
import ctypes
import threading
import time


def keeper():
    time.sleep(0.5)
    ctypes.PyDLL(None).sleep(100000)


def waiter():
    while True:
        time.sleep(0.01)


for index in range(2):
    threading.Thread(target=waiter, name="waiter-%d" % index, daemon=True).start()
threading.Thread(target=keeper, name="keeper", daemon=True).start()
print("ready", flush=True)
time.sleep(100000)
