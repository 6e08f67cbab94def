# SPDX-License-Identifier: MIT
"""Places of stacks.py that 2.7 has no syntax for. Both need its functions, which run as __main__."""
import asyncio
from __main__ import burn, generator


def delegating():
    yield from generator()


async def awaited():
    await asyncio.sleep(0)
    burn()


async def awaiting():
    await awaited()


def in_loop_of_events():
    loop = asyncio.new_event_loop()
    loop.run_until_complete(awaiting())
    loop.close()
