"""test_both_ways -- the analysis in C and the one in Python agree: on random logs, damaged ones, changing code, and entries of several frames"""

from __future__ import annotations

import os
import random
from array import array
from collections.abc import Callable
from pathlib import Path

import pytest
from both_ways import answers, compare, load_both_ways, load_native, load_plain
from small_experiment import (
    BASE,
    LIBPYTHON,
    PID,
    PYTHON_BASE,
    S,
    T0,
    ArithmeticSymbolizer,
    begin,
    clock,
    close,
    interpreter,
    mapping,
    python_code,
    samples,
    source,
    thread_end,
)
from writer import frame, leb128, open_slot, record, write_untruncated

from collector.analysis import library
from collector.analysis.library import load_library
from collector.analysis.native import NativeAnalysis
from collector.analysis.plain import PlainAnalysis
from collector.analysis.seam import NOBODY, AddressSpan, Analysis, Expansion
from collector.errors import CollectorError
from collector.experiment.directory import LogFile
from collector.experiment.origin import Origin
from collector.format import Kind, MapAction, MapKind
from collector.load import load
from collector.profile import aggregate
from collector.profile.model import Profile
from collector.profile.plain_samples import PlainSamples
from collector.profile.samples import Grouping, Samples, Scales

THOROUGH = bool(os.environ.get("COLLECTOR_TEST_THOROUGH"))
RECORDER = 2 * BASE
OWN = 4 * BASE


def random_stacks(rng: random.Random, stack: list[int], homes: tuple[int, ...]) -> list[tuple[tuple[int, ...], int]]:
    """Stacks that go on from one another, some in the recorder or in nobody's memory, some empty, much recursion."""
    stacks = []
    for _ in range(rng.randrange(1, 9)):
        stack[:] = stack[rng.randrange(len(stack) + 1) :] if rng.random() < 0.95 else []
        more = [rng.choice(homes) + rng.randrange(1, 12) * 0x1000 + rng.randrange(3) for _ in range(rng.randrange(6))]
        stack[:0] = more * rng.choice((1, 1, 1, 7))
        stacks.append((tuple(stack), rng.randrange(8)))
    return stacks


def random_block(rng: random.Random, at_ns: int, stack: list[int], homes: tuple[int, ...]) -> bytes:
    stacks = random_stacks(rng, stack, homes)
    count = rng.randrange(0, 14)
    indexes = [rng.randrange(len(stacks) + (rng.random() < 0.1)) for _ in range(count)]
    times = dict(user_us=[rng.randrange(3000) for _ in range(count)] or None, system_us=[rng.randrange(300) for _ in range(count)] or None)
    return samples(stacks, indexes, thread=PID + rng.randrange(3), at_ns=at_ns, gap_us=rng.randrange(1, 900), **times)


SOURCES = {
    2: (["blocked ns", "runnable ns"], "looks"),
    3: (["minor_faults", "heap bytes", "runnable ns"], None),
    4: ([], None),
    6: (["user ns", "missing ns", "runnable ns"], None),
    5: (["system ns", "heap bytes", "user", "a b c", "cpu ns"], None),
}
"""Two that are of use, one that says nothing, one that tells of missing ticks, one whose values are partly those of others, partly none."""


