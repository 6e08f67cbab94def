# SPDX-License-Identifier: MIT
"""Forty threads, some of which live only for milliseconds, and that wait for each other. threads.py [ROUNDS]"""
import queue
import sys
import threading


def work(n):
    x = n
    for _ in range(20000):
        x = (x * 1103515245 + 12345) & 0x3FFFFFFF
    return x


def serve(jobs, results):
    for n in iter(jobs.get, None):
        results.put((n, work(n)))


def short(n, out):
    out[n] = work(n)


rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 6
jobs, results, brief = queue.Queue(), queue.Queue(), {}
servers = [threading.Thread(target=serve, args=(jobs, results)) for _ in range(20)]
for thread in servers:
    thread.start()
for n in range(rounds * 40):
    jobs.put(n)
for turn in range(rounds):
    threads = [threading.Thread(target=short, args=(turn * 20 + i, brief)) for i in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
for _ in servers:
    jobs.put(None)
for thread in servers:
    thread.join()
print('threads', sum(results.get()[1] for _ in range(rounds * 40)), sum(brief.values()))
