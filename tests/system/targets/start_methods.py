# SPDX-License-Identifier: MIT
"""A process of multiprocessing for each way to start one; each works in its own function. argv: CPU seconds."""
import multiprocessing
import os
import sys
import time

sys.dont_write_bytecode = True


def work():
    end = time.process_time() + float(sys.argv[1])
    while time.process_time() < end:
        sum(range(300))


def fork():
    work()


def spawn():
    work()


def forkserver():
    work()


def run(function):
    os.write(1, ("@%s pid=%d tid=%d\n" % (function.__name__, os.getpid(), os.getpid())).encode())
    function()


if __name__ == "__main__":
    processes = [multiprocessing.get_context(function.__name__).Process(target=run, args=(function,))
                 for function in (fork, spawn, forkserver)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
