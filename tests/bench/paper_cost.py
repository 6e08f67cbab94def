# SPDX-License-Identifier: MIT
"""What each way to sample costs a program: slices of equal work, with and without, by turns."""
import json
import statistics
import subprocess

import cost
import process

SIGNAL_WAYS = {
    'SIGTRAP': ['--path=signal', '--signal=sigtrap'],
    'SIGIO': ['--path=signal', '--signal=sigio'],
    'SIGIO, re-armed': ['--path=signal', '--signal=sigio', '--rearm'],
}


def ways(profiler):
    """({name: options of record} of what this build can do, [names of what it cannot])."""
    text = subprocess.run([profiler.program, 'record', '--help'], capture_output=True, text=True, check=True).stdout
    found, missing = {'BPF': []}, []
    for way, options in SIGNAL_WAYS.items():
        if all(option.partition('=')[0] in text for option in options):
            found[way] = options
        else:
            missing.append(way)
    return found, missing


def depths(quick):
    return (0, 50, 100) if quick else tuple(range(0, 101, 10))


def ns_per_iteration(path):
    """The lower tenth of the slices of a run of deep.py: each has a hundred overflows and more, and what else slows a slice
    down on a shared machine only ever adds. The first ones, where a profiler still looks around, are left out."""
    with open(path) as file:
        out = json.load(file)
    taken = [(b[1] - a[1]) / out['iterations'] for a, b in zip(out['notes'], out['notes'][1:])]
    taken = sorted(taken[len(taken) // 5:])
    return taken[len(taken) // 10]


def run_slices(profiler, python, depth, frequency, seconds, options, native):
    """ns an iteration of one run; options None: not sampled, 'floor': with overflows for which nothing is done."""
    out = profiler.path('slices.json')
    command = [python, process.DEEP, str(depth + 4), '--seconds', str(seconds), '--out', out]
    if options is None or options == 'floor':
        child = process.Child(command)
        floor = cost.Floor(profiler, frequency, child.pid) if options else None
        child.wait()
        if floor:
            floor.stop()
    else:
        profiler.record(frequency, command, native=native, options=options, name='depth').wait()
    return ns_per_iteration(out)


def content_ways(found):
    """{name: (options, native)}: Python frames alone, and with native ones, unwound where there is a choice."""
    result = {}
    for way, options in found.items():
        result[way] = (options, False)
        if way == 'BPF':
            result['BPF with native'] = (options, True)
        if way == 'SIGTRAP':
            result['SIGTRAP, online'] = (options + ['--unwind=online'], True)
            result['SIGTRAP, offline'] = (options + ['--unwind=offline'], True)
    return result


def rate_of(way):
    """A handler that unwinds for a hundred microseconds has to leave the program time."""
    return 4000 if 'online' in way else 10000


def by_depth(profiler, python, found, quick):
    """{way: {depth: us}}: CPU time that a sample takes above an empty overflow, from the quickest of several runs."""
    chosen = {way: how for way, how in content_ways(found).items() if 'SIGIO' not in way}
    turns = dict({'none': (None, False), 'floor': ('floor', False)}, **chosen)
    result = {way: {} for way in chosen}
    seconds, rounds = (0.5, 2) if quick else (0.7, 5)
    for depth in depths(quick):
        least = {}
        for _ in range(rounds):
            for way, (options, native) in turns.items():
                ns = run_slices(profiler, python, depth, rate_of(way), seconds, options, native)
                least[way] = min(ns, least.get(way, ns))
        floor = cost.per_overflow(least['none'], least['floor'], rate_of('floor'))
        for way in chosen:
            result[way][depth] = cost.per_overflow(least['none'], least[way], rate_of(way)) - floor
    return result


def slowdown(profiler, python, found, frequency, quick):
    """{way: [CPU time of the same work, times that without sampling]}, a number a round."""
    seconds, rounds = (1, 1) if quick else (2, 7)
    turns = dict({'an empty overflow': 'floor'}, **found)
    result = {way: [] for way in turns}
    for _ in range(rounds):
        bare = run_slices(profiler, python, 20, frequency, seconds, None, False)
        for way, options in turns.items():
            result[way].append(run_slices(profiler, python, 20, frequency, seconds, options, False) / bare)
    return result


def bytes_per_sample(profiler, python, options, native, seconds):
    out = profiler.path('slices.json')
    command = [python, process.DEEP, '24', '--seconds', str(seconds), '--out', out]
    recording = profiler.record(1000, command, native=native, options=options, name='bytes')
    samples = recording.wait()['samples']
    if not samples:
        raise RuntimeError('no sample: ' + recording.words())
    return process.tree_bytes(recording.trace) / samples
