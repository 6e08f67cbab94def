# SPDX-License-Identifier: MIT
"""The rows of the work that Sidewinder comes from (signals at counter overflows, SysCon 2021), measured with its own paths.

For each row: what was claimed, what a reconstruction of it measured elsewhere ("there"), and what is measured here, for BPF
and for each way to deliver a signal. What this machine cannot measure is said, with the reason.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys

import accuracy
import paper_cost
import process
import sidewinder
import table

ROWS = ('R1', 'R2', 'R3', 'R4', 'R5', 'R6', 'R7', 'R8')
RESOLUTION = 0.2  # us: less cannot be told from the noise of a shared machine
STRIDES = os.path.join(process.HERE, 'workloads', 'strides.py')

TITLES = {
    'R1': 'error of a profile of ten functions, 50 20 15 5 5 1 1 1 1 1 %, against the program\'s own clock',
    'R2': 'CPU time to forward one overflow to an empty handler',
    'R3': 'time to open an event, say who gets the signal, and set the handler',
    'R4': 'unwinding in the handler (online) against copying the raw stack (offline), depth 0 to 100',
    'R5': 'times by which recording is faster than Python\'s own traceback, depth 0 to 100',
    'R6': 'bytes of trace a sample',
    'R7': 'the program\'s CPU time, times what it takes unsampled',
    'R8': 'overflows of real counters: a near and a far stride differ in events, not in time',
}
CLAIMS = {
    'R1': '0.1 % RMS', 'R2': '2.93 us', 'R3': '4.15 us', 'R4': 'online is preferable, below a depth limit',
    'R5': '25 times and more', 'R6': 'about 25 % less than text', 'R7': 'low', 'R8': 'cycles, cache misses',
}
THERE = {
    'R1': '1 kHz 0.11-0.16 % RMS, 10 kHz 0.017-0.026 %',
    'R2': 'SIGIO 14.7-15.5 us, re-armed 16.6-17.3, SIGTRAP 2.5-3.5',
    'R3': '5.4-5.6 us; enable 1.5; disable and close 3.7; re-arm 0.4',
    'R4': 'online 4.9 against 7.7 us at depth 100 (3.6), 1.9 against 3.5 (3.11)',
    'R5': '126-224 (3.6), 22-66 (3.11) for frames; 59-154 and 16-44 with unwinding',
    'R6': '37-44 % less than text; raw stacks 17-36 times larger than unwound ones',
    'R7': '10 kHz: SIGIO x1.43, re-armed x1.63, SIGTRAP x1.25, of which the timer x1.17; 1 kHz x1.02-1.04',
    'R8': 'not measured: no counters',
}


class Paper:
    def __init__(self, options, profiler, python):
        self.profiler, self.python, self.quick = profiler, python, options.quick
        self.rows, self.quiet = {}, options.json
        self.ways, self.missing = paper_cost.ways(profiler)

    def begin(self, name):
        self.rows[name] = {'title': TITLES[name], 'claim': CLAIMS[name], 'there': THERE[name], 'here': [], 'not_here': []}
        if not self.quiet:
            print('\n%s  %s\n      claim  %s\n      there  %s' % (name, TITLES[name], CLAIMS[name], THERE[name]), flush=True)
        for way in self.missing:
            if name not in ('R2', 'R3'):
                self.cannot(name, way, 'this build has no %s' % way)

    def here(self, name, way, text, data=None):
        self.rows[name]['here'].append({'way': way, 'text': text, 'data': data})
        if not self.quiet:
            print('      here   %-28s %s' % (way, text), flush=True)

    def cannot(self, name, what, why):
        self.rows[name]['not_here'].append({'what': what, 'why': why})
        if not self.quiet:
            print('      here   %-28s cannot be measured: %s' % (what, why), flush=True)

    # each row

    def r1(self):
        seconds, runs = (2, 1) if self.quick else (5, 3)
        for way, options in self.ways.items():
            for frequency in (1000, 10000):
                got = [accuracy.one(self.profiler, self.python, frequency, seconds, options) for _ in range(runs)]
                rms = [run['rms'] for run in got]
                middle = min(got, key=lambda run: abs(run['rms'] - statistics.median(rms)))
                self.here('R1', '%s, %d kHz' % (way, frequency // 1000),
                          '%.3f %% RMS (%.3f to %.3f), L2 %.3f %%; %d samples, %d lost; a faultless sampler %.3f %%' %
                          (statistics.median(rms), min(rms), max(rms), middle['l2'], middle['n'], middle['lost'],
                           middle['ideal']), got)

    def r2(self):
        overflows, rounds = (100000, 5) if self.quick else (1000000, 20)
        out = run_json([self.profiler.path('../forwarding'), 'cost', str(overflows), str(rounds)])
        for way, name in (('floor', 'BPF, an empty program'), ('sigio', 'SIGIO'), ('sigio_rearm', 'SIGIO, re-armed'),
                          ('sigtrap', 'SIGTRAP')):
            if way not in out:
                self.cannot('R2', name, 'a BPF program cannot be loaded')
                continue
            added = [with_ - without for with_, without in zip(out[way]['us'], out['none']['us'])]
            seen = '' if way == 'floor' else '; %d of %d signals came' % (out[way]['signals'], out['overflows'])
            self.here('R2', name, '%s; %d overflows%s' % (spread(added, 'us'), out['overflows'], seen), out[way])

    def r3(self):
        out = run_json([self.profiler.path('../forwarding'), 'setup', '2000' if self.quick else '20000'])
        for step, name in (('sigio', 'SIGIO'), ('sigtrap', 'SIGTRAP'), ('bpf', 'BPF (open, bind)'), ('enable', 'enable'),
                           ('rearm', 're-arm'), ('close', 'disable and close')):
            if step in out:
                self.here('R3', name, '%.2f us (p10 %.2f, p90 %.2f)' % (out[step]['median'], out[step]['p10'],
                                                                      out[step]['p90']), out[step])

    def depths(self):
        """CPU time of a sample above an empty overflow, by way and depth; measured once, for two rows."""
        if not hasattr(self, 'by_depth'):
            self.by_depth = paper_cost.by_depth(self.profiler, self.python, self.ways, self.quick)
        return self.by_depth

    def r4(self):
        found = self.depths()
        for way in found:
            self.here('R4', way, by_depth_text(found[way]), found[way])
        pairs = [(way, way.replace('online', 'offline')) for way in found if 'online' in way]
        for online, offline in pairs:
            cheaper = [depth for depth in found[online] if found[online][depth] < found[offline][depth]]
            self.here('R4', online, 'cheaper than offline at %d of %d depths; unwinding what offline copied comes on top, '
                      'in the profiler' % (len(cheaper), len(found[online])))

    def r5(self):
        depths = [str(depth) for depth in paper_cost.depths(self.quick)]
        own = run_json([self.python, os.path.join(process.HERE, 'traceback_cost.py'), '20' if self.quick else '100'] + depths)
        self.here('R5', 'traceback.print_stack', ', '.join('%s: %.0f us' % (depth, own[depth]['us']) for depth in depths), own)
        for way, found in self.depths().items():
            times = {depth: own[str(depth)]['us'] / found[depth] for depth in found if found[depth] > RESOLUTION}
            if not times:
                self.cannot('R5', way, 'the added time is below %.1f us, which cannot be told from noise' % RESOLUTION)
                continue
            self.here('R5', way, '%.0f to %.0f times (%s)' % (min(times.values()), max(times.values()), ', '.join(
                '%d: %.0f' % item for item in times.items())), times)

    def r6(self):
        text = run_json([self.python, os.path.join(process.HERE, 'traceback_cost.py'), '20', '20'])['20']['bytes']
        self.here('R6', 'traceback, as text', '%d B' % text)
        for way, (options, native) in paper_cost.content_ways(self.ways).items():
            size = paper_cost.bytes_per_sample(self.profiler, self.python, options, native, 3 if self.quick else 10)
            self.here('R6', way, '%.1f B, %.0f %% less than text' % (size, 100 - 100 * size / text), size)

    def r7(self):
        for frequency in (1000, 10000):
            found = paper_cost.slowdown(self.profiler, self.python, self.ways, frequency, self.quick)
            for way, ratios in found.items():
                self.here('R7', '%s, %d kHz' % (way, frequency // 1000), 'x%.3f (%.3f to %.3f)' %
                          (statistics.median(ratios), min(ratios), max(ratios)), ratios)

    def r8(self):
        for event in ('cycles', 'cache-misses'):
            recording = self.profiler.record(1000, [self.python, STRIDES, '1'], options=['-e', event], name='counter')
            recording.child.wait()
            if recording.child.status:
                words = recording.words().splitlines()
                self.cannot('R8', event, words[0].partition('error: ')[2] or words[0] if words else 'it fails')
            else:
                self.strides(event, ['-e', event])
        self.strides('page faults', ['-e', 'page-faults', '-c', '1'])

    def strides(self, name, event):
        for way, options in self.ways.items():
            recording = self.profiler.record(None, [self.python, STRIDES, '3' if self.quick else '20'],
                                             options=options + event, name='strides')
            summary = recording.wait()
            counts = {'near': 0, 'far': 0}
            for stack, count in self.profiler.folded(recording.trace).items():
                for function in counts:
                    if any(frame.startswith(function + ' ') for frame in stack):
                        counts[function] += count
            both = sum(counts.values())
            self.here('R8', '%s, %s' % (way, name), 'far %.2f %%, near %.2f %% of %d in both; %d lost' % (
                100 * counts['far'] / max(both, 1), 100 * counts['near'] / max(both, 1), both,
                sum(summary['lost'].values())), counts)


def run_json(command):
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True, timeout=1200).stdout)


def spread(numbers, unit):
    return '%.2f %s (%.2f to %.2f)' % (statistics.median(numbers), unit, min(numbers), max(numbers))


def by_depth_text(found):
    return ', '.join('%d: %.1f' % item for item in found.items()) + ' us'


def arguments():
    parser = argparse.ArgumentParser(prog='tests/bench/paper.sh', description=__doc__.splitlines()[0] +
                                     ' Needs root. Takes about 20 minutes, --quick about 3.')
    parser.add_argument('build', help='the build directory')
    parser.add_argument('--json', action='store_true', help='print one JSON object')
    parser.add_argument('--quick', action='store_true', help='short runs: a look, not for the record')
    parser.add_argument('--only', default=','.join(ROWS), help='rows, comma-separated: %(default)s')
    parser.add_argument('--python', help='the interpreter (default: 3.12, or the newest that is found)')
    return parser.parse_args()


def choose(asked):
    if asked:
        return asked
    pythons = process.interpreters()
    return next((path for label, path in pythons.items() if label.startswith('3.12.')), list(pythons.values())[-1])


def main():
    options = arguments()
    options.build = os.path.abspath(options.build)
    if os.geteuid():
        sys.exit('the rows need root: BPF programs are loaded')
    paper = Paper(options, sidewinder.Sidewinder(options.build), choose(options.python))
    where = table.conditions(options.quick)
    where['python'] = process.describe(paper.python)
    if not options.json:
        print('CPython %s, Linux %s, %s, %d processors, load %.1f; medians, and least to most' %
              (where['python'], where['kernel'], where['processor'], where['processors'], where['load']))
    failed = False
    for name in options.only.split(','):
        if name not in ROWS:
            sys.exit('no row %s; there are: %s' % (name, ', '.join(ROWS)))
        paper.begin(name)
        try:
            getattr(paper, name.lower())()
        except (RuntimeError, OSError, subprocess.SubprocessError) as error:
            paper.cannot(name, 'the rest of the row', str(error))
            failed = True
    if options.json:
        print(json.dumps({'conditions': where, 'rows': paper.rows}, indent=1))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
