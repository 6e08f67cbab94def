# SPDX-License-Identifier: MIT
"""Frames that leave the stack and come back: generators, yield from, coroutines. generators.py [ROUNDS]"""
import asyncio
import sys


def numbers(n):
    x = 1
    for _ in range(n):
        x = (x * 1103515245 + 12345) & 0x3FFFFFFF
        yield x


def through(source, depth):
    if depth:
        yield from through(source, depth - 1)
    else:
        yield from source


def even(source):
    return (x for x in source if not x & 1)


async def produce(queue, n):
    for x in numbers(n):
        await queue.put(x)
    await queue.put(None)


async def consume(queue):
    total = 0
    while True:
        x = await queue.get()
        if x is None:
            return total
        total += x


async def both(n):
    queue = asyncio.Queue(maxsize=16)
    return (await asyncio.gather(produce(queue, n), consume(queue)))[1]


rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 8
total = 0
for _ in range(rounds):
    total += sum(even(through(numbers(40000), 12)))
    total += asyncio.run(both(8000))
print('generators', total)
