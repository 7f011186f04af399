"""test_own_signals -- signals, masks, timers and waits belong to the program, on each rung of the clock's ladder"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from recorded import RUNGS, TARGETS, Recorded


def cases(source: str) -> list[str]:
    """The names in a target's table of cases."""
    return re.findall(r'\{"(\w+)", \w+\}', (TARGETS / source).read_text())


@pytest.mark.parametrize("clock", RUNGS)
@pytest.mark.parametrize("case", cases("own_signals.c"))
def test_signals(
    unharmed: Callable[..., Recorded], rung_works: Callable[[str], None], compiled: Callable[..., Path], clock: str, case: str
) -> None:
    rung_works(clock)
    recorded = unharmed([compiled("own_signals.c"), case], clock=clock)
    assert recorded.clocks == {clock}
    assert recorded.sample_count >= 10, "and it was recorded all the while"
    assert recorded.unfinished == {}


@pytest.mark.parametrize("clock", RUNGS)
@pytest.mark.parametrize("case", cases("unbroken_calls.c"))
def test_calls_are_not_interrupted(
    unharmed: Callable[..., Recorded], rung_works: Callable[[str], None], compiled: Callable[..., Path], clock: str, case: str
) -> None:
    rung_works(clock)
    recorded = unharmed([compiled("unbroken_calls.c"), case], clock=clock)
    assert recorded.sample_count >= 10
