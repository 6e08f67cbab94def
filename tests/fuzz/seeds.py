#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""seeds.py FOLDER - writes inputs from which the fuzzers start, one folder for each fuzzer.

Made of what is on this machine: this Python's code objects, small programs of the C compiler, the
unwind tables of shared libraries. Where something is missing, the fuzzer starts from less.
"""
import glob
import os
import struct
import subprocess
import sys
import tempfile
import types

TEXT = 0x401000  # BUILT_TEXT of tests/unit/elf_builder.h
SAMPLE, STACK, CODE, LIFE, MAPPING = range(5)  # settle() in fuzz_pipeline.c


def number(value, size):
    return (value & (1 << 8 * size) - 1).to_bytes(size, "little")


def write(folder, name, inputs):
    place = os.path.join(folder, name)
    os.makedirs(place, exist_ok=True)
    for index, data in enumerate(inputs):
        with open(os.path.join(place, "seed%03d" % index), "wb") as file:
            file.write(data)


def codes(limit=40):
    """Code objects of the standard library's modules that are loaded anyway."""
    found, waiting = [], [value.__code__ for module in (os, glob, subprocess, tempfile)
                          for value in vars(module).values() if isinstance(value, types.FunctionType)]
    while waiting and len(found) < limit:
        code = waiting.pop()
        found.append(code)
        waiting += [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return found


def lines():
    table = "co_linetable" if sys.version_info >= (3, 10) else "co_lnotab"
    for code in codes():
        for version in {min(sys.version_info[1], 13), 9, 10, 12}:
            yield number(version - 6, 1) + number(code.co_firstlineno, 4) + number(
                len(code.co_code) // 2, 4) + getattr(code, table)


def texts():
    for text in ("run", "a\x00b", "na\xefve", "\u7bc0\u9ede", "\U0001f600x", "\ud800lone", ""):
        for kind, codec in ((1, "ascii"), (2, "latin-1"), (3, "utf-16-le"), (4, "utf-32-le"), (5, "utf-8")):
            yield number(kind, 1) + text.encode(codec, "replace" if kind < 3 else "surrogatepass")
    yield number(0x33, 1) + b"a\x00\x00\xd8"


def walks():
    """Chains of three frames in the shape of 3.9, 3.11 and 3.12 (user/target/layout.c)."""
    base = 0x10000000
    for version, previous, code, instruction in ((9, 24, 32, 104), (11, 48, 32, 56), (12, 8, 0, 56)):
        image = bytearray(4096)
        for index in range(3):
            at = 0x100 + index * 0x100
            struct.pack_into("<Q", image, at + previous, base + at + 0x100 if index < 2 else 0)
            struct.pack_into("<Q", image, at + code, 0x70000001 + index * 256)
            struct.pack_into("<Q", image, at + instruction, 0x70000101 + index * 256)
        struct.pack_into("<QQ", image, 0x800, base + 0x100, 0)
        for start in (0x100, 0x800):
            thread = struct.pack("<Q", base + start) * 25
            yield number(version, 1) + thread + bytes(image)
            yield number(0, 1) + struct.pack("<HBB", 0x300 + version, 1, 0) + number(
                previous, 4) * 36 + thread + bytes(image)


def merges():
    yield number(3, 1) + number(0, 1) + number(4, 2) + bytes((0, 1, 0, 1)) + bytes((0, 1, 0, 0, 1, 0))
    yield number(1, 1) + number(1, 1) + number(3, 2) + bytes((0, 1, 2)) + bytes((1, 1, 1, 1, 0))
    yield number(14, 1) + number(2, 1) + number(1, 2) + bytes((0,)) + bytes(9)


def offsets():
    """_Py_DebugOffsets of each libpython3.13 found."""
    for path in glob.glob(os.path.expanduser("~/.pyenv/versions/3.13*/lib/libpython3.13.so.1.0")) + glob.glob(
            "/usr/lib/*/libpython3.13.so.1.0") + glob.glob("/usr/local/lib/libpython3.13.so.1.0"):
        with open(path, "rb") as file:
            data = file.read()
        at = data.find(b"xdebugpy")
        if at >= 0:
            yield data[at:at + 1024]
            yield data[at:at + 400]


def maps():
    with open("/proc/self/maps", "rb") as file:
        yield file.read()[:4000]
    yield b"""1000-2000 r-xp 00000000 08:01 7 /lib/a\\012b (deleted)
1800-2800 r-xp 00000800 08:01 7 /lib/a
0-ffffffffffffffff r--p 0 00:00 0
7ffc-7ffd r-xp 00000000 00:00 0                          [vdso]
"""


def cgroups():
    digits, uid = b"0123456789abcdef" * 4, b"7b9c1f7e_2d3a_4c55_9f0e_1a2b3c4d5e6f"
    yield b"0::/system.slice/docker-%s.scope" % digits
    yield b"0::/kubepods.slice/kubepods-pod%s.slice/cri-containerd-%s.scope" % (uid, digits)
    yield b"4:cpu,cpuacct:/machine.slice/machine-a\\x2db.scope/payload"
    yield b"36 25 0:32 /docker/1 /mnt/a\\040b rw shared:9 - cgroup cgroup rw,cpu,cpuacct"


def perf_maps():
    text = b"7f0000 10 py::run:a.py\n7f0008 20 two\nzz 1 no\n7f0000 10 again\n1000 ffffffffffffffff all\n"
    yield number(40, 2) + number(0, 1) + text
    yield number(40, 2) + number(1, 1) + text * 8


PROGRAM = """
static int kept; int table[9]; char _PyRuntime[64]; unsigned long Py_Version = 0x030c01f0;
extern int puts(const char *);
__attribute__((noinline)) int inner(int n) { return n ? puts("x") + kept : 3; }
int _PyEval_EvalFrameDefault(int n) { return inner(n) * 2 + table[n & 7]; }
__attribute__((cold, noinline)) int rare(int n) { return inner(n - 1) + 1; }
"""
WAYS = ("", "-g", "-g -gz=zlib", "-s", "-Wl,--hash-style=sysv", "-Wl,-z,now -Wl,-z,relro", "-static-pie -nostdlib",
        "-fno-asynchronous-unwind-tables -g", "-Wl,--no-eh-frame-hdr", "-Wl,-z,noseparate-code -s")


def elves():
    with tempfile.TemporaryDirectory() as work:
        source, target = os.path.join(work, "a.c"), os.path.join(work, "a.so")
        with open(source, "w") as file:
            file.write(PROGRAM)
        for way in WAYS:
            done = subprocess.run(["cc", "-O2", "-fPIC", "-shared", "-nostdlib", "-Wl,-z,max-page-size=4096",
                                   *way.split(), "-o", target, source], stderr=subprocess.DEVNULL)
            if done.returncode == 0:
                with open(target, "rb") as file:
                    yield file.read()


def names():
    for name in ("_ZN3foo3barEv", "_ZNSt6vectorIiSaIiEE9push_backERKi", "_RNvC6_123foo3bar", "plain",
                 "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "_ZN1AIXadL_Z1fvEEE1gEv",
                 "_Z1fIiEDTcl1gfp_EET_", "_ZlsRSoRK1A", "_ZZ1fvENKUlvE_clEv"):
        yield name.encode()


def options():
    for words in (("--", "true"), ("-p", "12,13", "-d", "1.5"), ("-F", "99", "-a", "--native=none"),
                  ("-e", "sched:sched_switch", "-c", "5", "--", "x"), ("--ring-bytes=1M", "--max-memory=1G", "-a"),
                  ("--json", "--max-loss=0.5", "--children", "-p1"), ("-o", "x", "-f", "-q", "-k", "-v", "a", "b")):
        yield b"".join(word.encode() + b"\0" for word in words)


# ---- unwind tables ----

ABSOLUTE = 0  # DW_EH_PE_absptr


def entries_of(section):
    """(is common part, offset of its common part, body) of each entry of an .eh_frame."""
    at = 0
    while at + 8 <= len(section):
        length, = struct.unpack_from("<I", section, at)
        if not length or length == 0xffffffff:
            return
        identity, = struct.unpack_from("<I", section, at + 4)
        yield at, identity == 0, at + 4 - identity, section[at + 8:at + 4 + length]
        at += 4 + length


def section_of(path, name):
    """Contents of a section of a 64-bit ELF file; b"" if there is none."""
    with open(path, "rb") as file:
        data = file.read()
    sections, = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<3H", data, 58)
    headers = [struct.unpack_from("<IIQQQQ", data, sections + size * index) for index in range(count)]
    for header in headers:
        start = headers[names][4] + header[0]
        if data[start:data.index(b"\0", start)].decode() == name:
            return data[header[4]:header[4] + header[5]]
    return b""


def unsigned_leb(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if not data[at - 1] & 0x80:
            return value, at


def programs_of(path):
    """(instructions of the common part, own instructions) of functions of a library."""
    commons, section = {}, section_of(path, ".eh_frame")
    for at, is_common, common, body in entries_of(section):
        if is_common and body[1:4] == b"zR\0":
            size, start = unsigned_leb(body, 7)
            commons[at] = body[start + size:]
        elif not is_common and common in commons:
            size, start = unsigned_leb(body, 8)
            yield commons[common], body[start + size:]


def entry(identity, body):
    body += bytes(-len(body) % 8)
    return number(len(body) + 4, 4) + identity + body


def table_of(programs, eh):
    """The entries anew: absolute addresses, the functions 64 bytes apart from TEXT on."""
    table, place = b"", TEXT
    for initial, program in programs:
        common = len(table)
        if eh:
            table += entry(number(0, 4), b"\1zR\0\1\x78\x10\1" + bytes((ABSOLUTE,)) + initial)
            table += entry(number(len(table) + 4 - common, 4),
                           number(place, 8) + number(64, 8) + b"\0" + program)
        else:
            table += entry(number(0xffffffff, 4), b"\1\0\1\x78\x10" + initial)
            table += entry(number(common, 4), number(place, 8) + number(64, 8) + program)
        place += 64
    return table + (number(0, 4) if eh else b"")


def unwinds():
    libraries = sorted(glob.glob("/lib/x86_64-linux-gnu/libc.so.6") + glob.glob("/lib/x86_64-linux-gnu/libm.so.6"))
    for path in libraries:
        programs = list(dict.fromkeys(programs_of(path)))
        for first in range(0, min(len(programs), 320), 16):
            for flags in (0, 1):
                stack = b"".join(number(0x7f0000000000 + TEXT + 64 * (index % 16) + 5, 8) for index in range(64))
                registers = number(first * 4 + 9, 8) + number(0, 8) * 7
                yield number(flags, 1) + number(len(stack), 2) + registers + stack + table_of(
                    programs[first:first + 16], not flags)
    # a saved register by an expression, a CFA by an expression
    for program in (b"\x10\x06\x02\x77\x08", b"\x0f\x03\x77\x08\x06", b"\x16\x06\x01\x30", b"\x2e\x10\x0a\x0b"):
        yield number(0, 1) + number(64, 2) + number(0, 64) + number(5, 64) + table_of(
            [(b"\x0c\x07\x08\x90\x01", program)], True)


# ---- records ----

def record(kind, body, pid=0, time=1000):
    data = struct.pack("<IIQII", kind, 24 + len(body), time, pid, 1) + body
    return number(len(data), 2) + data


def text(kind, value):
    return struct.pack("<QQII", 0x1000, len(value), kind, len(value))


def code_record(identity, name, file, table):
    return record(CODE, struct.pack("<QQQiHH", identity, 0x2000, 3, 7, 0x30b, 3) + text(1, name) + text(1, name) +
                  text(1, file) + text(5, table) + name + name + file + table)


def sample(stack, status, native, kernel, time):
    return record(SAMPLE, struct.pack("<IHBBQQII", 5, 0, status, 0, stack, 1000, kernel, len(native)) +
                  struct.pack("<8Q", 0x401010, 0x7ffe0000, 0, 0, 0, 0, 0, 0) + number(0x8000, 8) * kernel + native,
                  time=time)


def pipelines():
    code = codes(1)[0]
    table = code.co_linetable if sys.version_info >= (3, 10) else code.co_lnotab
    seen = record(LIFE, struct.pack("<6I16s", 1, 5, 0, 0, 5, 5, b"python3"))
    fork = record(LIFE, struct.pack("<6I16s", 2, 6, 0, 1, 6, 6, b"child"), pid=1)
    execute = record(LIFE, struct.pack("<6I16s", 3, 6, 1, 1, 6, 6, b"sh\xff;"), pid=1)
    ended = record(LIFE, struct.pack("<6I16s", 4, 5, 0, 0, 5, 5, b"x"))
    mapping = record(MAPPING, struct.pack("<4Q2I", 0x400000, 0x2000, 0, 7, 8, 1) + b"/lib/x\xff.so\0", pid=1)
    stack = record(STACK, struct.pack("<QII", 9, 2, 0) + struct.pack("<QiI", 4, 2, 0) + struct.pack("<QiI", 4, -1, 1))
    for flags in (0, 3, 7, 9, 16, 19):
        yield number(flags, 1) + seen + code_record(4, b"run", b"/a/b.py", table) + stack + sample(
            9, 0, b"", 0, 2000) + sample(9, 5, bytes(range(64)), 2, 2100) + fork + mapping + execute + ended
    yield number(7, 1) + sample(77, 1, bytes(32), 1, 5) + sample(0, 8, b"", 3, 4)


def packets():
    def packet(content, room, sequence):
        return struct.pack("<I16sIQQQQQQ", 0xc1fc1fc1, b"u" * 16, 0, 1, 2, 8 * (72 + content), 8 * (72 + room),
                           sequence, 0) + bytes(room)
    yield packet(8, 8, 0) + packet(0, 16, 1) + packet(24, 32, 2)
    yield packet(8, 8, 0)[:70]


def main():
    folder = sys.argv[1]
    for name, inputs in (("lines", lines()), ("text", texts()), ("pywalk", walks()), ("merge", merges()),
                         ("offsets", offsets()), ("maps", maps()), ("cgroup", cgroups()), ("perf_map", perf_maps()), ("elf", elves()),
                         ("demangle", names()), ("options", options()), ("unwind", unwinds()),
                         ("pipeline", pipelines()), ("trace", packets())):
        write(folder, name, inputs)


if __name__ == "__main__":
    main()
