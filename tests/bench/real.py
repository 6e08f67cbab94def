# SPDX-License-Identifier: MIT
"""Real programs that nobody prepared, recorded by Sidewinder and by another profiler, the results side by side.

Everything comes from PyPI into BUILD/real. py-spy is the witness for Python functions and lines; perf, where it is
installed, for native ones. Both profilers see runs of their own of the same program, one after the other: shares
of a point or two differ from run to run.
"""
import argparse
import collections
import glob
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

import process
import sidewinder as ours

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGES = ['py-spy', 'httpbin', 'gunicorn', 'pytest', 'networkx', 'numpy', 'deap']
RATE, WITNESS_RATE = 1000, 500  # a second; py-spy stops the program at each sample
EVALUATION = '_PyEval_EvalFrameDefault'
# where the two differ for a reason, and how that was found
NOTES = {
    'web': 'close_graceful() and others sleep in poll() until the client has gone on: 75 % of the time in system\n'
           '  calls (strace -c -w), 2 % of the CPU time (perf). py-spy samples wall time and takes short waits for\n'
           '  running: it gives them 5 to 33 %, from run to run. Sidewinder samples CPU time.',
    'pytest': 'The program hardly waits, so wall and CPU time agree. What differs most is a tail of many small shares.',
    'numpy': 'blas_thread_server below is a thread without Python: perf sees it too, py-spy does not.',
}


class Skip(Exception):
    """The program cannot be run here."""


def install(folder, python):
    pip = os.path.join(folder, 'venv', 'bin', 'pip')
    log = open(os.path.join(folder, 'install.log'), 'w')
    if not os.path.exists(pip) and subprocess.run([python, '-m', 'venv', os.path.join(folder, 'venv')], stdout=log,
                                                  stderr=log).returncode:
        raise Skip('%s cannot make a virtual environment' % python)
    if subprocess.run([pip, 'install', '-q'] + PACKAGES, stdout=log, stderr=log).returncode:
        raise Skip('packages are not to be had from PyPI: see ' + log.name)
    if not glob.glob(os.path.join(folder, 'deap-*', 'examples')):
        subprocess.run([pip, 'download', '-q', '--no-deps', '--no-binary', ':all:', '-d', folder, 'deap'], stdout=log,
                       stderr=log)
        for archive in glob.glob(os.path.join(folder, 'deap-*.tar.gz')):
            shutil.unpack_archive(archive, folder, filter='data')


class Command:
    """A program that runs to its end."""

    def __init__(self, folder, arguments, cwd=None):
        self.command = [os.path.join(folder, 'venv', 'bin', 'python')] + arguments
        self.cwd = cwd
        self.name = ' '.join(['python'] + arguments)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def target(self):
        return ['--'] + self.command

    def work(self, child):
        return child.wait(600)


class Server:
    """gunicorn with one worker that serves httpbin; the profilers attach to the worker."""
    name = 'gunicorn httpbin:app, one worker, attached to while under load'
    cwd = None

    def __init__(self, folder, seconds):
        self.folder, self.seconds = folder, seconds

    def __enter__(self):
        with socket.socket() as free:
            free.bind(('127.0.0.1', 0))
            self.port = free.getsockname()[1]
        binaries = os.path.join(self.folder, 'venv', 'bin')
        self.master = subprocess.Popen([os.path.join(binaries, 'gunicorn'), '-b', '127.0.0.1:%d' % self.port, '-w', '1',
                                        'httpbin:app'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                       env=dict(os.environ, HOME=self.folder))
        try:
            self.wait_until_serving()
        except BaseException:
            self.__exit__()
            raise
        return self

    def wait_until_serving(self):
        end = time.monotonic() + 30
        while time.monotonic() < end:
            with open('/proc/%d/task/%d/children' % (self.master.pid, self.master.pid)) as file:
                workers = file.read()
            with socket.socket() as probe:
                ready = workers and probe.connect_ex(('127.0.0.1', self.port)) == 0
            if ready:
                self.worker = workers.split()[0]
                self.load(1)
                return
            time.sleep(0.1)
        raise Skip('gunicorn does not serve')

    def __exit__(self, *_):
        self.master.terminate()
        self.master.wait()

    def load(self, seconds):
        out = subprocess.run([sys.executable, os.path.join(HERE, 'load.py'), str(self.port), str(seconds)],
                             capture_output=True, text=True)
        if out.returncode:
            raise Skip('httpbin does not answer: ' + out.stderr.strip()[-300:])

    def target(self):
        return ['-p', self.worker]

    def work(self, child):
        time.sleep(1)
        self.load(self.seconds)
        child.send(signal.SIGINT)
        return child.wait(120)


def programs(folder, seconds):
    tests = ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', '--pyargs', 'networkx.algorithms.centrality',
             'networkx.algorithms.flow']
    examples = (glob.glob(os.path.join(folder, 'deap-*', 'examples')) or [None])[0]
    return {'web': lambda: Server(folder, seconds), 'pytest': lambda: Command(folder, tests),
            'numpy': lambda: Command(folder, ['eda/emna.py'], examples)}


