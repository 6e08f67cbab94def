# SPDX-License-Identifier: MIT
"""Virtual environments with a package from PyPI, one for each interpreter, made when first needed."""
import os
import subprocess
import threading

from recording import Skip

ROOT = "build/venvs"
_lock = threading.Lock()
_failed = {}  # (version, package) -> why it cannot be had; asked only once


def run(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace")
    return None if done.returncode == 0 else (done.stdout.strip() or "no output").splitlines()[-1]


def with_package(python, version, package):
    """Path of an interpreter like `python` that can import `package`; raises Skip if there is none."""
    with _lock:
        folder = os.path.abspath(os.path.join(ROOT, "%s-%s" % (version, package)))
        own = os.path.join(folder, "bin", "python")
        marker = os.path.join(folder, "installed")
        if os.path.exists(marker):
            return own
        if (version, package) not in _failed:
            why = run(python, "-m", "venv", folder) or run(
                own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                "--retries", "1", "--timeout", "15", package)
            if why is None:
                open(marker, "w").close()
                return own
            _failed[version, package] = why
        raise Skip("no %s for %s: %s" % (package, version, _failed[version, package]))
