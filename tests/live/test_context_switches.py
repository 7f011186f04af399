"""test_context_switches -- --context-switches: how often each thread was switched out, told apart by who wanted it, at no cost for a switch"""

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
            # Behind the thread's last look at its own count lie its end and, in the first thread, main's wait for the other.
            assert truth[f"{name}{thread}"] <= counted <= truth[f"{name}_so_far{thread}"] + 12
        values = [event.value for event in own]
        assert values == sorted(values)
        assert values[-1] <= truth[f"cpu_us{thread}"] * 1.05 + 1000
        assert [event.time for event in own] == sorted(event.time for event in own)


def test_those_of_threads_that_are_alive_at_the_end(record: Callable[..., Recorded], compiled: Callable[..., Path]) -> None:
    """A thread that waits when the program ends is asked for its counts from outside."""
    recorded = record([compiled("waiting_thread.c", "-O1", "-pthread")], ["--context-switches"])
    truth = recorded.outcome.truth
    counted = sum(event.count for event in switches_of(recorded) if event.thread == truth["tid"] and event.voluntary)
    assert truth["voluntary"] <= counted <= truth["voluntary"] + 4


def test_no_buffer_is_mapped_for_it(record: Callable[..., Recorded], compiled: Callable[..., Path]) -> None:
    """Records of each switch, in a buffer of each thread's, made switches several times dearer."""
    recorded = record(["cat", "/proc/self/maps"], ["--context-switches"])
    assert "perf_event" not in recorded.outcome.stdout


def test_without_the_option_there_are_none(record: Callable[..., Recorded], compiled: Callable[..., Path]) -> None:
    assert switches_of(record([compiled("switching_threads.c", "-O1", "-pthread")])) == []
