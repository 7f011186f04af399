"""test_wall_time -- how long a thread was there, and how long of it on no processor"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from recorded import RUNGS, Recorded, collector_command, execute

from collector.load import open_experiment


@pytest.mark.parametrize("clock", RUNGS)
def test_off_cpu_time_of_threads(
    record: Callable[..., Recorded], rung_works: Callable[[str], None], compiled: Callable[..., Path], clock: str
) -> None:
    """What a thread measures itself lies within its life, and that within what its creator measures: so no tolerance is needed."""
    rung_works(clock)
    recorded = record([compiled("waiting_threads.c")], clock=clock)
    rows = {row.tid: row for row in open_experiment(recorded.path).threads}
    known = [tuple(map(int, line.split())) for line in recorded.outcome.stdout.splitlines()]
    assert len(known) == 3
    for tid, inner_ns, cpu_ns, outer_ns in known:
        wall_ns, off_cpu_ns = rows[tid].wall * 1e9, rows[tid].off_cpu * 1e9
        assert inner_ns <= wall_ns <= outer_ns
        # What the thread used before its first word counts for it, but that it was there then is not known.
        assert inner_ns - cpu_ns <= off_cpu_ns + outer_ns - wall_ns
        assert off_cpu_ns <= outer_ns - cpu_ns


def test_a_program_that_waits_is_told(record: Callable[..., Recorded]) -> None:
    text = execute(collector_command("report", record(["sleep", "0.3"]).path, "--width", 200)).stdout
    assert "Off-CPU" in text and "the main thread waited, or was ready to run" in text
