"""coroutines -- truth: CPU time of asyncio tasks that take turns, each in coroutines that await each other, and of an asynchronous generator

    coroutines.py MILLISECONDS
"""

import asyncio
import sys
import time
from random import random

SPENT = {}
UNIT = 3000


def burns(name, turns):
    """Work that belongs to the caller: from a half to three halves of so many turns, by chance, in step with no clock."""
    begun = time.thread_time_ns()
    for number in range(turns // 2 + int(turns * random())):
        number * number % 7
    SPENT[name] = SPENT.get(name, 0) + time.thread_time_ns() - begun


async def lowest(name, turns):
    burns(name, turns)
    await asyncio.sleep(0)


async def middle(name, turns):
    await lowest(name, turns)


async def one_part(until):
    while time.thread_time_ns() < until:
        await middle("one_part", UNIT)


async def three_parts(until):
    while time.thread_time_ns() < until:
        await middle("three_parts", 3 * UNIT)


async def ticks(until):
    while time.thread_time_ns() < until:
        burns("ticks", 2 * UNIT)
        yield 1
        await asyncio.sleep(0)


async def counts(until):
    async for _ in ticks(until):
        pass


async def run(until):
    await asyncio.gather(one_part(until), three_parts(until), counts(until))


def main():
    asyncio.run(run(time.thread_time_ns() + int(sys.argv[1]) * 1_000_000))
    for name, ns in SPENT.items():
        print(name, ns)
    print("process", time.process_time_ns())


main()
