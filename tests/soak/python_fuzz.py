"""python_fuzz -- a program that does at random what is hard on whoever looks into an interpreter: python_fuzz.py SEED MILLISECONDS

Calls through C, recursion to its limit, generators dropped half-way, coroutines, finalizers, garbage, trace functions, code made and dropped,
fork, threads that are still there at the end. It prints how often it did what, and ends with status 0, if all went as it must.
"""

import asyncio
import atexit
import copy
import ctypes
import functools
import gc
import hashlib
import itertools
import json
import os
import pickle
import random
import re
import sys
import threading
import time
import weakref
import zlib

SEED, LIMIT_MS = int(sys.argv[1]), int(sys.argv[2])
COUNTS = {}
LOCAL = threading.local()
COMPARE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
QSORT = ctypes.CDLL(None).qsort
EXPECTED_FAILURES = (RecursionError, ZeroDivisionError, KeyError, StopIteration)


class Node:
    """Something with methods that C calls, and that may lie in a cycle."""

    def __init__(self, chance, depth=0):
        self.value = chance.randrange(1000)
        self.other = Node(chance, depth - 1) if depth else self

    def __lt__(self, other):
        return self.value < other.value

    def __hash__(self):
        return self.value

    def __eq__(self, other):
        return isinstance(other, Node) and self.value == other.value

    def __del__(self):
        spin(3)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return spin(2)

    def __getstate__(self):
        spin(1)
        return {"value": self.value}

    def __setstate__(self, state):
        self.__dict__.update(state)


def spin(turns):
    number = 1
    for turn in range(turns):
        number = number * 31 % 65537 + turn
    return number


def calls(chance):
    for _ in range(200):
        nothing(1, two=2)
        (lambda *words, **names: nothing(*words, **names))(3, 4)


def nothing(*_, **__):
    pass


def recursion(chance):
    depth = chance.choice([10, 100, 400])

    def down(left):
        return 0 if left == 0 else 1 + down(left - 1)

    assert down(depth) == depth


def recursion_error(chance):
    def down(number):
        return down(number + 1) + 1

    down(0)


def recursion_through_c(chance):
    def down(left):
        if left:
            return functools.reduce(lambda _, deeper: down(deeper), [0, left - 1])
        return spin(5)

    down(chance.choice([5, 30]))


def sorts(chance):
    numbers = [chance.random() for _ in range(300)]
    assert sorted(numbers, key=lambda number: -number) == sorted(numbers, reverse=True)
    sorted(numbers, key=functools.cmp_to_key(lambda one, other: (one > other) - (one < other)))
    sorted(Node(chance) for _ in range(30))


def sorts_in_c(chance):
    values = (ctypes.c_int * 64)(*(chance.randrange(1000) for _ in range(64)))
    QSORT(values, ctypes.c_size_t(64), ctypes.c_size_t(4), COMPARE(lambda one, other: one[0] - other[0]))
    assert list(values) == sorted(values)


def texts(chance):
    text = "".join(chance.choice("abc 12é名") for _ in range(400))
    re.sub(r"\w+", lambda match: match.group()[::-1], text)
    json.loads(json.dumps([{"text": text, "strange": Node(chance)}], default=lambda node: node.value))
    zlib.decompress(zlib.compress(text.encode() * 20))
    hashlib.sha256(text.encode() * 3000).digest()  # long enough to release the GIL


def tree(depth):
    if depth:
        yield from tree(depth - 1)
        yield depth
        yield from tree(depth - 1)


def generators(chance):
    for value in itertools.islice(tree(7), chance.randrange(100)):
        spin(value)

    def with_finally():
        try:
            while True:
                sent = yield spin(2)
                if sent:
                    raise KeyError(sent)
        finally:
            spin(4)

    dropped = with_finally()
    next(dropped)
    if chance.random() < 0.5:
        dropped.send(None)
    else:
        try:
            dropped.throw(ZeroDivisionError)
        except ZeroDivisionError:
            pass
    tuple(number for number in (spin(turns) for turns in range(20)) if number % 2)


