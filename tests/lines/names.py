# SPDX-License-Identifier: MIT
"""Has remote.c read code objects of this very process, and compares names, files and lines.

usage: names.py REMOTE
"""
import os
import subprocess
import sys
import types

QUALIFIED = sys.version_info >= (3, 11)


def shown(text, is_path):
    """A string as the consumer shows it."""
    width = 1 if max(map(ord, text), default=0) < 256 else 2 if max(map(ord, text)) < 65536 else 4
    kept = 4096 // width
    cut = len(text) > kept
    if cut:
        text = text[-kept:] if is_path else text[:kept]
    text = ''.join('\\x00' if c == '\0' else '\\u%04x' % ord(c) if 0xd800 <= ord(c) < 0xe000 else c
                   for c in text)
    return '\u2026' * (cut and is_path) + text + '\u2026' * (cut and not is_path)


def line_of(code, offset):
    line = code.co_firstlineno
    if hasattr(code, 'co_lines'):
        return next(line for start, end, line in code.co_lines() if start <= offset < end) or 0
    address = 0
    for step, delta in zip(code.co_lnotab[::2], code.co_lnotab[1::2]):
        address += step
        if address > offset:
            break
        line += delta - 256 * (delta > 127)
    return line


def nested(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from nested(constant)


def codes():
    yield from nested(compile(open(subprocess.__file__, 'rb').read(), subprocess.__file__, 'exec'))
    source = 'def f():\n  x = 1\n  def g():\n    return x\n  return g\n'
    names = ['caf\xe9', '\u540d\u524d', '\U00020000\u540d', 'n' * 5000, '\xe9' * 5000, '\u540d' * 3000]
    for name in names:
        yield from nested(compile(source.replace('f()', name + '()'), name + '/a b.py', 'exec'))
    for path in ['', 'a;b\nc\x1b', 'x\ud800\udcffy', '/' + 'd/' * 4000 + 'end.py', '<frozen x>']:
        yield compile(source, path, 'exec')
    long_source = 'def f():\n' + '  x = g(1, a.b)\n' * 30000
    yield from nested(compile(long_source, 'long.py', 'exec'))


def main():
    remote = subprocess.Popen([sys.argv[1], str(os.getpid())], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE)
    count = 0
    for code in codes():
        size = len(code.co_code)
        offsets = sorted({0, size // 3 & ~1, size // 2 & ~1, size - 2})
        request = '%x %s\n' % (id(code), ' '.join(map(str, offsets)))
        remote.stdin.write(request.encode())
        remote.stdin.flush()
        name = code.co_qualname if QUALIFIED else code.co_name
        expected = [shown(name, False), shown(code.co_filename, True),
                    str(max(code.co_firstlineno, 0))] + [str(line_of(code, o)) for o in offsets]
        answer = b''
        while answer.count(b'\0') < len(expected):
            piece = remote.stdout.readline()
            assert piece, 'remote ended'
            answer += piece
        answer = answer.decode().rstrip('\n').split('\0')[:-1]
        assert answer == expected, (code, answer, expected)
        count += 1
    remote.stdin.close()
    assert remote.wait() == 0
    print('%d code objects read from the process' % count)


main()
