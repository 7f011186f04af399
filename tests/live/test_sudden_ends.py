"""test_sudden_ends -- whatever ends the program, what was recorded until then is there, and the end is the program's own"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from recorded import RUNGS, Outcome, Recorded, execute, judge, judge_about, judge_at_least, with_clocks
from test_own_signals import cases

from collector.experiment.log_source import is_untruncated


@cache
def plain(program: Path, end: str) -> Outcome:
    """Once for all clocks."""
    return execute([program, end])


@pytest.mark.parametrize(("end", "clock"), with_clocks(cases("sudden_ends.c")))
def test_data_survives(
    record: Callable[..., Recorded], rung_works: Callable[[str], None], compiled: Callable[..., Path], clock: str, end: str
) -> None:
    rung_works(clock)
    program = compiled("sudden_ends.c")
    expected = plain(program, end)
    recorded = record([program, end], clock=clock)
    assert recorded.outcome.status == expected.status
    assert recorded.outcome.own_stderr == expected.stderr
    true_ns = recorded.outcome.truth["spent"]
    if end == "exit_while_threads_run":
        judge_at_least(recorded, "spent", 0.95 * true_ns)
    else:
        # A killed process says nothing of the time after its last tick.
        spent_ns = recorded.inclusive_ns("spent")
        judge(abs(spent_ns - true_ns) <= (21e6 if clock == "cpu-timer" else 7e6), f"{spent_ns / 1e6:.1f} ms of {true_ns / 1e6:.1f}")
    assert recorded.lost_count == 0


@pytest.mark.parametrize("end", ["killed", "segv"])
def test_data_survives_without_the_launcher(record: Callable[..., Recorded], compiled: Callable[..., Path], end: str) -> None:
    """Nobody moves the open frames into the log: the reader finds them where the dead process left them."""
    recorded = record([compiled("sudden_ends.c"), end], direct=True)
    assert recorded.outcome.status < 0
    assert any(is_untruncated(str(log)) for log in recorded.path.glob("*.log")), "the open frames are still there"
    judge_about(recorded, "spent", 150e6, 8e6)


def test_killed_with_its_children(record: Callable[..., Recorded], compiled: Callable[..., Path]) -> None:
    """A whole group that is killed at once keeps every process's data."""
    program = compiled("sudden_ends.c")
    script = f"for i in 1 2 3; do '{program}' killed & done; wait"
    recorded = record(["bash", "-c", script])
    judge_at_least(recorded, "spent", 0.95 * 3 * 150e6)


@pytest.mark.parametrize("clock", RUNGS)
def test_log_that_is_cut_is_no_end(
    record: Callable[..., Recorded], rung_works: Callable[[str], None], compiled: Callable[..., Path], clock: str
) -> None:
    """What is behind the end of a mapped file is SIGBUS, for the recorder too: it falls silent instead."""
    rung_works(clock)
    outcome = record([compiled("cuts_logs.c")], clock=clock).outcome
    assert (outcome.status, outcome.stdout, outcome.own_stderr) == (3, "done\n", "")
