# SPDX-License-Identifier: MIT
"""Virtual environments with packages from PyPI, one for each interpreter and set, made when first needed."""
import os
import subprocess
import threading

from recording import Skip

ROOT = "build/venvs"
_lock = threading.Lock()
_failed = {}  # (version, packages) -> why they cannot be had; asked only once


def run(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace")
    return None if done.returncode == 0 else (done.stdout.strip() or "no output").splitlines()[-1]


def with_package(python, version, *packages):
    """Path of an interpreter like `python` that can import the packages; raises Skip if there is none."""
    with _lock:
        folder = os.path.abspath(os.path.join(ROOT, "-".join((version,) + packages)))
        own = os.path.join(folder, "bin", "python")
        marker = os.path.join(folder, "installed")
        if os.path.exists(marker):
            return own
        if (version, packages) not in _failed:
            why = run(python, "-m", "venv", folder) or run(
                own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--prefer-binary",
                "--retries", "1", "--timeout", "15", *packages)
            if why is None:
                open(marker, "w").close()
                return own
            _failed[version, packages] = why
        raise Skip("no %s for %s: %s" % (" and ".join(packages), version, _failed[version, packages]))
