# SPDX-License-Identifier: MIT
"""Long calls into C that give the GIL up, in two threads: the thread interrupted has no current thread state.
calls_without_gil.py [ROUNDS]"""
import hashlib
import sys
import threading
import zlib

DATA = bytes(range(256)) * 16384


def digest(data, out):
    out.append(hashlib.sha256(data).hexdigest()[:16])


def checksum(data, out):
    value = 0
    for _ in range(8):
        value = zlib.crc32(data, value)
    out.append('%08x' % value)


rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 25
results = ([], [])
threads = [threading.Thread(target=lambda f=f, r=r: [f(DATA, r) for _ in range(rounds)])
           for f, r in zip((digest, checksum), results)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print('calls without the GIL', sorted(set(results[0])), sorted(set(results[1])), [len(r) for r in results])
