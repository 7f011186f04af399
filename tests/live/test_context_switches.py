"""test_context_switches -- --context-switches: every switch out, with the thread's CPU time so far, told apart by who wanted it"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from recorded import RUNGS, Recorded

from collector.experiment.events import ProcCsw
from collector.experiment.log_reader import EventReader


def switches_of(recorded: Recorded) -> list[ProcCsw]:
    return [event for log in sorted(recorded.path.glob("[0-9]*.log")) for event in EventReader(log) if isinstance(event, ProcCsw)]


@pytest.mark.parametrize("clock", RUNGS)
def test_switches_are_those_the_kernel_counted(
    record: Callable[..., Recorded], rung_works: Callable[[str], None], compiled: Callable[..., Path], clock: str
) -> None:
    rung_works(clock)
    recorded = record([compiled("switching_threads.c", "-O1", "-pthread")], ["--context-switches"], clock=clock)
    truth, switches = recorded.outcome.truth, switches_of(recorded)
    for thread in (0, 1):
        own = [event for event in switches if event.thread == truth[f"tid{thread}"]]
        for name, voluntary in (("voluntary", 1), ("involuntary", 0)):
            counted = sum(event.count for event in own if event.voluntary == voluntary)
            # Outside the target's own count lie its start, its end and, in the first thread, main's wait for the other.
            assert truth[f"{name}{thread}"] <= counted <= truth[f"{name}{thread}"] + 12
        values = [event.value for event in own]
        assert values == sorted(values)
        assert values[-1] <= truth[f"cpu_us{thread}"] * 1.05 + 1000
        assert [event.time for event in own] == sorted(event.time for event in own)


def test_without_the_option_there_are_none(record: Callable[..., Recorded], compiled: Callable[..., Path]) -> None:
    assert switches_of(record([compiled("switching_threads.c", "-O1", "-pthread")])) == []
