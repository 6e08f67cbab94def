# SPDX-License-Identifier: MIT
"""What recording takes outside the program: the profiler's CPU time and memory, bytes of trace, rate kept."""
import os
import signal
import statistics
import time

import process


class Busy:
    """ten.py, running until it is stopped, on one processor if that is given."""

    def __init__(self, sidewinder, python, cpu=None, clock='wall'):
        self.child = process.Child([python, process.TEN, '--seconds', '3600', '--clock', clock, '--out', os.devnull])
        if cpu is not None:
            os.sched_setaffinity(self.child.pid, {cpu})
        self.pid = self.child.pid
        time.sleep(0.5)

    def stop(self):
        self.child.send(signal.SIGTERM)
        self.child.wait()


def watch(sidewinder, python, frequency, native, seconds, options=(), settle=1.5):
    """Records a busy process for so long; the cost of the profiler once it is warm."""
    busy = Busy(sidewinder, python)
    try:
        recording = sidewinder.record(frequency, busy.pid, native=native, options=options, name='watch')
        recording.wait_until_sampling(settle)
        at = [(time.monotonic(), process.cpu_ns(recording.pid), process.cpu_ns(busy.pid))]
        resident = []
        for _ in range(max(1, int(seconds / 2.5))):
            time.sleep(2.5)
            at.append((time.monotonic(), process.cpu_ns(recording.pid), process.cpu_ns(busy.pid)))
            resident.append(process.resident_bytes(recording.pid))
        summary = recording.stop()
    finally:
        busy.stop()
    spent, ran = at[-1][1] - at[0][1], at[-1][2] - at[0][2]
    parts = [100 * (b[1] - a[1]) / (b[2] - a[2]) for a, b in zip(at, at[1:])]
    return {'share': 100 * spent / ran, 'share_median': statistics.median(parts),
            'ns_per_sample': spent / (ran * frequency / 1e9), 'samples': summary['samples'],
            'bytes_per_sample': process.tree_bytes(recording.trace) / max(1, summary['samples']),
            'max_rss': recording.child.max_rss, 'resident': resident, 'whole_cpu_s': recording.child.cpu_s,
            'summary': summary}


def measure(sidewinder, results, python, long_s, short_s, natives=(False, True)):
    goals = {(False, 1000): 0.3, (False, 10000): 2.0, (True, 1000): 2.0, (True, 10000): 10.0}
    for native in natives:
        for frequency in (1000, 10000):
            seconds = long_s if frequency == 1000 else short_s
            got = watch(sidewinder, python, frequency, native, seconds)
            what = '%s, %d kHz' % ('Python and native' if native else 'Python', frequency // 1000)
            results.add('profiler', 'share of one core, ' + what, got['share'], '%', goals[native, frequency],
                        detail='%.2f us a sample; median of parts %.2f %%; whole run %.2f s of CPU in %.0f s' %
                        (got['ns_per_sample'] / 1e3, got['share_median'], got['whole_cpu_s'],
                         got['summary']['duration_s']), data=got)
            results.add('profiler', 'bytes of trace a sample, ' + what, got['bytes_per_sample'], 'B',
                        32.0 if frequency == 1000 and seconds >= 60 else None,
                        detail='%d samples in %.0f s' % (got['samples'], got['summary']['duration_s']))
            grown = got['resident'][-1] - got['resident'][len(got['resident']) // 2]
            results.add('profiler', 'most memory resident, ' + what, got['max_rss'] / 2**20, 'MiB',
                        detail='%+.1f MiB over the second half' % (grown / 2**20))


def measure_templates(sidewinder, results, python, seconds):
    """Consumer CPU per native sample with and without templates, and whether both find the same."""
    without = watch(sidewinder, python, 2000, True, seconds, ['--no-templates'])
    results.add('templates', 'CPU of the consumer per sample, every step by libunwind',
                without['ns_per_sample'] / 1e3, 'us', data=without)
    warm = watch(sidewinder, python, 10000, True, seconds)
    results.add('templates', 'CPU of the consumer per sample, by templates, warm', warm['ns_per_sample'] / 1e3, 'us',
                2.0, detail=unwinding(warm['summary']), data=warm)
    verify = watch(sidewinder, python, 2000, True, seconds, ['--verify-unwind'])
    found = verify['summary'].get('unwind', {})
    results.add('templates', 'samples that differ from plain unwinding', found.get('differed'), '', 0,
                detail='of %s verified' % found.get('verified'), data=verify)


def unwinding(summary):
    found = summary.get('unwind', {})
    if not found.get('samples'):
        return ''
    return '%.2f %% of samples needed no step by libunwind' % (100 * found['template_samples'] / found['samples'])


def measure_rate(sidewinder, results, python, seconds, native=False):
    """10 kHz on every processor, each with a busy process: what came, what did not, whether all is accounted for."""
    cpus = sorted(os.sched_getaffinity(0))
    busy = [Busy(sidewinder, python, cpu) for cpu in cpus]
    try:
        # with native stacks of all that runs here, other programs would be measured
        target, options = ('-a', []) if not native else (busy[0].pid, ['-p', ','.join(str(b.pid) for b in busy[1:])])
        recording = sidewinder.record(10000, target, native=native, options=options + ['-d', str(seconds)], name='rate')
        recording.wait_until_sampling(0)
        summary = recording.wait()
    finally:
        for one in busy:
            one.stop()
    lost = dict(summary['lost'])
    other = lost.pop('outside_target', 0)  # idle, and the profiler itself
    late = lost.pop('not_delivered', 0)
    wanted, samples = summary['overflows'] - other, summary['samples']
    what = '%d processors%s' % (len(cpus), ' with native stacks' if native else '')
    results.add('rate kept', 'samples of the overflows that were meant, 10 kHz on ' + what, 100 * samples / wanted, '%',
                99.9, at_most=False, detail='%.0f s, %d samples, not delivered %d, outside %d' %
                (summary['duration_s'], samples, late, other), data=summary)
    results.add('rate kept', 'overflows lost inside the profiler, ' + what, sum(lost.values()), '', 0,
                detail=', '.join('%s %d' % item for item in sorted(lost.items()) if item[1]))
    results.add('rate kept', 'overflows neither sampled nor in a counter, ' + what,
                summary['overflows'] - samples - sum(summary['lost'].values()), '', 0)
    if not native:
        results.add('rate kept', 'overflows of those that the clock allows, ' + what,
                    100 * summary['overflows'] / (summary['duration_s'] * 10000 * len(cpus)), '%')
