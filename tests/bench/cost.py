# SPDX-License-Identifier: MIT
"""What an overflow costs the program: run time of the BPF program by depth, and CPU time added per sample."""
import json
import signal
import statistics
import subprocess
import time

import process

DEPTHS = (2, 10, 24, 50, 100)
EMPTY, PYTHON, NATIVE = 'floor', 'python', 'native'


class Target:
    """deep.py, running: at the end, the slices of work that lay inside given intervals."""

    def __init__(self, sidewinder, python, depth, seconds=3600):
        self.out = sidewinder.path('slices.json')
        self.child = process.Child([python, process.DEEP, str(depth), '--seconds', str(seconds), '--out', self.out])
        self.pid = self.child.pid
        time.sleep(0.3)

    def stop(self):
        """Returns [(start ns, end ns, CPU ns)] of all slices."""
        self.child.send(signal.SIGTERM)
        self.child.wait()
        with open(self.out) as file:
            notes = json.load(file)['notes']
        return [(a[0], b[0], b[1] - a[1]) for a, b in zip(notes, notes[1:])]


class Floor:
    """The same event with a program that returns at once."""

    def __init__(self, sidewinder, frequency, pid):
        self.child = process.Child([sidewinder.floor, str(frequency), str(pid)], stdout=subprocess.DEVNULL)
        if not process.wait_until_sampling(self.child):
            raise RuntimeError('the floor tool does not run')
        time.sleep(0.1)

    def stop(self):
        self.child.send(signal.SIGINT)
        self.child.wait()


def start(sidewinder, kind, frequency, pid):
    if kind == EMPTY:
        return Floor(sidewinder, frequency, pid)
    return sidewinder.record(frequency, pid, native=kind == NATIVE, name='cost').wait_until_sampling(0.4)


def alternate(sidewinder, python, depth, kinds, frequency, rounds, window):
    """{kind: [median CPU ns of a slice, one per round]}; all in one process, by turns, the order turned each round."""
    target = Target(sidewinder, python, depth)
    spans = []
    try:
        for turn in range(rounds):
            order = [None] + kinds
            for kind in order[turn % len(order):] + order[:turn % len(order)]:
                profiler = start(sidewinder, kind, frequency, target.pid) if kind else None
                begin = time.monotonic_ns()
                time.sleep(window)
                spans.append((turn, kind, begin, time.monotonic_ns()))
                if profiler:
                    profiler.stop()
    finally:
        slices = target.stop()
    found = {kind: [] for kind in [None] + kinds}
    for _, kind, begin, end in spans:
        inside = [cpu for a, b, cpu in slices if a >= begin and b <= end]
        found[kind].append(statistics.median(inside) if inside else None)
    return found


def per_overflow(bare, sampled, frequency):
    """Microseconds that each overflow took, from the CPU time of a slice without and with sampling."""
    return (sampled - bare) / (sampled * frequency / 1e9) / 1e3


def measure_added(sidewinder, results, python, frequency, rounds, window, native=True):
    kinds = [EMPTY, PYTHON] + ([NATIVE] if native else [])
    for depth, goal in ((24, 1.5), (100, 3.0)):
        found = alternate(sidewinder, python, depth, kinds, frequency, rounds, window)
        turns = [i for i in range(rounds) if all(found[kind][i] for kind in found)]
        cost = {kind: [per_overflow(found[None][i], found[kind][i], frequency) for i in turns] for kind in kinds}
        floor = statistics.median(cost[EMPTY])
        for kind in kinds[1:]:
            added = [full - empty for full, empty in zip(cost[kind], cost[EMPTY])]
            quarter = statistics.quantiles(added, n=4) if len(added) > 1 else added * 3
            results.add('added cost', 'CPU per sample above an empty overflow, %d frames%s' %
                        (depth, ' and native' if kind == NATIVE else ''), statistics.median(added), 'us',
                        goal if kind == PYTHON else 5.0,
                        detail='quartiles %.2f %.2f; an empty overflow %.1f us; %d rounds at %d kHz' %
                        (quarter[0], quarter[2], floor, len(turns), frequency // 1000),
                        data={'cost': cost, 'slices_ns': found[None]})


def run_time(sidewinder, python, depth, frequency, seconds, native):
    """(median ns, least ns, runs) of the BPF program, warm, over windows of 0.25 s; native None: an empty program."""
    target = Target(sidewinder, python, depth)
    try:
        if native is None:
            profiler = Floor(sidewinder, frequency, target.pid)
        else:
            profiler = sidewinder.record(frequency, target.pid, native=native, name='depth').wait_until_sampling(0.7)
        notes = [process.bpf_runs(profiler.child.pid)]
        for _ in range(max(2, int(seconds / 0.25))):
            time.sleep(0.25)
            notes.append(process.bpf_runs(profiler.child.pid))
        profiler.stop()
    finally:
        target.stop()
    windows = [(b[0] - a[0]) / (b[1] - a[1]) for a, b in zip(notes, notes[1:]) if b[1] > a[1]]
    if not windows:
        raise RuntimeError('the BPF program did not run')
    return statistics.median(windows), min(windows), notes[-1][1] - notes[0][1]


def measure_run_time(sidewinder, results, label, python, frequency, seconds, natives=(False, True)):
    with process.bpf_statistics():
        empty = run_time(sidewinder, python, 2, frequency, seconds, None)[0]
        for native in natives:
            ns = {}
            for depth in DEPTHS:
                ns[depth], least, runs = run_time(sidewinder, python, depth, frequency, seconds, native)
                results.add('in BPF', '%s, %d frames%s' % (label, depth, ' and native' if native else ''),
                            ns[depth] / 1e3, 'us', 1.0 if depth == 24 and not native else None,
                            detail='least %.2f us, %d runs; an empty program %.2f us' %
                            (least / 1e3, runs, empty / 1e3))
            slope = (ns[DEPTHS[-1]] - ns[DEPTHS[0]]) / (DEPTHS[-1] - DEPTHS[0])
            results.add('in BPF', '%s, each frame more%s' % (label, ', with native' if native else ''), slope, 'ns',
                        None if native else 20.0, data=ns)
