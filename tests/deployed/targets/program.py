# SPDX-License-Identifier: MIT
"""A program to freeze: half of its time in compute, half in encode, which calls json. argv: CPU seconds."""
import json
import os
import sys
import time

sys.stdout.write("@main pid=%d\n" % os.getpid())
sys.stdout.flush()


def spin(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        sum(range(300))


def compute():
    spin(0.02)


def encode():
    end = time.process_time() + 0.02
    while time.process_time() < end:
        json.loads(json.dumps({"numbers": list(range(50))}, indent=1))


def main(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        compute()
        encode()


if __name__ == "__main__":
    main(float(sys.argv[1]))
