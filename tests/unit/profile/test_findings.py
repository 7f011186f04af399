"""test_findings -- the answer and the notes are the sentences that a reader needs"""

from __future__ import annotations

from dataclasses import replace

import pytest
from simulated_runs import CLOCK, made_run

from collector.profile.comparison import compare, slower_than
from collector.profile.findings import answer, failure, notes


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ({"f": 1, "g": 1}, {"f": 1, "g": 1.01}, r"No difference that these runs can show: the total changed by -5.5 % to +6.9 %, and none of 2 functions"),
        ({"f": 10, "g": 1}, {"f": 10, "g": 2}, "The program takes more CPU time: +9.1 % (+6.3 % to +12.0 %); slower: g (+100.0 %)."),
        ({"f": 10, "g": 2}, {"f": 10}, "The program takes less CPU time: -16.7 % (-18.9 % to -14.4 %); gone: g (-2.000 s)."),
        ({"f": 9, "g": 1}, {"f": 9, "g": 0.7, "h": 0.3}, "The total does not differ for certain (-2.7 % to +2.8 %), but 2 of 3 functions did change; "),
        ({"f": 1}, {"f": 1, "h": 0.2}, "; new: h (+0.200 s)."),
        ({"a": 1, "b": 1, "c": 1, "d": 1, "e": 1}, {"a": 2, "b": 2, "c": 2, "d": 2, "e": 2}, "slower: a (+100.0 %), b (+100.0 %), c (+100.0 %), 2 more."),
        ({}, {}, "There are no samples to compare."),
    ],
)
def test_the_answer_is_one_sentence(before: dict[str, float], after: dict[str, float], sentence: str) -> None:
    assert sentence in answer(compare([made_run(before)], [made_run(after)]))


def test_a_slower_total_has_its_likely_cause_if_there_is_one() -> None:
    before = {f"f{number}": 0.5 for number in range(20)}
    sides = [[made_run(before | {"f3": time}) for time in times] for times in ((0.5, 0.6, 0.7), (0.9, 1.0, 1.1))]
    assert answer(compare(*sides)).endswith(", but in no function for certain; most likely in f3 (+66.7 %).")
    everywhere = answer(compare([made_run(before)], [made_run(dict.fromkeys(before, 0.53))]))
    assert everywhere.endswith(", but in no function for certain.")


def test_what_is_likely_is_not_called_nothing() -> None:
    """At 95 % there is a difference, at 99 % there is none."""
    sides = [[made_run({"f": time}) for time in times] for times in ((10.0, 10.2, 10.4), (10.5, 10.7, 10.9))]
    assert answer(compare(*sides)).startswith("There may be a difference, but none is certain: the total changed by +0.4 % to +9.6 %")


def test_time_in_rows_that_cannot_be_judged_is_noted() -> None:
    scattered = {f"f{number}": 0.004 for number in range(30)}
    told = notes(compare([made_run(scattered | {"g": 0.03})], [made_run(scattered | {"g": 0.03})]))
    assert told[-1].startswith("Only 20.0 % of the time is in functions with 10 samples or more: ")


def test_notes_tell_what_a_comparison_cannot_know() -> None:
    runs = [made_run({"f": time}) for time in (1.0, 1.01, 1.02, 1.03, 1.04)]
    assert "one run on each side" in notes(compare(runs[:1], runs[1:2]))[0]
    assert "So few runs" in notes(compare(runs[:2], runs[2:4]))[0]
    assert notes(compare(runs, runs)) == []


def test_different_clocks_and_machines_are_noted() -> None:
    before = [made_run({"f": 1})] * 5
    after = [replace(run, host="boat", clocks=frozenset({CLOCK._replace(name="cpu-timer", detail="refused")})) for run in before]
    assert notes(compare(before, after)) == [
        "Machines differ: engine before, boat after.",
        "Clocks differ, and each costs CPU time of its own: sigtrap at 941 Hz before, cpu-timer at 941 Hz after.",
    ]
    detailed = [replace(run, clocks=frozenset({CLOCK._replace(detail="why not")})) for run in before]
    assert notes(compare(before, detailed)) == []


def test_a_failure_names_what_is_slower() -> None:
    comparison = compare([made_run({"f": 10, "g": 1})], [made_run({"f": 10, "g": 2})])
    assert failure(slower_than(comparison, 0.05), 0.05, comparison.metric) == "slower by more than 5 %: the total (+9.1 %), g (+100.0 %)"
