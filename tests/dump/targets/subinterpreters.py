# SPDX-License-Identifier: MIT
"""Two threads, each inside of a subinterpreter of its own."""
import threading
import time

try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

CODE = """
import time
def inside():
    time.sleep(100000)
inside()
"""


def enter():
    identity = interpreters.create()
    run = getattr(interpreters, "exec", None) or interpreters.run_string
    run(identity, CODE)


for name in "first", "second":
    threading.Thread(target=enter, name=name, daemon=True).start()
print("ready", flush=True)
time.sleep(100000)
