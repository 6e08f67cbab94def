# SPDX-License-Identifier: MIT
"""A thread "former" works and ends; another, "latter", works under the same number. Prints @same tid=N, or @none."""
import ctypes
import threading
import time

PR_SET_NAME = 15
LIBC = ctypes.CDLL(None)


def spin():
    end = time.thread_time() + 0.4
    while time.thread_time() < end:
        pass


def former(found):
    LIBC.prctl(PR_SET_NAME, b"former")
    found.append(threading.get_native_id())
    spin()


def latter(wanted, found):
    LIBC.prctl(PR_SET_NAME, b"latter")
    if threading.get_native_id() == wanted:
        found.append(wanted)
        spin()


def run(function, *arguments):
    thread = threading.Thread(target=function, args=arguments)
    thread.start()
    thread.join()


def main():
    first, second = [], []
    print("@main", flush=True)
    run(former, first)
    for _ in range(2000):
        # whoever makes a thread or a process in between gets the number
        with open("/proc/sys/kernel/ns_last_pid", "w") as file:
            file.write(str(first[0] - 1))
        run(latter, first[0], second)
        if second:
            break
    print("@same tid=%d" % first[0] if second else "@none", flush=True)


main()
