# SPDX-License-Identifier: MIT
"""What the pictures show: a program that reads orders, adds them up, and writes a report as JSON.

argv: the indentation of the report, or "none" for none, as before a change that made it readable.
"""
import json
import random
import re
import sys
import zlib

INDENT = None if sys.argv[1] == "none" else int(sys.argv[1])
ORDER = re.compile(r"(\w+) ordered (\d+) of (\w+) at (\d+\.\d\d)")


def read_orders(count):
    pick = random.Random(1)
    lines = ["%s ordered %d of %s at %.2f" % (pick.choice(("anna", "ben", "cleo")), pick.randint(1, 9),
                                              pick.choice(("tea", "rice", "salt")), pick.uniform(1, 99))
             for _ in range(count)]
    return [ORDER.match(line).groups() for line in lines]


def total(orders, name):
    return sum(float(price) * int(amount) for who, amount, what, price in orders if who == name)


def add_up(orders):
    names = sorted({order[0] for order in orders})
    return {name: {"total": total(orders, name), "orders": [o for o in orders if o[0] == name]} for name in names}


def write(report):
    return zlib.compress(json.dumps(report, indent=INDENT, sort_keys=True).encode())


orders = read_orders(60000)
for _ in range(12):
    sums = add_up(orders)
for _ in range(8):
    write(sums)
