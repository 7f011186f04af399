"""test_pmclog_differential -- the C and the Python parser read the same logs, good and damaged, and must agree event by event"""

from __future__ import annotations

import importlib.util
import os
import random
import re
import subprocess
import sys
from itertools import product
from pathlib import Path
from types import ModuleType

import pytest

from collector.experiment.directory import LogFile
from collector.experiment.events import AnyEvent
from collector.experiment.log_reader import EventReader
from collector.experiment.merge import expand, iter_records
from collector.experiment.open_frames import recover
from collector.experiment.origin import Origin
from collector.experiment.samples import PcSample
from collector.format import FIELDS, Kind

TESTS = Path(__file__).parents[1]
ALL_ONES = 2**64 - 1  # what C says of a number that its member cannot hold
DEAD = 4_194_300  # no process has this number
IS_THOROUGH = bool(os.environ.get("COLLECTOR_TEST_THOROUGH"))
DAMAGED_LOGS = 4000 if IS_THOROUGH else 200


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    spec.loader.exec_module(module)
    return module


writer = _load(TESTS / "unit" / "experiment" / "writer.py")
pmclog_build = _load(TESTS / "c" / "pmclog_build.py")


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The C dump program, under the sanitizers."""
    return pmclog_build.build(tmp_path_factory.getbasetemp(), TESTS / "c" / "pmclog_dump.c")


def _value(value: object) -> str:
    if value is None or value == 2**64 - 1:
        return "-"
    if isinstance(value, str):
        return '"' + value.encode("utf-8", "surrogateescape").hex()
    if isinstance(value, bytes):
        return "x" + value.hex()
    if isinstance(value, tuple):
        return " ".join(("[", *map(_value, value), "]"))
    return f"{value:.17g}" if isinstance(value, float) else str(int(value))  # type: ignore[call-overload]


def describe(event: AnyEvent) -> str:
    """The line that tests/c/pmclog_dump.c prints for the same event."""
    words = [event.serial, event.log_offset, int(event.kind), min(event.time, ALL_ONES), event.thread]
    if isinstance(event, PcSample):
        factors = [*event.block.declared.factors(event.block.unit_ns), *[1] * len(event.values)]
        values = [event.user_ns, event.system_ns, *(value * factor for value, factor in zip(event.values, factors))]
        words += [event.source, *(min(value, ALL_ONES) for value in values), int(event.stack.end), *event.stack]
        return " ".join(map(str, words))
    fields = [_value(getattr(event, name)) for name, _, _ in FIELDS[event.kind]]
    return " ".join([*map(str, words), *fields])


def read_by_python(path: Path, *, is_finished: bool) -> list[str]:
    """The log's events as lines."""
    reader = EventReader(path)
    return [describe(event) for event in reader] + ([describe(event) for event in reader.finish()] if is_finished else [])


def read_untruncated_by_python(path: Path) -> list[str]:
    """The events of a log whose process is gone, its open frames among them."""
    log = LogFile(str(path), Origin(DEAD, 0))
    return [describe(event) for event in expand(iter_records(log))]