def random_sources(rng: random.Random, stack: list[int], homes: tuple[int, ...]) -> list[bytes]:
    """Samples of sources other than the clock, in the order of time; some have more or fewer values than were declared, and one is defined late."""
    records = [source(number, *SOURCES[number]) for number in SOURCES if rng.random() < 0.7]
    for number in range(rng.randrange(30)):
        stacks = random_stacks(rng, stack, homes)
        indexes = [rng.randrange(len(stacks)) for _ in range(rng.randrange(1, 9))]
        values = [[rng.randrange(1 << rng.choice((3, 6, 11))) for _ in indexes] for _ in range(rng.choice((0, 1, 2, 2, 3, 3, 6)))]
        records.append(samples(stacks, indexes, thread=PID + rng.randrange(3), at_ns=T0 + number * S // 30, source=rng.choice(list(SOURCES)), values=values))
    late = rng.choice(list(SOURCES))
    records.insert(rng.randrange(len(records) + 1), source(late, *SOURCES[late]))
    return records


def random_changes(rng: random.Random) -> list[bytes]:
    """Code that comes and goes: a library that is exchanged, functions made at run time, one within the other."""
    made = []
    for number in range(rng.randrange(6)):
        at_ns = T0 + rng.randrange(S)
        kind = rng.choice((MapKind.OBJECT, MapKind.DYNAMIC_FUNCTION))
        start = OWN + rng.randrange(8) * 0x1000
        fields = dict(map_kind=int(kind), name=f"made{number}") if kind is MapKind.DYNAMIC_FUNCTION else {}
        made.append((at_ns, mapping(f"/lib/l{number}.so", start, rng.randrange(1, 6) * 0x1000, at_ns, **fields)))
        if rng.random() < 0.6:
            gone_ns = at_ns + rng.randrange(S // 3)
            made.append((gone_ns, mapping(f"/lib/l{number}.so", start, 0x1000, gone_ns, MapAction.DELETE, **fields)))
    return [change for _, change in sorted(made)]


def random_python(rng: random.Random) -> list[bytes]:
    """An interpreter, in some of a module or all of it, whose functions are known or not, and code objects, some of which are no functions."""
    start = LIBPYTHON + rng.randrange(4) * 0x1000
    told = [interpreter(rng.choice((None, None, "unknown")), start, start + rng.randrange(1, 12) * 0x1000)] if rng.random() < 0.9 else []
    names = ["f", "f", "C.g", "<module>", "(interpreter)", "(Python stack unreadable)"]
    codes = [
        python_code(number, name := rng.choice(names), None if name.startswith("(") else rng.choice(("/src/app.py", "<string>")), at_ns=T0 + rng.randrange(S))
        for number in range(1, 12)
        if rng.random() < 0.8
    ]
    library = [mapping("/usr/lib/libpython3.so", LIBPYTHON, rng.randrange(4, 14) * 0x1000)]
    return rng.sample(records := told + library + codes, len(records))


def random_frames(rng: random.Random, changes: bool = True, python: bool = False) -> list[bytes]:
    """The payloads of a log."""
    stack: list[int] = []
    records = [begin(), clock(), mapping(size=0x9000), mapping("/lib/libcollector.so", RECORDER)]
    records += random_changes(rng) if changes else []
    records += random_python(rng) if python else []
    homes = (BASE, PYTHON_BASE, PYTHON_BASE, LIBPYTHON, OWN) if python else (BASE, BASE, BASE, RECORDER, OWN)
    records += [random_block(rng, T0 + number * S // 40, stack, homes) for number in range(40)]
    records += random_sources(rng, stack, homes) if rng.random() < 0.5 else []
    if rng.random() < 0.5:
        records.append(thread_end(PID, user_ns=rng.randrange(S // 10), system_ns=rng.randrange(S // 50)))
        records.append(record(Kind.THR_CREATE, T0, PID + 7, name="brief", start_address=BASE + 0x3000))
        records.append(thread_end(PID + 7, user_ns=2_000_000))
    records.append(close())
    payloads = []
    while records:
        number = rng.randrange(1, 5)
        payloads.append(b"".join(records[:number]))
        del records[:number]
    return payloads


def write(directory: Path, data: bytes, pid: int = PID) -> Path:
    directory.mkdir(exist_ok=True)
    (directory / f"{pid}.0.log").write_bytes(data)
    return directory


def framed(payloads: list[bytes]) -> bytes:
    return b"".join(frame(payload, number) for number, payload in enumerate(payloads))


def compare_for(seed: int, path: Path, has_interpreter_frames: bool = False) -> None:
    """Both ways agree on a random log; each log is compared in a third of its parts, unless all is to be tried."""
    plain, native = (read(path, symbolizer=ArithmeticSymbolizer(), has_interpreter_frames=has_interpreter_frames) for read in (load_plain, load_native))
    compare(plain, native, None if THOROUGH else seed)


@pytest.mark.parametrize("seed", range(60 if THOROUGH else 6))
def test_random_logs(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    path = write(tmp_path / "a.expt", framed(random_frames(rng)))
    write(path, framed(random_frames(rng)), PID + 50)
    compare_for(seed, path)


@pytest.mark.parametrize("has_interpreter_frames", [False, True])
@pytest.mark.parametrize("seed", range(60 if THOROUGH else 3))
def test_python_between_native_frames(tmp_path: Path, seed: int, has_interpreter_frames: bool) -> None:
    rng = random.Random(seed)
    path = write(tmp_path / "a.expt", framed(random_frames(rng, python=True)))
    write(path, framed(random_frames(rng, python=rng.random() < 0.5)), PID + 50)
    compare_for(seed, path, has_interpreter_frames)


def damaged(rng: random.Random, data: bytes) -> bytes:
    """The log, cut, with bytes changed, deleted or doubled."""
    changed = bytearray(data)
    for _ in range(rng.randrange(1, 4)):
        place = rng.randrange(len(changed))
        choice = rng.random()
        if choice < 0.4:
            changed[place] ^= 1 << rng.randrange(8)
        elif choice < 0.6:
            del changed[place : place + rng.randrange(1, 300)]
        elif choice < 0.8:
            changed[place:place] = changed[max(0, place - rng.randrange(400)) : place]
        else:
            changed[place : place + 200] = bytes(min(200, len(changed) - place))
    return bytes(changed[: rng.randrange(len(changed) // 2, len(changed) + 1)] if rng.random() < 0.2 else changed)


@pytest.mark.parametrize("seed", range(400 if THOROUGH else 9))
def test_damaged_logs(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    data = framed(random_frames(rng))
    path = write(tmp_path / "a.expt", damaged(rng, data))
    write(path, data, PID + 50)
    compare_for(seed, path)


def mutated(rng: random.Random, payload: bytes) -> bytes:
    changed = bytearray(payload)
    for _ in range(rng.randrange(1, 3)):
        place = rng.randrange(len(changed))
        changed[place] = rng.choice((0, 1, 0x7F, 0x80, 0xC1, 0xC4, 0xCF, 0xFF, rng.randrange(256)))
    return bytes(changed)


def error_of(path: Path, read: Callable[..., Profile]) -> str:
    try:
        read(path, symbolizer=ArithmeticSymbolizer())
    except CollectorError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("seed", range(400 if THOROUGH else 9))
def test_mutated_records_in_sound_frames(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    payloads = [mutated(rng, payload) if rng.random() < 0.15 else payload for payload in random_frames(rng)]
    path = write(tmp_path / "a.expt", framed(payloads))
    try:
        compare_for(seed, path)
    except CollectorError as error:  # then it is the same one
        assert error_of(path, load_plain) == error_of(path, load_native) == str(error)


@pytest.mark.parametrize("pending_ns", [0, 500_000, (1 << 64) - 1])
def test_open_frames_of_a_killed_process(tmp_path: Path, pending_ns: int) -> None:
    """What was pending is all samples' of the thread."""
    tmp_path.joinpath("a.expt").mkdir()
    one = b"\0\1" + leb128((BASE + 0x1000) << 2 | 1)
    slot = open_slot(T0 + S, PID, [(1000, 700, 300, 0, one), (1000, 900, 100, 0, b"")], pending_ns=pending_ns)
    write_untruncated(tmp_path / "a.expt" / f"{PID}.0.log", framed([begin(), clock()]), slot)
    profile = load_both_ways(tmp_path / "a.expt", symbolizer=ArithmeticSymbolizer())
    assert aggregate.total_values(profile)[0] * 1e9 == pytest.approx(2_000_000 + pending_ns)
    assert [thread.cpu_ns for thread in profile.threads] == [2_000_000 + pending_ns]


def test_values_too_large_to_be_true(tmp_path: Path) -> None:
    huge = record(
        Kind.PCSAMPLE, (1 << 64) - 5, PID, source=(1 << 64) - 1, count=2, unit_ns=(1 << 64) - 1, times=[(1 << 64) - 1, b"\1\2"],
        values=[[(1 << 63), b""], [0, b"\1\2"]], stacks=[0, b"\0\xff"], stack_count=1 << 60, definitions=b"\0\1\5",
    )  # fmt: skip
    load_both_ways(write(tmp_path / "a.expt", framed([begin(), clock(), huge, close()])), symbolizer=ArithmeticSymbolizer())


def both_samples(tmp_path: Path, payloads: list[bytes], expansion: Expansion, frame_count: int) -> list[Samples]:
    """The samples of a log whose addresses mean what the expansion says."""
    path = write(tmp_path / "a.expt", framed(payloads)) / f"{PID}.0.log"
    found_library = load_library()
    assert found_library is not None
    found = []
    for analysis in (PlainAnalysis(), NativeAnalysis(found_library)):
        number, records = analysis.scan(LogFile(str(path), Origin(PID, 0)))
        analysis.attribute(number, [0] * sum(record.kind is Kind.PCSAMPLE for record in records), [AddressSpan(BASE, BASE + 0x100000, 0, 5, False)], 9)
        analysis.collect(number)
        assert sorted(analysis.entries().entries) == [(BASE + 0x1008, 5, False), (BASE + 0x1020, 5, True), (BASE + 0x2010, 5, True)]
        order = [[(BASE + 0x1008, 5, False), (BASE + 0x1020, 5, True), (BASE + 0x2010, 5, True)].index(entry) for entry in analysis.entries().entries]
        analysis.expand(in_order(expansion, order))
        found.append(analysis.samples([Scales(0.5, 0.25, 2.0)], frame_count, True))
    return found


def in_order(expansion: Expansion, order: list[int]) -> Expansion:
    """The same for entries in another order."""
    made = Expansion()
    for entry in order:
        made.frames.extend(expansion.frames[expansion.first_frame[entry] : expansion.first_frame[entry + 1]])
        made.first_frame.append(len(made.frames))
        made.first_meaning.append(len(made.first_frame) - 1)
    return made


def test_an_address_may_have_several_frames(tmp_path: Path) -> None:
    """As inlined functions have: 0 is main, 1 and 2 were inlined into the leaf's function 3, caller first; the other leaf shows nothing."""
    payloads = [begin(), clock(), samples([([BASE + 0x2010, BASE + 0x1008], 0), ([BASE + 0x1020], 0)], [0, 0, 1])]
    expansion = Expansion(array("I", range(4)), array("Q"), array("I", [0, 2, 3, 6]), array("I", [0, 4, 0, 3, 1, 2]))
    grouping = Grouping("", 5, lambda: range(5))
    for one in both_samples(tmp_path, payloads, expansion, 5):
        sums = one.sum_groups(grouping)
        assert list(sums.exclusive[2]) == [1, 0, 2, 0, 0]
        assert list(sums.inclusive[2]) == [3, 2, 2, 2, 2]
        tree = one.call_sums(grouping)
        assert sorted(zip(tree.groups[1:], (tree.groups[parent] if parent else -1 for parent in tree.parents[1:]))) == [
            (0, -1), (1, 3), (2, 1), (3, 4), (4, 0),
        ]  # fmt: skip
        edges = one.edge_sums(grouping)
        calls = dict(zip(zip(edges.callers, edges.callees), zip(edges.outermost[2], edges.innermost[2])))
        assert calls == {(5, 0): (3, 0), (0, 4): (2, 2), (4, 3): (2, 2), (3, 1): (2, 2), (1, 2): (2, 2)}
        assert list(edges.exclusive[2]) == [1, 0, 2, 0, 0]


def test_records_of_nobody_are_left_out(tmp_path: Path) -> None:
    path = write(tmp_path / "a.expt", framed([begin(), clock(), samples([([BASE], 0)], [0]), samples([([BASE], 0)], [0, 0])])) / f"{PID}.0.log"
    found_library = load_library()
    assert found_library is not None
    analyses: list[Analysis] = [PlainAnalysis(), NativeAnalysis(found_library)]
    for analysis in analyses:
        number, _ = analysis.scan(LogFile(str(path), Origin(PID, 0)))
        analysis.attribute(number, [NOBODY, 0], [], 0)
        analysis.collect(number)
        analysis.expand(Expansion(array("I", [0, 1]), array("Q"), array("I", [0, 1]), array("I", [0])))
        assert list(analysis.samples([Scales()], 1, True).cells().counts) == [2]


@pytest.mark.parametrize("count", [0, 1, 2, 3, 12])
def test_any_number_of_values(tmp_path: Path, count: int) -> None:
    """Each of three samples of two stacks has the values 1, 2, 3, ... in its columns; the second has ten times as much."""
    values = [[number, 10 * number, number] for number in range(1, count + 1)]
    stacks = [((BASE + 0x1010,), 0), ((BASE + 0x2020, BASE + 0x1010), 2)]
    names = [f"v{number}{' ns' if number % 2 else ''}" for number in range(1, count + 1)]
    records = [begin(), mapping(), source(7, names, "looks"), samples(stacks, [0, 1, 0], source=7, values=values), close()]
    profile = load_both_ways(write(tmp_path / "a.expt", framed(records)), symbolizer=ArithmeticSymbolizer())
    others = profile.metrics[4:]
    if not count:  # nothing is declared, and the samples are taken for those of a clock
        assert not others and aggregate.total_values(profile) == (0, 0, 0, 3)
        return
    assert [metric.name for metric in others] == ["looks", *(f"v{number}" for number in range(1, count + 1))]
    wanted = [number / 1e6 if number % 2 else number for number in range(1, count + 1)]
    by_name = {row.function.name: row for row in aggregate.functions(profile)}
    assert by_name["f1"].exclusive == (0, 0, 0, 0, 2, *(pytest.approx(2 * value) for value in wanted))
    assert by_name["f2"].inclusive == (0, 0, 0, 0, 1, *(pytest.approx(10 * value) for value in wanted))
    assert by_name["f1"].inclusive == (0, 0, 0, 0, 3, *(pytest.approx(12 * value) for value in wanted))


def test_only_cpu_time_is_scaled_to_the_account(tmp_path: Path) -> None:
    """The kernel accounts twice what the samples of the clock stand for; what a thread waited is not CPU time, and is not touched."""
    stack = [((BASE + 0x1010,), 0)]
    records = [begin(), clock(), mapping(), source(2, *SOURCES[2]), samples(stack, [0, 0], user_us=[500, 500])]
    records += [samples(stack, [0], source=2, values=[[7000], [3000]]), thread_end(PID, user_ns=2_000_000), close()]
    profile = load_both_ways(write(tmp_path / "a.expt", framed(records)), symbolizer=ArithmeticSymbolizer())
    figures_of_all = dict(zip((metric.name for metric in profile.metrics), aggregate.total_values(profile)))
    assert figures_of_all == {
        "cpu": 0.002, "user": 0.002, "system": 0, "samples": 2, "wall": pytest.approx(0.012), "blocked": 0.007, "runnable": 0.003, "looks": 1
    }


def test_without_the_library_python_does_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "load_library", lambda: None)
    path = write(tmp_path / "a.expt", framed(random_frames(random.Random(1))))
    profile = load([path], symbolizer=ArithmeticSymbolizer())  # type: ignore[arg-type]
    assert isinstance(profile.samples, PlainSamples)
    monkeypatch.undo()
    assert answers(profile) == answers(load([path], symbolizer=ArithmeticSymbolizer()))  # type: ignore[arg-type]