def by_sidewinder(sidewinder, program, native):
    """Stacks as [(kind, name, file, line)], root first, with their number of samples."""
    trace = sidewinder.path('real')
    shutil.rmtree(trace, ignore_errors=True)
    command = [sidewinder.program, 'record', '-F', str(RATE), '-o', trace, '--json', '--quiet', '--no-report',
               '--native=' + ('dwarf' if native else 'none')] + program.target()
    with open(sidewinder.path('real.json'), 'w') as out, open(sidewinder.path('real.log'), 'w') as log:
        status = program.work(process.Child(command, stdout=out, stderr=log, cwd=program.cwd))
    if not os.path.exists(trace):
        with open(sidewinder.path('real.log')) as log:
            raise RuntimeError('sidewinder record ended with %s: %s' % (status, log.read()[-500:]))
    out = subprocess.run([sidewinder.program, 'export', trace, '--to=jsonl'], capture_output=True, text=True,
                         check=True)
    stacks = []
    for line in out.stdout.splitlines():
        stack = json.loads(line)
        stacks.append(([tuple(frame) for frame in stack['frames']], stack['w']))
    return stacks


def by_pyspy(sidewinder, folder, program):
    out = sidewinder.path('pyspy.raw')
    command = [os.path.join(folder, 'venv', 'bin', 'py-spy'), 'record', '-r', str(WITNESS_RATE), '-f', 'raw', '-o', out,
               '--full-filenames'] + program.target()
    program.work(process.Child(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=program.cwd))
    stacks = []
    with open(out, errors='replace') as file:
        for stack, count in ours.parse_folded(file.read()).items():
            frames = [re.fullmatch(r'(.*) \((.*?)(?::(\d+))?\)', frame) for frame in stack]
            stacks.append(([('p' if (m.group(2)).endswith(('.py', '>')) else 'n', m.group(1), m.group(2),
                             int(m.group(3) or 0)) for m in frames if m], count))
    return stacks


