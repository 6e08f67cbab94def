# SPDX-License-Identifier: MIT
"""A terminal of a given size, whose keys can be pressed and whose screen can be read."""
import os
import shutil
import subprocess
import tempfile

import recording as rec

PROMPT = "prompt> "
SECONDS = float(os.environ.get("SECONDS_TO_WAIT", "60"))  # until something shows: generous, as processors may be elsewhere


class Terminal:
    """A shell in tmux. Use it in a `with`."""

    def __init__(self, width, height, **env):
        if not shutil.which("tmux"):
            raise rec.Skip("tmux is not installed")
        self.folder = tempfile.mkdtemp(prefix="sidewinder-tmux-")
        self.env = dict(os.environ, LC_ALL="C.UTF-8", HOME=self.folder)
        for name in ("TMUX", "NO_COLOR", "COLUMNS", "LINES", "ENV"):
            self.env.pop(name, None)
        self.env.update(env)
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(width), "-y", str(height), "sh")
        self.wait(lambda text: text.strip(), "prompt of a shell")
        self.run("PS1='%s'; clear" % PROMPT)
        self.wait(lambda text: text.rstrip() == PROMPT.strip(), "prompt")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.tmux("kill-server", check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    def tmux(self, *arguments, check=True):
        done = subprocess.run(["tmux", "-u", "-S", os.path.join(self.folder, "socket"), *arguments],
                              env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, encoding="utf-8", timeout=SECONDS)
        if check and done.returncode:
            raise AssertionError("tmux %s: %s" % (" ".join(arguments), done.stderr))
        return done.stdout

    def keys(self, *keys):
        """Names as tmux has them: "Enter", "Down", "C-c", or characters."""
        self.tmux("send-keys", *keys)

    def type(self, text):
        self.tmux("send-keys", "-l", text)

    def run(self, command):
        self.type(command)
        self.keys("Enter")

    def screen(self, *options):
        return self.tmux("capture-pane", "-p", *options)

    def ask(self, what):
        """A format of tmux, as "#{alternate_on}"."""
        return self.tmux("display-message", "-p", what).strip()

    def children(self, pid=None):
        """Pids of the shell's children, or of another process's, as text."""
        pid = pid or self.ask("#{pane_pid}")
        return rec.read_text("/proc/%s/task/%s/children" % (pid, pid)).split()

    def resize(self, width, height):
        self.tmux("resize-window", "-x", str(width), "-y", str(height))

    def wait(self, condition, what):
        """Waits until condition(screen) is true, and gives that screen."""
        seen = [""]

        def look():
            seen[0] = self.screen()
            return condition(seen[0])

        try:
            rec.wait_for(look, SECONDS, what)
        except AssertionError as error:
            raise AssertionError("%s; the screen:\n%s" % (error, seen[0]))
        return seen[0]

    def wait_for(self, *parts):
        return self.wait(lambda text: all(part in text for part in parts), " and ".join(parts))

    def gone(self):
        """Waits until the shell has its terminal back; gives the screen."""
        return self.wait(lambda text: self.ask("#{alternate_on}") == "0" and
                         text.rstrip("\n").split("\n")[-1].startswith(PROMPT.strip()),
                         "prompt on the shell's own screen")
