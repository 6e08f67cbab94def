# SPDX-License-Identifier: MIT
"""Runs the benchmarks against the goals of the design and prints one table. See --help."""
import argparse
import os
import sys

import accuracy
import consumer
import cost
import peers
import process
import sidewinder
import table

SECTIONS = ('accuracy', 'bpf', 'added', 'profiler', 'templates', 'rate', 'peers')


def arguments():
    parser = argparse.ArgumentParser(prog='tests/bench/run.sh', description='Measures Sidewinder; needs root. The '
                                     'whole takes about 20 minutes, --quick about 4. Leaves BUILD/bench/results.json.')
    parser.add_argument('build', help='the build directory')
    parser.add_argument('--json', action='store_true', help='print the results as JSON instead of a table')
    parser.add_argument('--quick', action='store_true', help='short runs, one interpreter: a look, not for the record')
    parser.add_argument('--only', default=','.join(SECTIONS), help='sections, comma-separated: %(default)s')
    parser.add_argument('--python', help='the interpreter for all but the accuracy rows (default: 3.12, or the newest)')
    parser.add_argument('--python-only', action='store_true', help='nothing with native stacks')
    return parser.parse_args()


def choose(pythons, asked):
    if asked:
        return process.describe(asked) or asked, asked
    for label, path in pythons.items():
        if label.startswith('3.12.'):
            return label, path
    return list(pythons.items())[-1] if pythons else (None, None)


def measure(options, profiler, results, pythons):
    quick, only = options.quick, options.only.split(',')
    label, python = choose(pythons, options.python)
    natives = (False,) if options.python_only else (False, True)
    steps = {
        'accuracy': lambda: accuracy.measure(profiler, results, {label: python} if quick else pythons, 5,
                                             1 if quick else 2),
        'bpf': lambda: cost.measure_run_time(profiler, results, label, python, 5000, 0.7 if quick else 2, natives),
        'added': lambda: cost.measure_added(profiler, results, python, 20000, 5 if quick else 12, 0.6,
                                            not options.python_only),
        'profiler': lambda: consumer.measure(profiler, results, python, 5 if quick else 60, 5 if quick else 20,
                                             natives),
        'templates': lambda: options.python_only or consumer.measure_templates(profiler, results, python,
                                                                               5 if quick else 10),
        'rate': lambda: [consumer.measure_rate(profiler, results, python, 5 if quick else 60, native)
                         for native in natives],
        'peers': lambda: peers.measure(profiler, results, python, *peers.install(os.path.join(options.build, 'bench',
                                       'venv')), (1000, 10000), 3 if quick else 5, 1 if quick else 2),
    }
    for name in only:
        if name not in steps:
            sys.exit('no section %s; there are: %s' % (name, ', '.join(SECTIONS)))
        try:
            steps[name]()
        except (RuntimeError, OSError) as error:
            results.skip(name, 'all further rows', str(error))


def main():
    options = arguments()
    options.build = os.path.abspath(options.build)
    if os.geteuid():
        sys.exit('benchmarks need root: they load BPF programs and switch on their statistics')
    pythons = process.interpreters()
    if not pythons and not options.python:
        sys.exit('no CPython %d.%d to %d.%d found' % (process.OLDEST + process.NEWEST))
    results = table.Results(table.conditions(options.quick))
    real = sys.stdout
    if options.json:
        sys.stdout = sys.stderr
    measure(options, sidewinder.Sidewinder(options.build), results, pythons)
    path = os.path.join(options.build, 'bench', 'results.json')
    results.write(path)
    sys.stdout = real
    if options.json:
        with open(path) as file:
            print(file.read(), end='')
    else:
        where = results.conditions
        print('\n%s\n\nLinux %s, %s, %d processors, load %.1f at the start; more in %s' %
              (results.table(), where['kernel'], where['processor'], where['processors'], where['load'], path))
    return 1 if any(row['section'] in SECTIONS and row['what'] == 'all further rows' for row in results.rows) else 0


if __name__ == '__main__':
    sys.exit(main())
