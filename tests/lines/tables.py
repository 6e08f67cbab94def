# SPDX-License-Identifier: MIT
"""Writes line tables and what this interpreter itself says of each instruction's line and columns.

Compiles modules of the standard library and some odd ones. The line of every instruction comes from
the interpreter's PyCode_Addr2Line(), and from code.co_lines() where it exists: both must agree; its
columns from code.co_positions() where that exists.
Out (stdout): for each code object struct header of compare.c, the table, and struct expected of each.
"""
import ast
import ctypes
import os
import struct
import sys
import sysconfig
import types

ADDR2LINE = ctypes.pythonapi.PyCode_Addr2Line
ADDR2LINE.argtypes = [ctypes.py_object, ctypes.c_int]
ADDR2LINE.restype = ctypes.c_int

ODD = '''
import functools
@functools.lru_cache(
    maxsize=
    3)
@staticmethod
def decorated(a,
              b=[i
                 for i in
                 range(3)]):
    return (a +
            sum(x for x
                in b if
                x)
            + len(
                "".join(
                    str(a))))
class C(
        object):
    x = {
        1: 2,
        **{3:
           4}}
    def m(self): return [y
        for y in (
            1,
            2)
        ]
async def coroutine():
    async with a as b, \\
            c as d:
        async for i in x:
            await (
                i)
            yield [j async for j
                   in i]
def generator():
    try:
        yield (1,
               2)
    except (ValueError,
            KeyError) as e:
        raise
    finally:
        with (
                x):
            pass
    while True:
        if x and \\
           y or \\
           z:
            continue
        else:
            break
def long_gap():
    a = 1
%s
    b = (2,
%s
      f(3))
    return a
''' % ('\n' * 300, '\n' * 150)


def backward():
    """Lines that step back, also by more than a byte holds."""
    tree = ast.parse('\n'.join('a%d = f(b, c.d)' % i for i in range(400)))
    for i, node in enumerate(tree.body):
        line = [700 - i, 5, 100000, 1 + (i * 7919) % 3000][i % 4]
        for child in ast.walk(node):
            if hasattr(child, 'lineno'):
                child.lineno = child.end_lineno = line
    return compile(tree, 'backward', 'exec')


def wide():
    """One statement of many instructions, with extended arguments and jumps over 255 bytes."""
    names = ', '.join('n%d' % i for i in range(700 if sys.version_info >= (3, 7) else 255))
    body = '\n'.join('        g(%d, x%d)' % (i, i) for i in range(400))
    return compile('f(%s)\nwhile a:\n    if b:\n%s\n    else:\n        h()\n' % (names, body), 'wide',
                   'exec')


def modules():
    root = sysconfig.get_paths()['stdlib']
    folders = ['', 'asyncio', 'collections', 'concurrent/futures', 'email', 'encodings', 'html',
               'http', 'importlib', 'json', 'logging', 'multiprocessing', 'unittest', 'xml/dom']
    for folder in folders:
        path = os.path.join(root, folder)
        if os.path.isdir(path):
            for name in sorted(os.listdir(path)):
                if name.endswith('.py') and os.path.exists(os.path.join(path, name)):
                    yield os.path.join(path, name)


def line_by_co_lines(code, count):
    lines = [None] * count
    for start, end, line in code.co_lines():
        for offset in range(start, end, 2):
            lines[offset // 2] = line
    return [0 if line is None else line for line in lines]


def positions(code, lines):
    """(line, end line, column, end column), counted from 1, of each instruction; 0: none."""
    if not hasattr(code, 'co_positions'):
        return [(line, 0, 0, 0) for line in lines]
    found = []
    for line, (_, end_line, column, end_column) in zip(lines, code.co_positions()):
        if not line or column is None or end_column is None or (end_line, end_column) < (line, column):
            found.append((line, 0, 0, 0))
        else:
            found.append((line, end_line, column + 1, end_column + 1))
    return found


def write(code, out):
    count = len(code.co_code) // 2
    lines = [max(ADDR2LINE(code, 2 * i), 0) for i in range(count)]
    if hasattr(code, 'co_lines'):
        assert lines == line_by_co_lines(code, count), code
        table = code.co_linetable
    else:
        table = code.co_lnotab
    version = sys.version_info[0] << 8 | sys.version_info[1]
    out.write(struct.pack('=IiII', version, code.co_firstlineno, len(table), count))
    out.write(table)
    out.write(struct.pack('=%dI' % (4 * count), *[n for at in positions(code, lines) for n in at]))
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            write(constant, out)


def main():
    out = getattr(sys.stdout, 'buffer', sys.stdout)
    codes = [backward(), wide()]
    for path in modules():
        with open(path, 'rb') as file:
            codes.append(compile(file.read(), path, 'exec', dont_inherit=True))
    for optimize in (0, 1, 2) if sys.version_info[0] > 2 else ():  # 2.7 has no such syntax
        codes.append(compile(ODD, 'odd', 'exec', optimize=optimize))
    for code in codes:
        write(code, out)


main()
