"""test_live -- an experiment that is looked at while it grows: each look has what is new, and all together have everything"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest
from small_experiment import BASE, PID, S, T0, ArithmeticSymbolizer, begin, clock, close, mapping, samples, thread_end
from writer import frame

from collector.analysis import open_analysis
from collector.analysis.plain import PlainAnalysis
from collector.errors import ExperimentNotFoundError
from collector.load import load
from collector.load.live import LiveExperiment
from collector.profile import aggregate
from collector.profile.model import Profile

STACKS = [([BASE + 0x2010, BASE + 0x1008], 0), ([BASE + 0x3020, BASE + 0x1008], 0)]
LATER = [([BASE + 0x10_0010, BASE + 0x1008], 0)]
OWN = os.getpid()


@pytest.fixture(params=["native", "plain"], autouse=True)
def either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    made = open_analysis if request.param == "native" else PlainAnalysis
    monkeypatch.setattr("collector.load.live.open_analysis", made)


class Growing:
    """A log of this process, which lives, so that its end is not yet told."""

    def __init__(self, place: Path, name: str = f"{OWN}.0.log") -> None:
        place.mkdir(exist_ok=True)
        self._path, self._count = place / name, 0

    def add(self, *records: bytes) -> None:
        with open(self._path, "ab") as file:
            for payload in records:
                file.write(frame(payload, self._count))
                self._count += 1


def times(profile: Profile) -> dict[str, tuple[float, float]]:
    return {row.function.name: (round(row.exclusive[0], 9), round(row.inclusive[0], 9)) for row in aggregate.functions(profile)}


def live_of(place: Path) -> LiveExperiment:
    return LiveExperiment(place, ArithmeticSymbolizer())  # type: ignore[arg-type]


def test_a_look_has_what_is_new(tmp_path: Path) -> None:
    log, live = Growing(tmp_path / "a.expt"), live_of(tmp_path / "a.expt")
    log.add(begin(OWN), clock(), mapping(), samples(STACKS, [0, 0, 1], thread=OWN))
    assert times(live.look()) == {"f1": (0.0, 0.003), "f2": (0.002, 0.002), "f3": (0.001, 0.001)}
    assert times(live.look()) == {} and not live.is_over
    log.add(samples(STACKS, [1], thread=OWN, at_ns=T0 + S))
    assert times(live.look()) == {"f1": (0.0, 0.001), "f3": (0.001, 0.001)}


def test_what_was_mapped_before_is_still_known(tmp_path: Path) -> None:
    log, live = Growing(tmp_path / "a.expt"), live_of(tmp_path / "a.expt")
    log.add(begin(OWN), clock(), mapping(), samples(STACKS, [0], thread=OWN))
    live.look()
    log.add(mapping("/lib/late.so", start=BASE + 0x10_0000, at_ns=T0 + S), samples(LATER, [0], thread=OWN, at_ns=T0 + 2 * S))
    rows = aggregate.functions(live.look())
    assert {(row.function.name, row.module.name) for row in rows} == {("f0", "late.so"), ("f1", "prog")}


def test_all_looks_together_are_the_experiment(tmp_path: Path) -> None:
    log, live = Growing(tmp_path / "a.expt"), live_of(tmp_path / "a.expt")
    log.add(begin(OWN), clock(), mapping())
    seen: Counter[str] = Counter()
    for number in range(5):
        log.add(samples(STACKS, [number % 2, 0], thread=OWN + number % 3, at_ns=T0 + number * S))
        for name, (exclusive, _) in times(live.look()).items():
            seen[name] += round(exclusive * 1e9)
    log.add(close(T0 + 9 * S))
    live.look()
    whole = load(tmp_path / "a.expt", symbolizer=ArithmeticSymbolizer())  # type: ignore[arg-type]
    assert seen == {name: round(exclusive * 1e9) for name, (exclusive, _) in times(whole).items()}


def test_a_thread_that_ended_is_not_scaled(tmp_path: Path) -> None:
    """Its account is of its whole life; the look has its last sample alone."""
    log, live = Growing(tmp_path / "a.expt"), live_of(tmp_path / "a.expt")
    log.add(begin(OWN), clock(), mapping(), samples(STACKS, [0] * 100, thread=OWN))
    live.look()
    log.add(samples(STACKS, [0], thread=OWN, at_ns=T0 + S), thread_end(OWN, user_ns=101_000_000))
    profile = live.look()
    assert times(profile) == {"f1": (0.0, 0.001), "f2": (0.001, 0.001)}
    assert [thread.end_ns for thread in profile.threads] == [T0 + S]


def test_new_processes_come_in_and_the_end_is_seen(tmp_path: Path) -> None:
    log, live = Growing(tmp_path / "a.expt"), live_of(tmp_path / "a.expt")
    launcher = Growing(tmp_path / "a.expt", "launch.log")
    launcher.add(begin(OWN))
    log.add(begin(OWN), clock(), mapping(), samples(STACKS, [0], thread=OWN))
    assert len(live.look().processes) == 1
    Growing(tmp_path / "a.expt", f"{PID}.0.log").add(begin(PID), clock(), mapping(), samples(STACKS, [1]), close())
    profile = live.look()
    assert len(profile.processes) == 2 and times(profile) == {"f1": (0.0, 0.001), "f3": (0.001, 0.001)}
    log.add(close())
    launcher.add(close())
    live.look()
    assert live.is_over


def test_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(ExperimentNotFoundError):
        live_of(tmp_path / "none.expt").look()
