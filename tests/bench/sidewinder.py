# SPDX-License-Identifier: MIT
"""Sidewinder as the benchmarks run it: record, its summary, its export."""
import collections
import json
import os
import re
import shutil
import signal
import subprocess
import time

import process


class Sidewinder:
    def __init__(self, build):
        self.program = os.path.join(build, 'sidewinder')
        self.floor = os.path.join(build, 'bench', 'floor')
        self.work = os.path.join(build, 'bench', 'work')
        os.makedirs(self.work, exist_ok=True)

    def path(self, name):
        return os.path.join(self.work, name)

    def record(self, frequency, target, native=False, options=(), name='trace'):
        """Starts a recording of a pid, a command (list) or '-a'; returns the Recording. frequency None: by the options."""
        return Recording(self, frequency, target, native, list(options), name)

    def folded(self, trace):
        """{stack as a list of frames, root first: count}"""
        out = subprocess.run([self.program, 'export', trace, '--to=folded'], capture_output=True, text=True,
                             errors='replace', check=True)
        return parse_folded(out.stdout)


def parse_folded(text):
    stacks = collections.Counter()
    for line in text.splitlines():
        stack, _, count = line.strip().rpartition(' ')
        if stack and not line.startswith('#') and re.fullmatch(r'\d+', count):
            stacks[tuple(stack.split(';'))] += int(count)
    return stacks


class Recording:
    def __init__(self, sidewinder, frequency, target, native, options, name):
        self.trace = sidewinder.path(name)
        shutil.rmtree(self.trace, ignore_errors=True)
        if isinstance(target, int):
            target = ['-p', str(target)]
        elif isinstance(target, list):
            target = ['--'] + target
        else:
            target = [target]
        rate = ['-F', str(frequency)] if frequency else []
        command = [sidewinder.program, 'record'] + rate + ['-o', self.trace, '--json', '--quiet', '--no-report',
                   '--native=' + ('dwarf' if native else 'none')] + options + target
        self.log = open(self.trace + '.log', 'w+')
        self.out = open(self.trace + '.json', 'w+')
        self.child = process.Child(command, stdout=self.out, stderr=self.log)
        self.pid = self.child.pid

    def wait_until_sampling(self, settle=0.1):
        if not process.wait_until_sampling(self.child):
            raise RuntimeError('sidewinder does not record: ' + self.words())
        time.sleep(settle)
        return self

    def words(self):
        self.log.seek(0)
        return self.log.read().strip()[-2000:]

    def stop(self):
        self.child.send(signal.SIGINT)
        return self.wait()

    def wait(self):
        """Returns the summary, as `record --json` prints it."""
        self.child.wait()
        self.out.seek(0)
        text = self.out.read()
        start = text.rfind('\n{') + 1 if not text.startswith('{') else 0
        try:
            return json.loads(text[start:])
        except ValueError:
            raise RuntimeError('sidewinder printed no summary (status %s): %s %s' %
                               (self.child.status, text[-300:], self.words())) from None
