"""test_stacks -- the ways of the stack that profilers lose, through the whole chain: recorder, log, symbols, report"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from recorded import RUNGS, Recorded, collector_command, execute, judge, judge_shares, judge_stacks, with_clocks

LEVELS = {"O0": ["-O0"], "O2": ["-O2"], "O3": ["-O3", "-fomit-frame-pointer"]}
SHAPES = (
    "interrupted", "interrupted_aside", "stepped_on", "coroutine_body", "leaps", "exits_thread",
    "jumps", "copies", "copies_half", "clears", "sorts", "looks_up",
)


@pytest.fixture(scope="module")
def shapes(record: Callable[..., Recorded], rung_works: Callable[[str], None], compiled: Callable[..., Path]) -> Callable[[str, str], Recorded]:
    """shapes(clock, level) is one recording of stack_shapes.c, made once."""
    made: dict[tuple[str, str], Recorded] = {}

    def of(clock: str, level: str) -> Recorded:
        if (clock, level) not in made:
            rung_works(clock)
            made[clock, level] = record([compiled("stack_shapes.c", *LEVELS[level]), 1000], clock=clock)
            assert made[clock, level].outcome.status == 0
        return made[clock, level]

    return of


@pytest.fixture(params=[(clock, level) for clock in RUNGS for level in (LEVELS if clock == "sigtrap" else ["O2"])], ids="-".join)
def shaped(request: pytest.FixtureRequest, shapes: Callable[[str, str], Recorded]) -> Recorded:
    return shapes(*request.param)


@pytest.mark.parametrize("function", SHAPES)
def test_time_is_where_it_was_spent(shaped: Recorded, function: str) -> None:
    judge_shares(shaped, shaped.outcome.truth, total_ns=shaped.process_ns, names=[function])


def test_every_stack_is_complete(shaped: Recorded) -> None:
    judge_stacks(shaped)


def called_by(recorded: Recorded, function: str) -> set[str]:
    """Callers that have more than a stray sample of a function's time."""
    callers = recorded.callers(function)
    whole = sum(callers.values())
    return {name for name, ns in callers.items() if ns > 0.03 * whole}


@pytest.mark.parametrize("function, caller", [
    ("handled", "on_signal"), ("handled_aside", "on_aside"), ("handled_fault", "on_fault"), ("on_fault", "stepped_on"),
    ("inner_work", "coroutine_body"), ("never_returns", "ends_in_a_call"), ("ends_in_a_call", "leaps"), ("leaps", "main"),
    ("interrupted", "main"), ("copies", "main"), ("looks_up", "main"),
])
def test_callers(shaped: Recorded, function: str, caller: str) -> None:
    names = called_by(shaped, function)
    # An optimiser may inline the handler's shell or end a function in a jump; what it leaves must be the truth.
    functions = shaped.function_names()
    if caller not in functions or function not in functions:
        pytest.skip(f"the compiler left no {caller if function in functions else function}")
    inner = {name for name in names if not name.startswith(("__restore_rt", "<signal"))}
    assert inner <= {caller, ""} and names, names
    assert "" not in names, "each has a caller"


def test_a_handlers_stack_leads_to_what_it_interrupted(shaped: Recorded) -> None:
    """on_signal ran inside raise, on its own stack and on an alternate one; both lead to main."""
    for outer in ("interrupted", "interrupted_aside"):
        assert called_by(shaped, outer) == {"main"}
        judge(shaped.exclusive_ns(outer) <= 0.05 * shaped.inclusive_ns(outer), f"{outer}: {shaped.exclusive_ns(outer) / 1e6:.2f} ms exclusive")


def test_the_function_after_a_call_that_never_returns_gets_nothing(shaped: Recorded) -> None:
    judge(shaped.inclusive_ns("not_the_caller") <= 0.002 * shaped.total_ns, f"not_the_caller: {shaped.inclusive_ns('not_the_caller') / 1e6:.2f} ms")


def test_copies_hang_on_their_own_callers(shaped: Recorded) -> None:
    truth = shaped.outcome.truth
    names = [name for name in shaped.function_names() if "memcpy" in name or "memmove" in name]
    if not names:
        pytest.skip("memcpy was inlined here")
    callers: dict[str, float] = {}
    for name in names:
        for caller, ns in shaped.callers(name).items():
            callers[caller] = callers.get(caller, 0) + ns
    # qsort and the dynamic linker copy as well; nobody else does here.
    strangers = {caller for caller in callers if caller in (*SHAPES, "main", "") and not caller.startswith("copies")}
    assert not strangers, callers
    whole = callers.get("copies", 0) + callers.get("copies_half", 0)
    share = truth["copies"] / (truth["copies"] + truth["copies_half"])
    count = shaped.sample_count * whole / shaped.total_ns
    measured = callers.get("copies", 0) / whole
    judge(abs(measured - share) <= 4 * (share * (1 - share) / count) ** 0.5 + 0.02, f"copies: {share:.4f} true, {measured:.4f} measured ({count} samples)")


@pytest.mark.parametrize(("level", "clock"), with_clocks(["O0", "O2"]))
def test_exceptions(
    record: Callable[..., Recorded], rung_works: Callable[[str], None], compiled: Callable[..., Path], clock: str, level: str
) -> None:
    rung_works(clock)
    recorded = record([compiled("thrown.cc", f"-{level}"), 500], clock=clock)
    truth = dict(line.rsplit(" ", 1) for line in recorded.outcome.stdout.splitlines())
    judge_shares(recorded, {name: int(ns) for name, ns in truth.items()})
    judge_stacks(recorded, 0.995 - 1 / recorded.sample_count)  # one more, where there are few: of frames that are just being left nobody sees the callers
    assert 0.2 <= int(truth["throws(int)"]) / sum(map(int, truth.values())) <= 0.95, "the target does what it is for"


@pytest.mark.parametrize("clock", RUNGS)
def test_fortran_calling_libm(
    record: Callable[..., Recorded], rung_works: Callable[[str], None], compiled: Callable[..., Path], clock: str
) -> None:
    rung_works(clock)
    recorded = record([compiled("fortran_libm.f90", "-O3", "-fno-inline", "-fno-ipa-cp")], clock=clock)
    judge_shares(recorded, recorded.outcome.truth, systematic=0.02)
    judge_stacks(recorded)


@pytest.mark.parametrize("depth", [10, 500, 2000])
def test_depth_through_the_report(record: Callable[..., Recorded], compiled: Callable[..., Path], depth: int) -> None:
    """The same from outside: what `collector report --json` says of callers."""
    recorded = record([compiled("deep_recursion.c"), depth, 100])
    shown = execute(collector_command("report", recorded.path, "callers-callees", "bottom", "--json"))
    assert shown.status == 0, shown.stderr
    document = json.loads(shown.stdout)
    assert [row["function"] for row in document["rows"] if row["relation"] == "caller"] == ["descend"]
    functions = json.loads(execute(collector_command("report", recorded.path, "functions", "--json")).stdout)
    inclusive = {row["function"]: row["inclusive"]["cpu"] for row in functions["rows"]}
    for name in ("main", "descend", "bottom"):
        assert inclusive[name] >= 0.95 * functions["total"]["cpu"]
    judge_stacks(recorded, 1.0)
