"""test_tableless_code -- stacks through code that no unwind table describes, and stacks deeper than what is kept of one"""

from __future__ import annotations

import platform
from collections.abc import Callable
from pathlib import Path

import pytest
from pythons import find_interpreters
from recorded import RUNGS, TARGETS, Recorded, collector_command, execute, judge, judge_stacks, judge_total

from collector.profile import aggregate

TABLELESS = ("-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-fomit-frame-pointer")
CALLERS = {
    "in_large_frame": "large_frame", "large_frame": "never_returns", "in_comparison": "compares", "sorts": "never_returns",
    "in_many_arguments": "many_arguments", "many_arguments": "through_pointer", "through_pointer": "never_returns", "in_climb": "climbs",
    "never_returns": "main",
}

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="not an x86-64: only its code is followed")


def guessed_share(recorded: Recorded) -> float:
    """How many of the stacks are marked."""
    ends = {row.cause: row.sample_count for row in aggregate.stack_ends(recorded.profile)}
    return ends.get("guessed", 0) / sum(ends.values())


@pytest.fixture(params=["-O0", "-O2", "-O3", "-Os"])
def tableless(request: pytest.FixtureRequest, record: Callable[..., Recorded], compiled: Callable[..., Path]) -> Recorded:
    return record([compiled("tableless.c", request.param, *TABLELESS), 250])


def test_every_stack_is_complete_and_marked(tableless: Recorded) -> None:
    judge_stacks(tableless)
    judge(guessed_share(tableless) >= 0.97, f"guessed: {guessed_share(tableless):.4f}")
    text = execute(collector_command("report", tableless.path, "overview")).stdout
    assert "lead through code without unwind" in text


def test_a_program_in_pieces_has_a_beginning(record: Callable[..., Recorded], compiled: Callable[..., Path]) -> None:
    """Between its segments are gaps, so that the C library gives one at a time, and nothing says of _start that nobody called it."""
    judge_stacks(record([compiled("tableless.c", "-O2", *TABLELESS, "-Wl,--no-eh-frame-hdr", "-Wl,-z,max-page-size=2097152"), 250]))


@pytest.mark.parametrize("clock", RUNGS)
def test_ticks_that_take_longer_than_they_are_apart_leave_time_for_the_program(
    record: Callable[..., Recorded], rung_works: Callable[[str], None], compiled: Callable[..., Path], clock: str
) -> None:
    """A walk over thousands of such frames takes several periods of the highest rate: the program did nothing but be sampled, and never ended."""
    rung_works(clock)
    recorded = record([compiled("deep_jit.c"), 3000, 10], ["-p", "hi"], clock=clock, timeout_s=60)
    assert recorded.outcome.status == 0
    judge(recorded.sample_count >= 10, f"{recorded.sample_count} samples")
    judge_total(recorded, recorded.process_ns)
    judge_stacks(recorded)


def test_code_of_compilers_is_followed_on_a_small_signal_stack(record: Callable[..., Recorded], compiled: Callable[..., Path]) -> None:
    recorded = record([compiled("jit_on_small_stack.c", "-O2"), 500])
    judge_stacks(recorded)
    assert recorded.outcome.stdout == "0\n", "bytes below the stack were written"


def test_time_is_where_it_was_spent(tableless: Recorded) -> None:
    truth = tableless.outcome.truth
    truth["sorts"] = truth.pop("in_comparison")
    whole = sum(truth.values())
    for name, ns in truth.items():
        share, measured = ns / whole, tableless.inclusive_ns(name) / tableless.total_ns
        error = (share * (1 - share) / tableless.sample_count) ** 0.5
        judge(abs(measured - share) <= 4 * error + 0.02, f"{name}: {share:.4f} true, {measured:.4f} measured")


def test_every_caller_is_the_true_one(tableless: Recorded) -> None:
    for function, caller in CALLERS.items():
        callers = tableless.callers(function)
        whole = sum(callers.values())
        strangers = {name: ns for name, ns in callers.items() if name != caller and ns > 0.003 * whole}
        assert caller in callers and not strangers, (function, callers)
    assert set(tableless.callers("climbs")) <= {"climbs", "never_returns"}


@pytest.mark.parametrize("minor", ["3.12", "3.13"])
def test_trampolines_of_perf_support(record: Callable[..., Recorded], minor: str) -> None:
    found = [interpreter for interpreter in find_interpreters() if interpreter.minor == minor]
    if not found:
        pytest.skip(f"this system has no CPython {minor}")
    recorded = record([found[0].path, TARGETS / "perf_trampolines.py"], environment={"PYTHONPERFSUPPORT": "1"})
    judge_stacks(recorded, 0.99)
    judge(guessed_share(recorded) <= 0.02, f"guessed: {guessed_share(recorded):.4f}")
    for function in ("burns", "calls_it"):
        name = next(name for name in recorded.function_names() if name == function)
        judge(recorded.inclusive_ns(name) >= 0.5 * recorded.total_ns, f"{name}: {recorded.inclusive_ns(name) / 1e6:.1f} ms")


@pytest.mark.parametrize("depth", [5000, 50_000])
def test_deep_recursion_keeps_leaf_and_root(record: Callable[..., Recorded], compiled: Callable[..., Path], depth: int) -> None:
    program = compiled("deep_recursion.c")
    recorded = record(["bash", "-c", f"ulimit -s unlimited && exec {program} {depth} 500"])
    judge_stacks(recorded, 0.97)  # a tick amid the way down finds a stack that no earlier walk knows
    for name in ("main", "descend", "bottom", "(frames left out)"):
        judge(recorded.inclusive_ns(name) >= 0.9 * recorded.total_ns, f"{name}: {recorded.inclusive_ns(name) / 1e6:.1f} ms")
    judge(recorded.exclusive_ns("(frames left out)") == 0, "time was spent in what was left out")
