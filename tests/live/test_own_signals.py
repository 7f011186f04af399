"""test_own_signals -- signals, masks, timers and waits belong to the program, on each rung of the clock's ladder"""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from ahead import plan, planned
from recorded import IS_THOROUGH, RUNGS, TARGETS, Recorded, judge, judge_at_least, with_clocks


def cases(source: str) -> list[str]:
    """The names in a target's table of cases."""
    return re.findall(r'\{"(\w+)", \w+\}', (TARGETS / source).read_text())


@planned(lambda compiled, clock, case: plan(compiled("own_signals.c"), case, clock=clock))
@pytest.mark.parametrize(("case", "clock"), with_clocks(cases("own_signals.c")))
def test_signals(unharmed_case: Callable[[], Recorded], clock: str, case: str) -> None:
    recorded = unharmed_case()
    assert recorded.clocks == {clock}
    # On a busy machine the kernel's own ticks, and a CPU timer with them, find the program three or four times less often.
    judge(recorded.sample_count >= (3 if clock == "cpu-timer" else 10), f"it was recorded all the while: {recorded.sample_count} samples")
    assert recorded.unfinished == {}


@planned(lambda compiled, clock, case: plan(compiled("signal_games.c"), case, clock=clock))
@pytest.mark.parametrize(("case", "clock"), with_clocks([*cases("signal_games.c"), "inherit"]))
def test_signals_of_clocks(unharmed_case: Callable[[], Recorded], clock: str, case: str) -> None:
    recorded = unharmed_case()
    judge(recorded.sample_count >= 3, f"{recorded.sample_count} samples")


@planned(lambda compiled, clock: plan(compiled("signal_games.c"), "inherit", "plain", clock=clock, options=["-F", "off"]))
@pytest.mark.parametrize("clock", RUNGS)
def test_what_children_inherit(unharmed_case: Callable[[], Recorded], clock: str) -> None:
    recorded = unharmed_case()
    judge(recorded.sample_count >= 3, f"{recorded.sample_count} samples")


@planned(lambda compiled, clock, way: plan(compiled("signal_games.c"), "sent", way, clock=clock))
@pytest.mark.parametrize(("way", "clock"), with_clocks(["sigwait", "sigwaitinfo", "sigtimedwait", "signalfd", "sigsuspend", "ppoll", "pselect", "epoll_pwait"]))
def test_every_signal_can_be_waited_for(unharmed_case: Callable[[], Recorded], clock: str, way: str) -> None:
    recorded = unharmed_case()
    assert recorded.outcome.stdout == "waited\n"
    judge(recorded.sample_count >= 3, f"{recorded.sample_count} samples")


@planned(lambda compiled, clock, case: plan(compiled("signal_states.c", "-O2", "-Wl,-z,now"), case, 3 if IS_THOROUGH else 1, clock=clock))
@pytest.mark.parametrize(("case", "clock"), with_clocks(cases("signal_states.c")))
def test_states_that_ticks_find(unharmed_case: Callable[[], Recorded], clock: str, case: str) -> None:
    recorded = unharmed_case()
    judge(recorded.sample_count >= 3, f"{recorded.sample_count} samples")
    if "_storage" in case:
        assert recorded.lost_count > 0, "what could not be sampled is told"
        judge_at_least(recorded, "(stack lost)", (recorded.total_ns if "at_end" in case else recorded.outcome.truth["lost_ns"]) / 2)


@planned(lambda compiled, clock, case: plan(compiled("unbroken_calls.c"), case, clock=clock))
@pytest.mark.parametrize(("case", "clock"), with_clocks(cases("unbroken_calls.c")))
def test_calls_are_not_interrupted(unharmed_case: Callable[[], Recorded], clock: str, case: str) -> None:
    recorded = unharmed_case()
    judge(recorded.sample_count >= 10, f"{recorded.sample_count} samples")


@planned(lambda compiled, clock, way: plan(compiled("ring_waits.c"), way, 200 if way == "signalled" else 2000, clock=clock))
@pytest.mark.parametrize(("way", "clock"), with_clocks(["together", "direct", "hoisted", "apart", "signalled"]))
def test_waits_of_rings_go_on(unharmed_case: Callable[[], Recorded], clock: str, way: str) -> None:
    """The kernel ends them for any signal, whatever its handler asks for: one wait in 500 of such a program came back early."""
    recorded = unharmed_case()
    if recorded.outcome.stdout == "none\n":
        pytest.skip("this system has no io_uring")
    assert recorded.outcome.stdout == "short 0\n"
