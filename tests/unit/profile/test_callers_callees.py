"""test_callers_callees -- both sides of a function, also in recursion"""

from __future__ import annotations

import random

import pytest
from tiny_profile import build_profile, random_profile

from collector.profile.aggregate import functions
from collector.profile.callers_callees import callers_callees


def neighbours(samples: list[tuple], name: str):
    profile = build_profile(samples)
    position = next(index for index, function in enumerate(profile.functions) if function.name == name)
    found = callers_callees(profile, position)
    callers = {row.function.name if row.function else None: row.values[0] for row in found.callers}
    callees = {row.function.name if row.function else None: row.values[0] for row in found.callees}
    return found, callers, callees


def test_time_goes_to_the_direct_neighbours() -> None:
    found, callers, callees = neighbours(
        [("main;a;work;read", 3, 0), ("main;b;work;write;flush", 2, 0), ("main;b;work", 1, 0), ("main;b", 7, 0)], "work"
    )
    assert callers == {"a": 3.0, "b": 3.0}
    assert callees == {"read": 3.0, "write": 2.0}
    assert found.exclusive[0] == 1.0
    assert found.inclusive[0] == 6.0


def test_the_start_of_a_stack_is_a_caller_without_a_name() -> None:
    _, callers, callees = neighbours([("main;work", 1, 0)], "main")
    assert callers == {None: 1.0}
    assert callees == {"work": 1.0}


def test_recursion_counts_the_outermost_caller_and_the_innermost_callee() -> None:
    found, callers, callees = neighbours([("main;fib;helper;fib;add", 2, 0), ("main;fib;fib", 1, 0)], "fib")
    assert callers == {"main": 3.0}
    assert callees == {"add": 2.0}
    assert found.exclusive[0] == 1.0
    assert found.inclusive[0] == 3.0


@pytest.mark.parametrize("seed", range(10))
def test_both_sides_add_up_to_the_inclusive_time(seed: int) -> None:
    profile = random_profile(random.Random(seed))
    inclusive = {row.function: row.inclusive for row in functions(profile)}
    exclusive = {row.function: row.exclusive for row in functions(profile)}
    for position, function in enumerate(profile.functions):
        if function not in inclusive:
            continue
        found = callers_callees(profile, position)
        callees = sum(row.values[0] for row in found.callees)
        assert sum(row.values[0] for row in found.callers) == pytest.approx(inclusive[function][0])
        assert found.exclusive[0] + callees == pytest.approx(inclusive[function][0])
        assert found.exclusive == pytest.approx(exclusive[function])
