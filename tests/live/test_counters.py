"""test_counters -- --counters: page faults and context switches of a program that knows how many each of its functions causes"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from recorded import RUNGS, Recorded, judge

from collector.profile import aggregate

FUNCTIONS = "touches_many", "touches_few", "gives_way", "computes"


def counts_of(recorded: Recorded, name: str) -> dict[str, float]:
    """A metric of each function and all it called."""
    place = [metric.name for metric in recorded.profile.metrics].index(name)
    return {row.function.name: row.inclusive[place] for row in aggregate.functions(recorded.profile)}


@pytest.mark.parametrize("clock", RUNGS)
def test_faults_and_switches_by_function(record: Callable[..., Recorded], rung_works: Callable[[str], None], compiled: Callable[..., Path], clock: str) -> None:
    """What one function causes after its last tick counts for the next: of 40 ms and more one tick is lost so, which is 1 ms or 4 ms."""
    rung_works(clock)
    recorded = record([compiled("counted_faults.c", "-O1"), 2], ["--counters", "faults,switches"], clock=clock)
    truth, faults, switches = recorded.outcome.truth, counts_of(recorded, "minor_faults"), counts_of(recorded, "voluntary_switches")
    for found, kind in ((faults, "faults"), (switches, "switches")):
        total = sum(truth[f"{name}.{kind}"] for name in FUNCTIONS)
        measured = sum(found.get(name, 0) for name in FUNCTIONS)
        judge(0.95 * total <= measured <= total, f"{measured:.0f} {kind} in samples, {total} true")
        for name in FUNCTIONS:
            allowed = (0.2 if clock == "cpu-timer" else 0.05) * total
            own = found.get(name, 0)
            judge(abs(own - truth[f"{name}.{kind}"]) <= allowed, f"{name}: {own:.0f} {kind} in samples, {truth[f'{name}.{kind}']} true")


@pytest.mark.parametrize("clock", RUNGS)
def test_events_are_read_as_a_group(
    record: Callable[..., Recorded], rung_works: Callable[[str], None], compiled: Callable[..., Path], clock: str
) -> None:
    """In threads, children and after an exec; faults are minor ones and major ones everywhere. One that the kernel had to try again is a major one."""
    rung_works(clock)
    program = compiled("counted_faults.c", "-O1")
    recorded = record(["sh", "-c", f"{program} 1 & wait; exec {program} 1"], ["--counters", "page-faults,faults,minor-faults,major-faults,alignment-faults"], clock=clock)
    counted, known, minor, major = (counts_of(recorded, name) for name in ("page-faults", "minor_faults", "minor-faults", "major-faults"))
    total = 2 * sum(recorded.outcome.truth[f"{name}.faults"] for name in FUNCTIONS)
    judge(0.95 * total <= counted["main"] <= 1.02 * total + 1000, f"{counted['main']:.0f} page faults in samples, {total} true")
    for name in FUNCTIONS:
        assert counted.get(name, 0) == minor.get(name, 0) + major.get(name, 0)
        judge(abs(counted.get(name, 0) - known.get(name, 0)) <= 0.01 * total, f"{name}: {counted.get(name)} page faults, by the kernel's account {known.get(name)}")
    assert counts_of(recorded, "alignment-faults")["main"] == 0
    assert not [message.text for message in recorded.profile.messages if "counters" in message.text]


def test_events_are_sampled_where_they_happen(record: Callable[..., Recorded], rung_works: Callable[[str], None], compiled: Callable[..., Path]) -> None:
    """A signal comes in the very function: only what is left of a period is missing."""
    rung_works("sigtrap")
    recorded = record([compiled("counted_faults.c", "-O1"), 1], ["-h", "faults,50,alignment-faults"])
    truth, found = recorded.outcome.truth, counts_of(recorded, "page-faults")
    for name in FUNCTIONS:
        judge(abs(found.get(name, 0) - truth[f"{name}.faults"]) <= 0.01 * truth[f"{name}.faults"] + 150, f"{name}: {found.get(name)} page faults")
    assert counts_of(recorded, "page-faults-samples")["main"] * 50 == found["main"] and counts_of(recorded, "alignment-faults")["main"] == 0


def test_events_of_all_threads_and_children(record: Callable[..., Recorded], rung_works: Callable[[str], None], compiled: Callable[..., Path]) -> None:
    rung_works("sigtrap")
    program = compiled("counted_faults.c", "-O1")
    recorded = record(["sh", "-c", f"{program} 1 & {program} 1; wait"], ["-h", "page-faults,50"])
    total = counts_of(recorded, "page-faults")["main"]
    judge(99_000 <= total <= 104_000, f"{total} of 100,000 page faults and a few")


def test_another_clock_counts_no_events(record: Callable[..., Recorded], rung_works: Callable[[str], None]) -> None:
    rung_works("cpu-timer")
    recorded = record(["true"], ["-h", "page-faults"], clock="cpu-timer")
    assert "page-faults was not counted: the clock is not sigtrap" in [message.text for message in recorded.profile.messages]


def test_without_the_option_there_are_none(record: Callable[..., Recorded], compiled: Callable[..., Path]) -> None:
    recorded = record([compiled("counted_faults.c", "-O1"), 1])
    assert recorded.shown_metrics == ["cpu", "user", "system", "samples"]


def test_a_child_and_a_thread_count_for_themselves(record: Callable[..., Recorded], compiled: Callable[..., Path]) -> None:
    """What a process counted before it made a child is not the child's."""
    recorded = record(["sh", "-c", f"{compiled('counted_faults.c', '-O1')} 1 & wait"], ["--counters", "faults"])
    truth = recorded.outcome.truth
    total = sum(truth[f"{name}.faults"] for name in FUNCTIONS)
    measured = counts_of(recorded, "minor_faults")["main"]
    judge(0.95 * total <= measured <= 1.02 * total + 500, f"{measured:.0f} faults in samples, {total} true")
