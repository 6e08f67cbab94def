# SPDX-License-Identifier: MIT
"""The same program under Sidewinder and under other profilers, from PyPI: error, rate kept, stretch, their CPU time."""
import collections
import json
import os
import re
import statistics
import subprocess
import sys
import time

import accuracy
import process
import sidewinder as ours

OURS = 'sidewinder'
# the newest Austin on PyPI asks for a newer C library than some supported distributions have
PACKAGES = {'py-spy': ['py-spy'], 'austin': ['austin-dist', 'austin-dist==3.7.0']}


def install(folder):
    """Installs what can be had into a virtual environment; {name: program}, and why something is missing."""
    found, missing = {}, {}
    if not os.path.exists(os.path.join(folder, 'bin', 'pip')):
        made = subprocess.run([sys.executable, '-m', 'venv', folder], capture_output=True)
        if made.returncode:
            return {}, dict.fromkeys(PACKAGES, '%s makes no virtual environment (package python3-venv?)' %
                                     sys.executable)
    for name, candidates in PACKAGES.items():
        program = os.path.join(folder, 'bin', name)
        for package in [None] + candidates:
            if package:
                subprocess.run([os.path.join(folder, 'bin', 'pip'), 'install', '-q', package], capture_output=True)
            version = subprocess.run([program, '--version'], capture_output=True, text=True) \
                if os.path.exists(program) else None
            if version and version.returncode == 0:
                found[name] = (program, version.stdout.split()[-1])
                break
        else:
            missing[name] = version.stderr.strip().splitlines()[-1] if version else 'not to be had from PyPI'
    return found, missing


def command(name, program, frequency, pid, out):
    if name.startswith('py-spy'):
        return [program, 'record', '-r', str(frequency), '-f', 'raw', '-F', '-o', out, '-d', '600', '-p', str(pid)] + \
            (['--nonblocking'] if 'nonblocking' in name else [])
    return [program, '-i', '%dus' % (1000000 // frequency), '-o', out, '-p', str(pid)]


def counts_of(name, out):
    """(samples by function, how many samples); Austin's metric is microseconds: its lines are its samples."""
    with open(out, errors='replace') as file:
        text = file.read()
    stacks = ours.parse_folded(text)
    counts, outside = accuracy.count_functions(stacks)
    if name.startswith('austin'):
        return counts, sum(1 for line in text.splitlines() if re.search(r'\bf_0\d\b', line))
    return counts, sum(counts.values())


def run(sidewinder, python, name, program, frequency, seconds):
    """One run of ten.py, under `name` or (None) alone; a dict of what it came to."""
    truth, out = sidewinder.path('truth.json'), sidewinder.path('peer.out')
    # what stops the program, or looks at it from outside, samples its wall time
    clock = 'wall' if name and name != OURS else 'thread'
    target = process.Child(accuracy.run_target(python, clock, seconds, truth, wait=1.5))
    time.sleep(0.6)
    child = recording = None
    if name == OURS:
        recording = sidewinder.record(frequency, target.pid)
    elif name:
        child = process.Child(command(name, program, frequency, target.pid, out), stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    target.wait()
    if child:
        child.wait(120)
    if recording:
        recording.wait()
    with open(truth) as file:
        truth = json.load(file)
    got = {'wall_ns': truth['wall_s'] * 1e9 / truth['iterations'], 'cpu_ns': truth['cpu_s'] * 1e9 / truth['iterations']}
    if name:
        cost = recording.child.cpu_s if recording else child.cpu_s
        counts, samples = (counts_of(name, out) if child else
                           one_of_ours(sidewinder, recording))
        got.update(accuracy.errors(list(counts.values()), truth['share']), samples=samples,
                   kept=samples / truth['wall_s'], share=100 * cost / truth['wall_s'])
    return got


def one_of_ours(sidewinder, recording):
    counts, _ = accuracy.count_functions(sidewinder.folded(recording.trace))
    return counts, sum(counts.values())


def measure(sidewinder, results, python, tools, missing, frequencies, seconds, runs):
    for name, why in missing.items():
        results.skip('peers', name, why)
    names = [(OURS, None, 'Sidewinder')]
    for name, (program, version) in tools.items():
        names.append((name, program, '%s %s' % (name, version)))
        if name == 'py-spy':
            names.append(('py-spy nonblocking', program, 'py-spy %s nonblocking' % version))
    for frequency in frequencies:
        got = collections.defaultdict(list)
        for _ in range(runs):
            for name, program, label in names:
                bare = run(sidewinder, python, None, None, frequency, seconds)
                one = run(sidewinder, python, name, program, frequency, seconds)
                one['wall'], one['cpu'] = one['wall_ns'] / bare['wall_ns'], one['cpu_ns'] / bare['cpu_ns']
                got[label].append(one)
        for label, all_runs in got.items():
            middle = {key: statistics.median(one[key] for one in all_runs) for key in all_runs[0]}
            results.add('peers', 'RMS error, %s, %d kHz' % (label, frequency // 1000), middle['rms'], '%', detail=(
                'kept %.2f kHz, program\'s wall time x%.2f, its CPU time x%.2f, profiler %.0f %% of a core' %
                (middle['kept'] / 1e3, middle['wall'], middle['cpu'], middle['share'])), data=all_runs)