def read_by_c(dump: Path, path: Path, *options: str) -> list[str]:
    """The same by the C parser."""
    done = subprocess.run([dump, path, *options], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[:-2]


def read_many_by_c(dump: Path, readings: list[tuple[str | Path, ...]]) -> list[list[str]]:
    """The same of many (log, options...), by one process: under the sanitizers, its start takes longer than reading a log."""
    words = [word for reading in readings for word in ("--", *reading)][1:]
    done = subprocess.run([dump, *words], capture_output=True, text=True)
    parts = re.split(r"^.*\nunknown \d+ leftover \d+\n", done.stdout, flags=re.MULTILINE)
    assert done.returncode == 0, f"{readings[len(parts) - 1]}: {done.stderr}"
    return [part.splitlines() for part in parts[:-1]]


def full_log(seed: int) -> bytearray:
    """Every kind, with several records to a frame, strange text, missing fields, and samples of many shapes."""
    rng = random.Random(seed)
    log = writer.LogBuilder()
    log.add(writer.initialize(1000 + seed, arguments=["prog", "", "\udcff\udc80", "ü"], options=None))
    makers = {"uint": lambda: rng.choice([0, 1, 127, 128, 70000, 2**31, 2**40, None]), "int": lambda: rng.choice([0, 256, -3, 139, None]),
              "str": lambda: rng.choice(["", "name", "\udcfe", "x" * 300, None]), "bin": lambda: rng.choice([b"", rng.randbytes(40), None]),
              "array of str": lambda: rng.choice([["a", "\udcff"], [], None]), "uint or float or array": lambda: rng.choice([3, 2.5, -1e300, None, [], [7], [None, 2**64 - 1, None, 0.5, -1e300, 0, None], [None, None], [1] * 20, [True, 5], [7, True]])}
    narrow = lambda value: None if value is None else value % 2**31  # noqa: E731  (ids have 32 bits in C)
    time = 2000
    for kind in list(Kind) * 3:
        if kind in (Kind.INITIALIZE, Kind.PCSAMPLE, Kind.CLOSELOG):
            continue
        records = []
        for _ in range(rng.randrange(1, 4)):
            time += rng.randrange(10**6)
            fields = {name: makers[type_name]() for name, type_name, _ in FIELDS[kind]}
            fields = {name: value if type(value) is not int or name.endswith(("_ns", "count", "bytes", "start", "end", "bias"))
                      or fields[name] < 0 else narrow(value) for name, value in fields.items()}
            records.append(writer.record(kind, time, rng.randrange(5), **fields))
        if kind == Kind.METRIC:  # of random values any may be damage
            records.append(writer.record(kind, time, 0, **{**fields, "value": 3}))
        log.add(*records)
        chains = [tuple(0x400000 + rng.randrange(50) * 16 for _ in range(rng.randrange(1, 30))) for _ in range(rng.randrange(1, 9))]
        chains += [(0xFFFFFFFFFF600000, 0x401000), (0x4141414141414141, 0x7FFF00001000)]
        stacks = [(chain, rng.randrange(8)) for chain in chains]
        rows = [(rng.choice([1003, 2**33, 0]), rng.randrange(2000), rng.randrange(2), rng.randrange(len(stacks) + 1))
                for _ in range(rng.randrange(40))]
        log.add(writer.samples(time, 77, rows, stacks, unit_ns=rng.choice([1, 1000])))
    log.add(writer.record(Kind.CLOSELOG, time, 0, frame_count=len(log.spans)))
    return log.data


def damaged(data: bytearray, rng: random.Random) -> bytearray:
    """The log with one to three damages: flipped bits, a burst, a zeroed block, bytes deleted, inserted, cut."""
    data = bytearray(data)
    for _ in range(rng.randrange(1, 4)):
        at, length = rng.randrange(len(data)), rng.choice([1, 4, 22, 100, 700])
        match rng.randrange(7):
            case 0 | 1:
                data[at] ^= 1 << rng.randrange(8)
            case 2:
                data[at : at + length] = rng.randbytes(len(data[at : at + length]))
            case 3:
                data[at : at + length] = bytes(len(data[at : at + length]))
            case 4:
                del data[at : at + length]
            case 5:
                data[at:at] = rng.choice([rng.randbytes(length), bytes(length), b"\xc1cev" * 5, data[at : at + length]])
            case 6:
                del data[max(at, 100) :]
        data = data or bytearray(1)
    return data


@pytest.mark.parametrize("seed", range(5))
def test_good_logs(dump: Path, tmp_path: Path, seed: int) -> None:
    path = tmp_path / "1.0.log"
    path.write_bytes(full_log(seed))
    expected = read_by_python(path, is_finished=False)
    assert len({line.split()[2] for line in expected}) == len(Kind)
    assert read_by_c(dump, path) == expected
    assert read_by_c(dump, path, "--feed=1") == expected
    assert read_by_c(dump, path, "--feed=4093") == expected


def test_damaged_logs(dump: Path, tmp_path: Path) -> None:
    logs = [full_log(seed)[: 3000 + 1000 * seed] for seed in range(4)] + [writer.small_log(8).data]
    readings, expected = [], []
    for seed in range(DAMAGED_LOGS):
        rng = random.Random(seed)
        path = tmp_path / f"{seed}.0.log"
        path.write_bytes(damaged(rng.choice(logs), rng))
        grown, finished = (read_by_python(path, is_finished=is_finished) for is_finished in (False, True))
        readings += [(path,), (path, "--finish"), (path, "--finish", f"--feed={rng.choice([1, 22, 977])}")]
        expected += [grown, finished, finished]
    for reading, given, wanted in zip(readings, read_many_by_c(dump, readings), expected, strict=True):
        assert given == wanted, reading
    notices = sum(line.split()[2] == str(int(Kind.DROPNOTIFY)) for events in expected[1::3] for line in events)
    assert notices > DAMAGED_LOGS / 2


def some_slots(rng: random.Random) -> bytes:
    """Slots as a killed process leaves them: samples, records, a call, free ones; some of them torn, or in the frames already."""
    slots = []
    for _ in range(rng.randrange(1, 7)):
        time, thread = rng.choice([(5000, 77), (2000, 77), (rng.randrange(2**40), rng.randrange(9))])
        stacks = [((0x401000 + rng.randrange(9), 0x401010), rng.randrange(8)) for _ in range(3)]
        definition = [writer.definitions(stacks[: n + 1])[len(writer.definitions(stacks[:n])) :] for n in range(3)]
        values = [rng.randrange(99) for _ in range(rng.choice([0, 1, 2, 2, 2, 3, 12]))]
        rows = [(rng.randrange(2**32), *values, number, definition[number]) for number in range(rng.randrange(4))]
        rows += [(1, *values, rng.randrange(5), b"")] * rng.randrange(50)
        metrics = [writer.record(Kind.METRIC, time + rng.randrange(3), thread, source=rng.choice([2, 3]),
                                 value=rng.choice([5, 0.5, [1, None, 2.5], [True, 1, 2], [7, "x"], None])) for _ in range(rng.randrange(9))]
        others = [writer.record(Kind.MESSAGE, time, thread, severity=1, text="text", subject=None),
                  writer.record(Kind.PMCALLOCATE, time, 0, source=4, name="m", attributes=["type=double"]),
                  writer.record(Kind.PMCALLOCATE, time, 0, source=1, values=["a", "system ns", "system ns", "x ns"], counted_as="looks"), b"\xc1"][: rng.randrange(5)]
        slots.append(rng.choice([
            bytes(65536), writer.call_slot(time, thread, b"plugin.so: read" + b"\xff" * rng.randrange(3)),
            writer.records_slot(time, b"".join(metrics + others), torn=rng.random() < 0.1),
            writer.open_slot(time, thread, rows, unit_ns=rng.choice([1, 1000, 2**32 - 1]), state=rng.choice([1, 1, 1, 0, 7]), torn=rng.choice([(), (0,), (1,), (0, 1)]), pending_ns=rng.choice([0, 1, 2**64 - 1])),
        ]))
    return b"".join(slots)


def test_untruncated_logs(dump: Path, tmp_path: Path) -> None:
    """What a killed process left: the same events from both, with and without damage, and also when the frames say it as well."""
    path = tmp_path / f"{DEAD}.0.log"
    found = 0
    for seed in range(DAMAGED_LOGS // 8):
        rng = random.Random(seed)
        log = writer.LogBuilder().add(writer.initialize(pid=DEAD))
        for _ in range(rng.randrange(9)):
            log.add(writer.samples(rng.choice([5000, 2000]), 77, [(1, 1, 1, 0)] * 3, [((5, 6), 0)]), writer.record(Kind.METRIC, 2000, 77, source=2, value=1))
            declared = rng.choice([["user ns"], ["blocked ns", "user ns", "system", "user ns"], [], None, ["", " ns", "x"]])
            log.add(writer.record(Kind.PMCALLOCATE, 2000, 0, source=rng.choice([1, 1, 2, None]), values=declared))
        data = damaged(log.data, rng) if rng.random() < 0.5 else log.data
        slots = bytearray(some_slots(rng))
        for _ in range(rng.choice([0, 0, 3])):
            slots[rng.randrange(len(slots)) // 65536 * 65536 + rng.randrange(8, 120)] ^= 1 << rng.randrange(8)
        writer.write_untruncated(path, data, bytes(slots), rng.randrange(3) if slots[:8] == bytes(8) else 0)
        expected = read_untruncated_by_python(path)
        assert read_by_c(dump, path, "--finish") == expected, f"seed {seed}"
        if data is log.data:
            assert read_by_c(dump, path) == expected, f"seed {seed}: nobody writes it any more"
        found += len(expected) - len(read_by_python(path, is_finished=True))
    assert found > DAMAGED_LOGS / 2


def test_an_untruncated_log_of_a_process_that_runs(dump: Path, tmp_path: Path) -> None:
    """What it still writes to its open frames will come as frames; whoever says that nothing more will come gets it at once."""
    path = tmp_path / f"{os.getpid()}.0.log"
    log = writer.LogBuilder().add(writer.initialize(pid=os.getpid()))
    writer.write_untruncated(path, log.data, writer.open_slot(5000, 7, [(1, 1, 1, 0, writer.definitions([((5,), 0)]))] * 3))
    assert len(read_by_c(dump, path)) == 1
    assert len(read_by_c(dump, path, "--finish")) == 4


def test_open_frames_that_are_moved_while_they_are_read(tmp_path: Path) -> None:
    """`collector record` moves them to the frames when the program has ended: nobody who reads on gets them twice."""
    again = pmclog_build.build(tmp_path.parent, TESTS / "c" / "pmclog_again.c")
    path = tmp_path / f"{DEAD}.0.log"
    log = writer.LogBuilder().add(writer.initialize(pid=DEAD))
    stack = writer.definitions([((5,), 0)])
    metrics = writer.record(Kind.METRIC, 3000, 5, source=2, value=[1, 2.5])
    slots = writer.open_slot(5000, 7, [(1, 1, 1, 0, stack)] * 3) + writer.records_slot(3000, metrics)
    writer.write_untruncated(path, log.data, slots)
    with subprocess.Popen([again, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as reading:
        assert reading.stdout and reading.stdin
        assert reading.stdout.readline() == "6 events\n"
        assert recover(tmp_path, lambda log: False).sample_count == 3
        with path.open("ab") as file:
            file.write(writer.frame(writer.record(Kind.PAUSE, 9000, 0, cause=0), 3))
        reading.stdin.write("go on\n")
        reading.stdin.flush()
        assert reading.stdout.readline() == "1 events\n"


@pytest.mark.parametrize("unit", [1, 1000, 2**63])
def test_numbers_that_do_not_fit_are_all_ones(dump: Path, tmp_path: Path, unit: int) -> None:
    path = tmp_path / "1.0.log"
    rng = random.Random(unit)
    log = writer.LogBuilder().add(writer.initialize())
    large = [0, 1, 1000, 2**32, 2**54, 2**63, 2**64 - 1]
    for _ in range(200):
        times, user, system, stacks = ([rng.choice(large), rng.choice([b"", *(value.to_bytes(8, "little") * 2 for value in large)])] for _ in range(4))
        log.add(writer.record(Kind.PCSAMPLE, rng.choice(large), 5, source=1, count=2, unit_ns=unit, stack_count=2,
                              definitions=writer.definitions([((5,), 0), ((6,), 0)]), times=times, values=[user, system], stacks=stacks))
        log.add(writer.record(Kind.SYSEXIT, 5, 0, pid=5, status=rng.choice([2**31 - 1, 139, 5])))
    path.write_bytes(log.data)
    expected = read_by_python(path, is_finished=True)
    assert read_by_c(dump, path, "--finish") == expected and sum(str(ALL_ONES) in line for line in expected) > 100


def test_a_status_that_does_not_fit_is_unknown(dump: Path, tmp_path: Path) -> None:
    path = tmp_path / "1.0.log"
    log = writer.LogBuilder()
    for status in (2**31, 2**63, 2**64 - 1, -(2**31) - 1, -(2**63)):
        log.add(writer.record(Kind.SYSEXIT, 5, 0, pid=5, status=status))
    path.write_bytes(log.data)
    assert [line.split()[5:7] for line in read_by_c(dump, path)] == [["5", "-"]] * 5


def test_unknown_kinds_and_fields(dump: Path, tmp_path: Path) -> None:
    import msgpack

    path = tmp_path / "1.0.log"
    log = writer.LogBuilder().add(writer.initialize(), msgpack.packb([99, 5, 0, {"a": [1, 2]}]), msgpack.packb([33, 6, 0, 1, "new field"]))
    log.add(msgpack.packb([33, 7, 0]), msgpack.packb([33, 8, 0, "not a number"]), msgpack.packb([33, 9]), msgpack.packb(7))
    log.add(msgpack.packb([200, 5, 0]), b"\xc1", msgpack.packb([33, 10, 0, 1]))
    path.write_bytes(log.data)
    for is_finished in (False, True):
        assert read_by_c(dump, path, *["--finish"] * is_finished) == read_by_python(path, is_finished=is_finished)


@pytest.mark.parametrize(("is_cut", "claimed"), product((False, True), (500, 90_000, 900_000)) if IS_THOROUGH else ((False, 500), (True, 90_000), (False, 900_000)))
def test_headers_that_overlap(dump: Path, tmp_path: Path, claimed: int, is_cut: bool) -> None:
    """What is believed of them depends on what checking it has cost; both must stop at the same one. A thorough run tries every length cut and whole."""
    path = tmp_path / "1.0.log"
    good = [writer.frame(writer.record(Kind.USERDATA, 1, 0, data=bytes(20_000)), (1 << 20) + number) for number in range(60)]
    data = b"".join(writer.overlapping_headers(30_000, claimed) + frame for frame in good)
    path.write_bytes(data[:-10_000] if is_cut else data)
    assert read_by_c(dump, path) == read_by_python(path, is_finished=False)
    assert read_by_c(dump, path, "--finish") == read_by_c(dump, path, "--finish", "--feed=30011") == read_by_python(path, is_finished=True)


def test_values_that_are_as_before(dump: Path, tmp_path: Path) -> None:
    """Records of several metrics that refer to the one before, good and broken in every way, in frames of a few."""
    path = tmp_path / "1.0.log"
    rng = random.Random(5)
    choices = [1, 0.5, None, True, 2**64 - 1]
    log = writer.LogBuilder().add(writer.initialize())
    for time in range(2000):
        records = []
        for _ in range(rng.randrange(1, 6)):
            values = rng.choices(choices, k=rng.choice([0, 1, 2, 3, 3, 3, 64])) + [rng.choice(["x", -1, False])] * (rng.randrange(12) == 0)
            fields = {"source": rng.choice([2, 2, 2, 3, None, 2**31]), "value": values if rng.randrange(8) else 5}
            records.append(writer.record(Kind.METRIC, time, 1, **fields))
        log.add(*records)
    path.write_bytes(log.data)
    expected = read_by_python(path, is_finished=True)
    assert 3000 < sum(line.split()[2] == str(int(Kind.METRIC)) for line in expected) < len(expected) - 500
    assert read_by_c(dump, path, "--finish") == expected == read_by_c(dump, path, "--finish", "--feed=97")


def test_recorded_logs(dump: Path, recorder: Path, tmp_path: Path) -> None:
    """A process that forks, execs and burns CPU in threads, as the recorder itself wrote it."""
    experiment = tmp_path / "recorded.expt"
    busy = "import threading\ndef burn():\n  for i in range(1000000): i * i\n"
    busy += "threads = [threading.Thread(target=burn) for _ in range(3)]\n[t.start() for t in threads]\n[t.join() for t in threads]"
    environment = {**os.environ, "COLLECTOR_EXPERIMENT": str(experiment), "LD_PRELOAD": str(recorder)}
    subprocess.run(["sh", "-c", '( "$0" -c "$1"; true ); exec true', sys.executable, busy], env=environment, check=True)
    logs = sorted(experiment.glob("*.log"))
    assert len(logs) >= 3
    kinds = set()
    for log in logs:
        expected = read_by_python(log, is_finished=True)
        assert read_by_c(dump, log, "--finish") == expected
        kinds |= {int(line.split()[2]) for line in expected}
    assert {Kind.INITIALIZE, Kind.MAPPINGCHANGE, Kind.PCSAMPLE, Kind.PMCALLOCATE, Kind.PROCFORK, Kind.PROCEXEC, Kind.CLOSELOG} <= kinds
    assert Kind.DROPNOTIFY not in kinds
