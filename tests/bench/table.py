# SPDX-License-Identifier: MIT
"""Results of a run: kept in one list, printed as one table, written as one JSON object."""
import json
import os
import platform
import shutil
import time


class Results:
    """Rows of what was claimed and what was measured."""

    def __init__(self, conditions):
        self.conditions = conditions
        self.rows = []

    def add(self, section, what, measured, unit='', goal=None, at_most=True, detail='', data=None):
        """Adds a row; `goal` None: a figure to compare with, not one to reach."""
        meets = None
        if goal is not None and measured is not None:
            meets = measured <= goal if at_most else measured >= goal
        self.rows.append({'section': section, 'what': what, 'measured': measured, 'unit': unit, 'goal': goal,
                          'at_most': at_most, 'meets': meets, 'detail': detail, 'data': data})
        print('  %-10s %s: %s %s' % (section, what, show(measured, unit), detail), flush=True)

    def skip(self, section, what, why):
        self.rows.append({'section': section, 'what': what, 'measured': None, 'unit': '', 'goal': None,
                          'at_most': True, 'meets': None, 'detail': 'skipped: ' + why, 'data': None})
        print('  %-10s %s: skipped: %s' % (section, what, why), flush=True)

    def table(self):
        head = ('', 'what', 'goal', 'measured', '', 'detail')
        lines, last = [head], None
        for row in self.rows:
            sign = {None: '', True: 'ok', False: 'missed'}[row['meets']]
            goal = '' if row['goal'] is None else ('<= ' if row['at_most'] else '>= ') + show(row['goal'], row['unit'])
            lines.append((row['section'] if row['section'] != last else '', row['what'], goal,
                          show(row['measured'], row['unit']), sign, row['detail']))
            last = row['section']
        widths = [max(len(line[i]) for line in lines) for i in range(5)]
        text = ['  '.join(cell.ljust(width) for cell, width in zip(line, widths)) + '  ' + line[5] for line in lines]
        text.insert(1, '-' * min(max(map(len, text)), shutil.get_terminal_size((120, 24)).columns))
        return '\n'.join(line.rstrip() for line in text)

    def write(self, path):
        with open(path, 'w') as file:
            json.dump({'conditions': self.conditions, 'rows': self.rows}, file, indent=1)
            file.write('\n')


def show(value, unit):
    if value is None:
        return '-'
    if isinstance(value, float):
        digits = 0 if abs(value) >= 1000 else 1 if abs(value) >= 100 else 2 if abs(value) >= 1 else 3
        value = '%.*f' % (digits, value)
    return '%s %s' % (value, unit) if unit else str(value)


def conditions(quick):
    """What the figures depend on and cannot be seen in them."""
    with open('/proc/cpuinfo') as file:
        models = [line.split(':')[1].strip() for line in file if line.startswith('model name')]
    return {'time': time.strftime('%Y-%m-%d %H:%M:%S %Z'), 'kernel': platform.release(), 'machine': platform.machine(),
            'processor': models[0] if models else '', 'processors': os.cpu_count(),
            'load': os.getloadavg()[0], 'quick': quick}
