"""tiny_profile -- profiles small enough to check by hand, from a few literals.

    build_profile([("main;work;read", 3, 1), ...])

is one sample of 3 s user and 1 s system time whose stack is main calling work calling read. A function may name
its module and line: `read@libc.so.6`, `work:12`. A third element onwards is user time, system time, and then a
dict of what is not as usual: thread, end, at (seconds after the start).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from collector.profile.causes import NOT_SAMPLED
from collector.profile.metrics import CPU_VALUES, STAND_INS, Value, metrics_of
from collector.profile.model import REGION, REGION_MARK, Clock, Frame, Function, Module, Process, Profile, Recording, Thread
from collector.profile.plain_samples import PlainSample, PlainSamples, PlainStack

START_NS = 1_000_000_000_000
MS = 1_000_000
S = 1_000_000_000
CLOCK = Clock("sigtrap", 1_062_699, 1_062_699, "first choice")

RECORDING = Recording(
    path="/home/ada/test.1.expt",
    name="test.1.expt",
    command=("./test", "-v", "input file"),
    directory="/home/ada",
    host="engine",
    machine="x86_64",
    kernel="6.1.0",
    cpu_count=4,
    page_bytes=4096,
    wall_ns=1_700_000_000 * S,
    start_ns=START_NS,
    end_ns=START_NS + 20 * S,
    status=0,
    library_version="0.1.0",
    format_version="1.0",
    options=("clock=auto", "period=1062699"),
    log_count=2,
    log_bytes=70_000,
)
PROCESS = Process(
    experiment=0,
    pid=100,
    parent_pid=99,
    executable="/home/ada/test",
    arguments=("./test", "-v", "input file"),
    start_ns=START_NS,
    end_ns=START_NS + 20 * S,
    status=0,
    clock=CLOCK,
)
THREAD = Thread(process=0, tid=100, name="test", start_ns=START_NS, end_ns=START_NS + 20 * S, cpu_ns=11 * S)


class _Tables:
    def __init__(self) -> None:
        self.modules: list[Module] = []
        self.functions: list[Function] = []
        self.frames: list[Frame] = []
        self.stacks: list[PlainStack] = []

    def frame(self, text: str) -> int:
        text, _, module = text.partition("@")
        name, _, line = text.partition(":") if "::" not in text else (text, "", "")
        module_index = _position(self.modules, Module(module or "test", f"/usr/bin/{module or 'test'}", "c0ffee"))
        file = None if module else f"/src/{name}.c"
        function = Function(name, name, name, module_index, file, None if module else 10)
        function_index = _position(self.functions, function)
        kind = REGION if name.endswith(REGION_MARK) else "native"
        return _position(self.frames, Frame(function_index, file, int(line) if line else (None if module else 11), kind=kind))

    def stack(self, text: str, end: str) -> int:
        return _position(self.stacks, PlainStack(tuple(self.frame(part) for part in text.split(";")), end))


def _position(table: list, row: Any) -> int:
    if row not in table:
        table.append(row)
    return table.index(row)


def build_profile(
    samples: Sequence[tuple],
    *,
    recordings: Sequence[Recording] = (RECORDING,),
    processes: Sequence[Process] = (PROCESS,),
    threads: Sequence[Thread] = (THREAD,),
    **more: Any,
) -> Profile:
    """The profile of these samples."""
    tables = _Tables()
    plain = []
    has_stand_ins = any(rest and rest[0].get("end") == NOT_SAMPLED for _, _, _, *rest in samples)
    kinds = (*CPU_VALUES, Value(STAND_INS, "", True)) if has_stand_ins else CPU_VALUES
    for position, (text, user_s, system_s, *rest) in enumerate(samples):
        unusual = rest[0] if rest else {}
        stack = tables.stack(text, unusual.get("end", "complete"))
        time_ns = START_NS + int(unusual.get("at", position) * S)
        values = round(user_s * 1_000) * MS, round(system_s * 1_000) * MS
        is_stand_in = unusual.get("end") == NOT_SAMPLED
        plain.append(PlainSample(unusual.get("thread", 0), time_ns, stack, (*values, int(is_stand_in))[: len(kinds)]))
    return Profile(
        recordings=tuple(recordings),
        modules=tuple(tables.modules),
        functions=tuple(tables.functions),
        frames=tuple(tables.frames),
        processes=tuple(processes),
        threads=tuple(threads),
        samples=PlainSamples(tables.stacks, plain, [thread.scales for thread in threads], kinds),
        **{"metrics": metrics_of(kinds), **more},
    )


def random_samples(chance: random.Random) -> list[tuple]:
    """Samples with much recursion, short and long stacks, and some that are unfinished."""
    samples = []
    for _ in range(chance.randrange(1, 60)):
        stack = ";".join(chance.choice("abcde") for _ in range(chance.randrange(1, 9)))
        end = chance.choice(("complete", "complete", "bad_frame"))
        samples.append((stack, chance.randrange(9), chance.randrange(3), {"end": end}))
    return samples


def random_profile(chance: random.Random) -> Profile:
    """A profile of such samples."""
    return build_profile(random_samples(chance))
