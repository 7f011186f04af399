"""shapes -- truth: the ways in which Python calls Python, each with the whole stack and the two lines in which its time passes

    shapes.py MILLISECONDS

A shape burns in a loop of two lines behind `announce()`. What is printed is one line of JSON: for each shape its CPU time, the lines of the
loop, and the stack from the outermost function on: qualified name (before 3.11 the name alone), file, and line.
"""

import asyncio
import atexit
import contextlib
import ctypes
import functools
import gc
import json
import pickle
import re
import signal
import sys
import tempfile
import threading
import time
import weakref

SHAPES = {}
TURNS = 0


def announce():
    """Tell who called, and that it burns in the next two lines from now on."""
    frame, stack = sys._getframe(1), []
    line = frame.f_lineno
    name = f"{frame.f_code.co_filename}:{line}"
    while frame:
        stack.append((getattr(frame.f_code, "co_qualname", frame.f_code.co_name), frame.f_code.co_filename, frame.f_lineno))
        frame = frame.f_back
    SHAPES[name] = {"stack": stack[::-1], "lines": [line + 1, line + 2], "begun": time.thread_time_ns()}
    return name


def burnt(shape):
    """Tell that a shape has burnt."""
    SHAPES[shape]["ns"] = time.thread_time_ns() - SHAPES[shape].pop("begun")


def plain():
    shape = announce()
    for number in range(TURNS):
        number * number % 7
    burnt(shape)


def in_three_lines():
    first = announce()
    for number in range(TURNS):
        number * number % 7
    burnt(first)
    second = announce()
    for number in range(TURNS):
        number * number % 7
    burnt(second)
    third = announce()
    for number in range(TURNS):
        number * number % 7
    burnt(third)


def over_several_lines():
    return dict(
        first=1,
        second=several_lines(
            1,
            2,
        ),
        third=3,
    )


def several_lines(*_):
    shape = announce()
    for number in range(TURNS):
        number * number % 7
    burnt(shape)


def generating():
    shape = announce()
    for number in range(TURNS):
        number * number % 7
    burnt(shape)
    yield 1


def generator():
    for _ in generating():
        pass


def inner_generator():
    shape = announce()
    for number in range(TURNS):
        number * number % 7
    burnt(shape)
    yield 1
    yield 2


def delegating(depth):
    if depth:
        yield from delegating(depth - 1)
    else:
        yield from inner_generator()


def yield_from():
    list(delegating(7))


def sending():
    value = yield
    while value:
        shape = announce()
        for number in range(TURNS):
            number * number % 7
        burnt(shape)
        value = yield


def sent():
    generator = sending()
    next(generator)
    generator.send(1)
    generator.close()


def dropped():
    try:
        yield 1
    finally:
        shape = announce()
        for number in range(TURNS):
            number * number % 7
        burnt(shape)


def dropped_half_way():
    generator = dropped()
    next(generator)
    del generator


def generator_expression():
    return sum(in_an_expression(number) for number in range(1))


def in_an_expression(_):
    shape = announce()
    for number in range(TURNS):
        number * number % 7
    burnt(shape)
    return 1


def comprehension():
    return [in_a_comprehension(number) for number in (1,)], {in_a_set(number) for number in (1,)}


def in_a_comprehension(_):
    shape = announce()
    for number in range(TURNS):
        number * number % 7
    burnt(shape)


def in_a_set(_):
    shape = announce()
    for number in range(TURNS):
        number * number % 7
    burnt(shape)


def recursion(depth=200):
    if depth:
        recursion(depth - 1)
        return
    shape = announce()
    for number in range(TURNS):
        number * number % 7
    burnt(shape)


def recursion_through_c(depth=20):
    if depth:
        functools.reduce(lambda _, deeper: recursion_through_c(deeper), [0, depth - 1])
        return
    shape = announce()
    for number in range(TURNS):
        number * number % 7
    burnt(shape)


def key_function():
    sorted([1], key=by_key)
    min([1], key=lambda number: in_a_key(number))


def by_key(number):
    shape = announce()
    for number in range(TURNS):
        number * number % 7
    burnt(shape)
    return number


