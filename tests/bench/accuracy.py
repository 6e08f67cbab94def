# SPDX-License-Identifier: MIT
"""How far a profile is from the truth: the ten functions, by the program's own clock."""
import json
import math
import re
import statistics

import process

NAMES = ['f_%02d' % i for i in range(10)]


def count_functions(stacks):
    """(samples per function, samples outside all of them); a stack belongs to the innermost of the ten in it."""
    counts, outside = dict.fromkeys(NAMES, 0), 0
    for stack, count in stacks.items():
        found = [m.group(0) for frame in reversed(stack) for m in [re.search(r'\bf_0\d\b', frame)] if m]
        if found:
            counts[found[0]] += count
        else:
            outside += count
    return counts, outside


def errors(shares, truth):
    """L2 and RMS distance of two lists of shares, in percent."""
    total = sum(shares)
    square = sum((share / total - true) ** 2 for share, true in zip(shares, truth)) if total else 1.0
    return {'l2': 100 * math.sqrt(square), 'rms': 100 * math.sqrt(square / len(truth))}


def ideal_rms(truth, frequency, phases=50):
    """RMS error of a sampler without any fault on this very run: exact intervals, median over where they begin."""
    times, step = truth['times'], 1e9 / frequency
    found = []
    for phase in range(phases):
        counts, tick, index = [0] * 10, times[0] + step * (phase + 0.5) / phases, 0
        for index in range(1, len(times)):
            if tick < times[index]:
                n = math.ceil((times[index] - tick) / step)
                counts[(index - 1) % 10] += n
                tick += n * step
        found.append(errors(counts, truth['share'])['rms'])
    return statistics.median(found)


def run_target(python, clock, seconds, out, wait=0):
    return [python, process.TEN, '--seconds', str(seconds), '--clock', clock, '--wait', str(wait), '--out', out]


def measure(sidewinder, results, pythons, seconds, runs):
    """Rows of the RMS error for each interpreter at 1 and 10 kHz."""
    for label, python in pythons.items():
        for frequency, goal in ((1000, 0.1), (10000, 0.02)):
            got = [one(sidewinder, python, frequency, seconds) for _ in range(runs)]
            rms = statistics.median(run['rms'] for run in got)
            middle = min(got, key=lambda run: abs(run['rms'] - rms))
            results.add('accuracy', 'RMS error, %s, %d kHz' % (label, frequency // 1000), rms, '%', goal, detail=(
                'L2 %.3f %%, n %d, outside %d, lost %d; a faultless sampler %.3f %%; %d runs, worst %.3f %%' %
                (middle['l2'], middle['n'], middle['outside'], middle['lost'],
                 statistics.median(run['ideal'] for run in got), runs, max(run['rms'] for run in got))), data=got)


def one(sidewinder, python, frequency, seconds, options=()):
    out = sidewinder.path('truth.json')
    recording = sidewinder.record(frequency, run_target(python, 'thread', seconds, out), options=options)
    summary = recording.wait()
    with open(out) as file:
        truth = json.load(file)
    counts, outside = count_functions(sidewinder.folded(recording.trace))
    got = errors(list(counts.values()), truth['share'])
    got.update(n=sum(counts.values()), outside=outside, lost=sum(summary['lost'].values()), counts=counts,
               share=truth['share'], status=summary['status'], ideal=ideal_rms(truth, frequency), cpu_s=truth['cpu_s'])
    return got
