# SPDX-License-Identifier: MIT
"""The main thread ends; another stays."""
import ctypes
import threading
import time


def stay():
    time.sleep(100000)


threading.Thread(target=stay, name="stays", daemon=True).start()
print("ready", flush=True)
ctypes.CDLL(None).pthread_exit(None)