def in_a_key(_):
    shape = announce()
    for number in range(TURNS):
        number * number % 7
    burnt(shape)
    return 1


def compare():
    sorted([1, 2], key=functools.cmp_to_key(comparing))


def comparing(*_):
    shape = announce()
    for number in range(TURNS):
        number * number % 7
    burnt(shape)
    return 1


def substitute():
    re.sub("a", replacing, "bab")


def replacing(_):
    shape = announce()
    for number in range(TURNS):
        number * number % 7
    burnt(shape)
    return ""


def json_default():
    json.dumps([object()], default=encoding)


def encoding(_):
    shape = announce()
    for number in range(TURNS):
        number * number % 7
    burnt(shape)


def mapping():
    list(filter(None, map(mapped, [1])))


def mapped(_):
    shape = announce()
    for number in range(TURNS):
        number * number % 7
    burnt(shape)


def exception():
    try:
        raising()
    except ZeroDivisionError:
        shape = announce()
        for number in range(TURNS):
            number * number % 7
        burnt(shape)
    finally:
        shape = announce()
        for number in range(TURNS):
            number * number % 7
        burnt(shape)


def raising():
    try:
        1 / 0  # noqa: B018
    finally:
        shape = announce()
        for number in range(TURNS):
            number * number % 7
        burnt(shape)


@contextlib.contextmanager
def managed():
    shape = announce()
    for number in range(TURNS):
        number * number % 7
    burnt(shape)
    yield
    shape = announce()
    for number in range(TURNS):
        number * number % 7
    burnt(shape)


class Entered:
    def __enter__(self):
        shape = announce()
        for number in range(TURNS):
            number * number % 7
        burnt(shape)

    def __exit__(self, *_):
        shape = announce()
        for number in range(TURNS):
            number * number % 7
        burnt(shape)


def context_managers():
    with managed():
        with Entered():
            pass


def decorated(function):
    @functools.wraps(function)
    def around(*arguments):
        return function(*arguments)

    return around


@decorated
@decorated
def decorator():
    shape = announce()
    for number in range(TURNS):
        number * number % 7
    burnt(shape)


class Special:
    @property
    def attribute(self):
        shape = announce()
        for number in range(TURNS):
            number * number % 7
        burnt(shape)

    def __getattr__(self, name):
        shape = announce()
        for number in range(TURNS):
            number * number % 7
        burnt(shape)

    def __lt__(self, other):
        shape = announce()
        for number in range(TURNS):
            number * number % 7
        burnt(shape)
        return True

    def __hash__(self):
        shape = announce()
        for number in range(TURNS):
            number * number % 7
        burnt(shape)
        return 1

    def __call__(self):
        shape = announce()
        for number in range(TURNS):
            number * number % 7
        burnt(shape)

    def __format__(self, how):
        shape = announce()
        for number in range(TURNS):
            number * number % 7
        burnt(shape)
        return how

    def __reduce__(self):
        shape = announce()
        for number in range(TURNS):
            number * number % 7
        burnt(shape)
        return int, ()

    def __del__(self):
        shape = announce()
        for number in range(TURNS):
            number * number % 7
        burnt(shape)


def special_methods():
    special = Special()
    special.attribute  # noqa: B018
    special.nothing  # noqa: B018
    sorted([special, special])
    {special: 1}  # noqa: B018
    special()
    f"{special:x}"
    pickle.dumps(special)
    del special


class Meta(type):
    def __call__(cls):
        shape = announce()
        for number in range(TURNS):
            number * number % 7
        burnt(shape)
        return type.__call__(cls)


def class_body():
    class Made(metaclass=Meta):
        shape = announce()
        for number in range(TURNS):
            number * number % 7
        burnt(shape)

    Made()


def garbage():
    class Cycle:
        def __del__(self):
            shape = announce()
            for number in range(TURNS):
                number * number % 7
            burnt(shape)

    cycle = Cycle()
    cycle.itself = cycle
    del cycle
    gc.collect()


def weak_reference():
    target = Entered()
    reference = weakref.ref(target, lambda _: on_loss())
    del target
    return reference


