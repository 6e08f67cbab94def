# SPDX-License-Identifier: MIT
"""service.py NAME SECONDS: functions NAME and NAME_thread run, each for so much CPU time.

With FORK as third argument a child runs NAME_child beside them.
"""
import os
import sys
import threading
import time

clock = getattr(time, "thread_time", time.process_time)  # 3.7 and later
name, seconds = sys.argv[1], float(sys.argv[2])
source = """
def %s(seconds):
    until = clock() + seconds
    while clock() < until:
        sum(range(1000))
"""
for function in (name, name + "_child", name + "_thread"):
    exec(compile(source % function, "/srv/%s.py" % name, "exec"))

thread = threading.Thread(target=globals()[name + "_thread"], args=(seconds,))
thread.start()
if sys.argv[3:] == ["FORK"] and os.fork() == 0:
    globals()[name + "_child"](seconds)
    os._exit(0)
print("@%s pid=%d" % (name, os.getpid()), flush=True)
globals()[name](seconds)
thread.join()