def by_perf(sidewinder, program):
    """{symbol: samples} of the innermost native function, by perf."""
    data = sidewinder.path('perf.data')
    command = ['perf', 'record', '-q', '-e', 'cpu-clock:u', '-F', str(RATE), '-o', data]
    program.work(process.Child(command + program.target(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               cwd=program.cwd))
    out = subprocess.run(['perf', 'report', '-i', data, '--stdio', '-q', '--no-children', '-n', '-s', 'sym', '-w',
                          '200'],
                         capture_output=True, text=True)
    found = re.finditer(r'^\s*[\d.]+%\s+(\d+)\s+\[[.k]\]\s+(.*)$', out.stdout, re.M)
    return {m.group(2).strip(): int(m.group(1)) for m in found}


def python_key(frame, with_line):
    """py-spy has the code object's plain name: compare that, with the file's base name."""
    name = re.sub(r'^.*\.(?=[^.])', '', frame[1])
    return (name, os.path.basename(frame[2])) + ((frame[3],) if with_line else ())


def shares(stacks, key, kinds):
    """{key: (self %, total %)}: the innermost frame of the wanted kinds, and any, of all samples that have one."""
    own, total, samples = collections.Counter(), collections.Counter(), 0
    for frames, count in stacks:
        keys = [key(frame) for frame in frames if frame[0] in kinds]
        if not keys:
            continue
        samples += count
        own[keys[-1]] += count
        for one in set(keys):
            total[one] += count
    return {k: (100 * own[k] / samples, 100 * total[k] / samples) for k in total}, samples


def plain(symbol):
    """Without what the compiler or the linker added: .isra.0, .cold, @plt, [clone ...]"""
    return re.sub(r'[.@\[ ].*$', '', symbol)


def overlap(a, b):
    return sum(min(a[k][0], b[k][0]) for k in a if k in b)


def compare(title, mine, other, witness, samples):
    print('\n%s  (samples: Sidewinder %d, %s %d)' % (title, samples[0], witness, samples[1]))
    print('  %-48s %21s   %21s' % ('', 'Sidewinder', witness))
    print('  %-48s %10s %10s   %10s %10s' % ('function', 'self', 'total', 'self', 'total'))
    top = sorted(mine, key=lambda k: -mine[k][0])[:10]
    top += [k for k in sorted(other, key=lambda k: -other[k][0])[:10] if k not in top]
    for k in top:
        a, b = mine.get(k, (0, 0)), other.get(k, (0, 0))
        name, mark = '%s (%s)' % k[:2] if k[1] else k[0], '   *' if abs(a[0] - b[0]) > 3 else ''
        print('  %-48.48s %8.1f %% %s   %8.1f %% %s%s' % (name, a[0], percent(a[1]), b[0], percent(b[1]), mark))
    print('  self shares overlap by %.1f %%; * differs by more than 3 points' % overlap(mine, other))


def percent(value):
    return ' ' * 10 if value is None else '%8.1f %%' % value


def side_by_side(sidewinder, folder, make, kind):
    with make() as program:
        print('\n== %s: %s' % (kind, program.name), flush=True)
        mine = by_sidewinder(sidewinder, program, native=True)
        again = by_sidewinder(sidewinder, program, native=False)
        other = by_pyspy(sidewinder, folder, program)
        perf = by_perf(sidewinder, program) if kind == 'numpy' and shutil.which('perf') else None
    for title, with_line in (('Python functions', False), ('Python lines', True)):
        a, count_a = shares(mine, lambda frame: python_key(frame, with_line), 'p')
        b, count_b = shares(other, lambda frame: python_key(frame, with_line), 'p')
        c, _ = shares(again, lambda frame: python_key(frame, with_line), 'p')
        if not with_line:
            compare(title, a, b, 'py-spy', (count_a, count_b))
        print('  %s: overlap with py-spy %.1f %%, with a second run of Sidewinder %.1f %%' %
              (title, overlap(a, b), overlap(a, c)))
    print('  ' + NOTES[kind])
    if perf:
        own, symbols = collections.Counter(), collections.Counter()
        for frames, weight in mine:
            # a Python frame innermost: the evaluation function itself ran, which is not shown
            own[plain(frames[-1][1]) if frames[-1][0] == 'n' else EVALUATION] += weight
        for name, weight in perf.items():
            symbols[plain(name)] += weight
        tables = [{(name, ''): (100 * n / sum(of.values()), None) for name, n in of.items()} for of in (own, symbols)]
        compare('Native functions', *tables, 'perf', (sum(own.values()), sum(symbols.values())))
    return mine, other


def main():
    parser = argparse.ArgumentParser(prog='tests/bench/real.sh', description=__doc__.splitlines()[0])
    parser.add_argument('build')
    parser.add_argument('program', nargs='*', help='web, pytest, numpy (default: all)')
    parser.add_argument('--seconds', type=float, default=10, help='of load on the server')
    options = parser.parse_args()
    folder = os.path.join(os.path.abspath(options.build), 'real')
    os.makedirs(folder, exist_ok=True)
    pythons = process.interpreters()
    python = next((path for label, path in pythons.items() if label.startswith('3.12.')), sys.executable)
    try:
        install(folder, python)
        table = programs(folder, options.seconds)
        for kind in options.program or table:
            side_by_side(ours.Sidewinder(os.path.abspath(options.build)), folder, table[kind], kind)
    except Skip as why:
        print('skipped: %s' % why)
    return 0


if __name__ == '__main__':
    sys.exit(main())