def on_loss():
    shape = announce()
    for number in range(TURNS):
        number * number % 7
    burnt(shape)


def nested_lambda():
    (lambda: (lambda: in_a_lambda())())()


def in_a_lambda():
    shape = announce()
    for number in range(TURNS):
        number * number % 7
    burnt(shape)


def traced():
    def trace(*_):
        sys.settrace(None)
        shape = announce()
        for number in range(TURNS):
            number * number % 7
        burnt(shape)

    sys.settrace(trace)
    (lambda: None)()


def on_signal(*_):
    shape = announce()
    for number in range(TURNS):
        number * number % 7
    burnt(shape)


def signal_handler():
    signal.signal(signal.SIGUSR2, on_signal)
    signal.raise_signal(signal.SIGUSR2)
    signal.signal(signal.SIGUSR2, signal.SIG_DFL)


def c_callback():
    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
    ctypes.CDLL(None).qsort((ctypes.c_int * 2)(2, 1), ctypes.c_size_t(2), ctypes.c_size_t(4), kind(from_qsort))


def from_qsort(*_):
    shape = announce()
    for number in range(TURNS):
        number * number % 7
    burnt(shape)
    return 1


EXECUTED = """
shape = announce()
for number in range(TURNS):
    number * number % 7
burnt(shape)
"""


def executed():
    exec(compile(EXECUTED, "<executed>", "exec"), dict(globals()))
    eval("in_an_eval()", globals())


def in_an_eval():
    shape = announce()
    for number in range(TURNS):
        number * number % 7
    burnt(shape)


def imported():
    with tempfile.TemporaryDirectory() as place:
        with open(f"{place}/imported_shape.py", "w") as file:
            file.write(f"from __main__ import announce, burnt, TURNS\n{EXECUTED}")
        sys.path.insert(0, place)
        import imported_shape  # noqa: F401

        del sys.path[0]


async def awaited(depth):
    if depth:
        await awaited(depth - 1)
        return
    shape = announce()
    for number in range(TURNS):
        number * number % 7
    burnt(shape)
    await asyncio.sleep(0)
    shape = announce()
    for number in range(TURNS):
        number * number % 7
    burnt(shape)


async def ticking():
    yield 1
    shape = announce()
    for number in range(TURNS):
        number * number % 7
    burnt(shape)
    yield 2


async def gathered():
    async for _ in ticking():
        await asyncio.sleep(0)
    await asyncio.gather(awaited(3), asyncio.sleep(0))


def coroutines():
    asyncio.run(gathered())


def in_a_thread():
    shape = announce()
    for number in range(TURNS):
        number * number % 7
    burnt(shape)


def threads():
    thread = threading.Thread(target=in_a_thread)
    thread.start()
    thread.join()


def méthode_à_ünïcode():
    shape = announce()
    for number in range(TURNS):
        number * number % 7
    burnt(shape)


def 名前():
    shape = announce()
    for number in range(TURNS):
        number * number % 7
    burnt(shape)


def unicode_names():
    méthode_à_ünïcode()
    名前()
    exec(compile(EXECUTED, "<日本語>", "exec"), dict(globals()))


def at_exit():
    shape = announce()
    for number in range(TURNS):
        number * number % 7
    burnt(shape)
    print(json.dumps(SHAPES))


WAYS = (
    plain, in_three_lines, over_several_lines, generator, yield_from, sent, dropped_half_way, generator_expression, comprehension, recursion,
    recursion_through_c, key_function, compare, substitute, json_default, mapping, exception, context_managers, decorator, special_methods,
    class_body, garbage, weak_reference, nested_lambda, traced, signal_handler, c_callback, executed, imported, coroutines, threads, unicode_names,
)


def calibrate():
    """Turns of the loop in a millisecond."""
    begun, turns = time.thread_time_ns(), 0
    while time.thread_time_ns() - begun < 10_000_000:
        for number in range(1000):
            number * number % 7
        turns += 1000
    return turns // 10


def main():
    global TURNS
    TURNS = calibrate() * int(sys.argv[1])
    for way in WAYS:
        way()
    atexit.register(at_exit)


main()
