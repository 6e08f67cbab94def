#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""join_segments.py FILE - makes one of the first two loaded segments of an x86-64 ELF file.

patchelf puts a page in front of a program that is not position independent and lets .dynstr begin
there and go on into the next segment. The kernel and the loader do not mind; strip does, and
leaves a program that cannot be started. A file that is not like that stays as it is.
"""
import struct
import sys

LOAD = 1
HEADER = struct.Struct("<IIQQQQQQ")  # type, flags, offset, vaddr, paddr, size in file, in memory, alignment


def joined(data):
    """The bytes of the file with one segment less, or None."""
    start, = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    places = [start + number * size for number in range(count)]
    loads = [place for place in places if HEADER.unpack_from(data, place)[0] == LOAD][:2]
    one, two = (HEADER.unpack_from(data, place) for place in loads)
    if (one[2] + one[5], one[3] + one[6]) != (two[2], two[3]) or one[5] != one[6]:
        return None
    data = bytearray(data)
    HEADER.pack_into(data, loads[0], LOAD, one[1] | two[1], *one[2:5], one[5] + two[5], one[6] + two[6], one[7])
    struct.pack_into("<I", data, loads[1], 0)
    return data


def main():
    with open(sys.argv[1], "rb") as file:
        data = joined(file.read())
    if data:
        with open(sys.argv[1], "r+b") as file:
            file.write(data)


if __name__ == "__main__":
    main()
