"""test_waits -- what waits.log says, on experiments of a few records"""

from __future__ import annotations

from pathlib import Path

import pytest
from both_ways import load_plain
from small_experiment import BASE, PID, S, T0, begin, clock, close, interpreter, mapping, python_code, samples, source, thread_end, write_log
from writer import record

from collector.format import PREEMPTED, WAIT_UNSEEN, WATCHED_CODE, Kind
from collector.profile import aggregate

OTHER = 200
NAP, QUEUE, STAND_IN = (((WATCHED_CODE.start - (1 << 56)) >> 12) + number for number in (1, 2, 3))
"""Numbers of code objects that waits.log tells of: of PID, of OTHER, and of both."""


def frame_of(number: int) -> int:
    return (1 << 56) + 0x1000 * number + 1


def attach(number: int, pid: int) -> bytes:
    return record(Kind.PMCATTACH, T0, 0, source=number, pid=pid, value=0)


@pytest.fixture
def rows(tmp_path: Path) -> dict[str, tuple[float, ...]]:
    """Inclusive figures by function of two processes that wait."""
    for pid in (PID, OTHER):
        stacks = [([BASE + 0x1008], 0)]
        code = python_code(1, "own")  # at an address of the process's own
        records = [begin(pid), clock(), interpreter("too old"), mapping(), code, samples(stacks, [0], thread=pid), thread_end(pid, user_ns=1_000_000), close()]
        write_log(tmp_path, f"{pid}.0.log", *records)
    values = ["blocked_timer ns", "runnable ns", "variance 1e-10s2"]
    log = [begin(99), source(1, values, "looks"), attach(1, PID), source(2, values, "looks"), attach(2, OTHER)]
    log += [python_code(NAP, "nap", thread=PID), python_code(QUEUE, "get", thread=OTHER), python_code(STAND_IN, "collects", thread=0)]
    for number, pid, code in ((1, PID, NAP), (2, OTHER, QUEUE)):
        stacks = [([BASE + 0x2010, frame_of(code)], 0), ([BASE + 0x3010, frame_of(STAND_IN)], 0), ([PREEMPTED], 0), ([WAIT_UNSEEN], 0)]
        figures = [[5000, 3000, 0, 100], [0, 10, 700, 0], [0, 0, 0, 0]]
        log.append(samples(stacks, [0, 1, 2, 3], thread=pid, source=number, values=figures, gap_us=1))
    write_log(tmp_path, "waits.log", *log, close())
    profile = load_plain(tmp_path)
    names = [metric.name for metric in profile.metrics]
    columns = [names.index(name) for name in ("blocked", "runnable")]
    return {row.function.name: tuple(round(row.inclusive[column] * 1e3, 6) for column in columns) for row in aggregate.functions(profile)}


def test_python_code_is_that_of_the_process_it_is_told_of(rows: dict[str, tuple[float, ...]]) -> None:
    assert rows["nap"] == rows["get"] == (5.0, 0.0)
    assert rows["collects"] == (6.0, 0.02)  # which is in all of them
    assert "own" not in rows


def test_what_has_no_stack_has_a_name(rows: dict[str, tuple[float, ...]]) -> None:
    assert rows["(preempted)"] == (0.0, 1.4) and rows["(wait not seen)"] == (0.2, 0.0)


def test_nothing_else_stands_for_stacks_that_nobody_has(tmp_path: Path) -> None:
    """The address before them is code like any other, and of no module."""
    write_log(tmp_path, f"{PID}.0.log", begin(), clock(), samples([([PREEMPTED - 1], 0)], [0]), thread_end(user_ns=1_000_000), close())
    assert [row.function.name for row in aggregate.functions(load_plain(tmp_path))] == ["(no module)"]


def waiting(directory: Path, way: str, *more: bytes, **end: object) -> dict[str, float]:
    """Where a thread that lives for a second and works for 0.1 s waited, in seconds: looks saw 0.5 s of a nap, the last one 0.6 s after its beginning."""
    end = {"user_ns": S // 10, **end}
    write_log(directory, f"{PID}.0.log", begin(), clock(), mapping(), *more, samples([([BASE + 0x1008], 0)], [0], user_us=[S // 10_000]), thread_end(**end), close())
    known = dict(source=1, name="waits", clock=way, unit="ns", period_ns=10_000_000, effective_period_ns=10_000_000, detail="", values=["blocked_timer ns", "runnable ns"])
    nap = samples([([BASE + 0x2010], 0)], [0], values=[[480_000], [20_000]], at_ns=T0 + S * 6 // 10, gap_us=0)
    write_log(directory, "waits.log", begin(99), record(Kind.PMCALLOCATE, T0, **known, counted_as="wait-rows"), attach(1, PID), nap, close())
    profile = load_plain(directory)
    blocked = [metric.name for metric in profile.metrics].index("blocked")
    return {row.function.name: round(row.inclusive[blocked], 9) for row in aggregate.functions(profile) if row.inclusive[blocked]}


def test_what_came_after_the_last_look_is_known_from_the_threads_end(tmp_path: Path) -> None:
    nap, unseen = waiting(tmp_path / "looks", "looks"), waiting(tmp_path / "late", "looks", user_ns=S // 5)
    assert nap == {"prog+0x2010": 0.48, "(wait not seen)": 0.4} and unseen["(wait not seen)"] == 0.3


@pytest.mark.parametrize("case", ["the kernel's records", "a pause", "a killed process"])
def test_where_that_is_not_known_nothing_is_added(tmp_path: Path, case: str) -> None:
    way = "switches" if case == "the kernel's records" else "looks"
    pause = [record(Kind.PAUSE, T0, PID, cause=0), record(Kind.RESUME, T0, PID, cause=0)] if case == "a pause" else []
    end = {"user_ns": None, "system_ns": None} if case == "a killed process" else {}
    assert waiting(tmp_path / "expt", way, *pause, **end) == {"prog+0x2010": 0.48}