def coroutines(chance):
    async def ticks(count):
        for number in range(count):
            await asyncio.sleep(0)
            yield number

    async def nested(depth):
        return await nested(depth - 1) + 1 if depth else spin(3) % 1

    async def main():
        tasks = [asyncio.ensure_future(nested(chance.randrange(20))) for _ in range(8)]
        async for _ in ticks(5):
            tasks[chance.randrange(8)].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    loop = asyncio.new_event_loop()
    try:
        loop.run_until_complete(main())
    finally:
        loop.close()


def exceptions(chance):
    def fails(depth):
        try:
            if depth:
                fails(depth - 1)
            else:
                raise KeyError(depth)
        except KeyError as error:
            raise ZeroDivisionError(depth) from error
        finally:
            spin(2)

    fails(chance.randrange(30))


def garbage(chance):
    for _ in range(20):
        node = Node(chance, chance.randrange(6))
        node.cycle = [node, lambda node=node: node]
        weakref.finalize(node, spin, 3)
    del node
    if chance.random() < 0.3:
        gc.collect(chance.randrange(3))


def copies(chance):
    node = Node(chance)
    pickle.loads(pickle.dumps(node))
    copy.copy(node)
    assert {node: 1}[node] == 1
    assert node.missing


def code(chance):
    for number in range(5):
        name = chance.choice(["made", f"made_{number}", f"mäde_{number}", f"作_{number}"])
        source = f"def {name}(turns):\n" + "\n" * chance.randrange(300) + "    for turn in range(turns):\n        turn * turn % 7\n"
        space = {}
        exec(compile(source, chance.choice(["<made>", f"<made {number}>", "x" * chance.randrange(1, 3000)]), "exec"), space)
        space[name](chance.randrange(500))
    type(f"Made{chance.randrange(9)}", (Node,), {"__slots__": ()})(chance)


def traced(chance):
    def trace(*_):
        spin(1)
        return trace

    chance.choice([sys.settrace, sys.setprofile])(trace)
    try:
        recursion(chance)
        generators(chance)
    finally:
        sys.settrace(None)
        sys.setprofile(None)


def threads(chance):
    errors = []

    def work(seed):
        try:
            act(random.Random(seed), threaded=True)
        except BaseException as error:
            errors.append(error)
            raise

    started = [threading.Thread(target=work, args=(chance.random(),)) for _ in range(chance.randrange(1, 5))]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    assert not errors


def forks(chance):
    """The child is alone: it takes no lock that a thread may hold."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            seed = random.Random(chance.random())
            for action in (calls, recursion, generators, sorts, code, recursion_through_c):
                action(seed)
            status = 7
        finally:
            os._exit(status)
    assert os.waitpid(pid, 0)[1] == 7 << 8


PLAIN = (calls, recursion, recursion_error, recursion_through_c, sorts, sorts_in_c, texts, generators, exceptions, garbage, copies, code)
ALONE = (coroutines, traced, threads, forks)


def act(chance, threaded=False):
    """One thing, or one within another."""
    action = chance.choice(PLAIN if threaded else PLAIN + ALONE)
    try:
        action(chance)
    except EXPECTED_FAILURES:
        pass
    COUNTS[action.__name__] = COUNTS.get(action.__name__, 0) + 1


WAITS_FOR_DAEMONS = sys.version_info < (3, 10, 8)
"""Whether an interpreter may wait without end, recorded or not, for a daemon thread that asked for its lock and was ended (CPython's gh-96387)."""
STOPPED = threading.Event()


def goes_on():
    """What a daemon thread does until the end of everything."""
    data = b"abc" * 30000
    while not STOPPED.is_set():
        zlib.compress(data)
        spin(2000)


def at_exit():
    spin(20000)
    generators(random.Random(1))
    sys.stdout.write("\n".join(f"{name} {count}" for name, count in sorted(COUNTS.items())) + "\nwell\n")
    sys.stdout.flush()


def main():
    atexit.register(at_exit)
    chance = random.Random(SEED)
    if SEED % 2:
        daemon = threading.Thread(target=goes_on, daemon=True)
        daemon.start()
        if WAITS_FOR_DAEMONS:
            atexit.register(lambda: (STOPPED.set(), daemon.join()))  # before at_exit
    begun = time.process_time()
    while (time.process_time() - begun) * 1000 < LIMIT_MS:
        act(chance)
    keep = Node(chance, 5)
    keep.cycle = keep  # finalized when the interpreter goes
    sys.kept = keep


main()
