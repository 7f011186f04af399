"""test_comparison -- what differs is found, and chance is not taken for a difference"""

from __future__ import annotations

import os
import random
from collections.abc import Mapping
from dataclasses import replace
from math import sqrt

import pytest
from simulated_runs import EQUAL, HIGH, NORMAL, made_run, random_run
from tiny_profile import THREAD, build_profile

from collector.profile.compared_run import Measure, Run, function_key, function_run, line_run
from collector.profile.comparison import Comparison, compare, slower_than
from collector.profile.findings import answer, notes
from collector.profile.metrics import Metric
from collector.profile.model import Function, Module

IS_THOROUGH = bool(os.environ.get("COLLECTOR_TEST_THOROUGH"))
TRIALS = 1000 if IS_THOROUGH else 200
"""Simulated comparisons, of which three in a hundred may find something by chance (two in a hundred of a thousand)."""
LONG_TRIALS = 1000 if IS_THOROUGH else 100
"""The same of programs of many functions, which take longer: four in a hundred."""
SLOWER = {**EQUAL, "f7": 0.525}
MANY = {f"g{number}": 3 / (1 + number) ** 1.3 for number in range(60)}
"""From 3,000 samples down to a dozen."""


def share_found(trials: int, after: Mapping[str, float], runs: int, period: float, before: Mapping[str, float] = EQUAL, spread: float = 0.0) -> float:
    """Of how many simulated comparisons a function is called slower or faster."""
    chance = random.Random(7)
    found = 0
    for _ in range(trials):
        sides = [[random_run(chance, times, period, spread) for _ in range(runs)] for times in (before, after)]
        found += any(row.change.verdict != "none" for row in compare(*sides).rows)
    return found / trials


def verdicts(comparison: Comparison) -> dict[str, str]:
    return {row.place.function.name: row.change.verdict for row in comparison.rows}


@pytest.mark.parametrize(("program", "runs", "trials"), [(EQUAL, 1, TRIALS), (MANY, 1, LONG_TRIALS), (EQUAL, 3, TRIALS), (MANY, 3, LONG_TRIALS)])
def test_the_same_program_differs_in_one_of_a_hundred_comparisons(program: Mapping[str, float], runs: int, trials: int) -> None:
    assert share_found(trials, program, runs, NORMAL, program) <= 0.01 + 3 * sqrt(0.01 * 0.99 / trials)


def test_nor_is_a_slow_machine_taken_for_a_slow_function() -> None:
    assert share_found(TRIALS, EQUAL, 5, NORMAL, spread=0.05) <= 0.01 + 3 * sqrt(0.01 * 0.99 / TRIALS)


def test_the_total_is_a_question_of_its_own() -> None:
    chance = random.Random(8)
    found, trials = 0, 1000 if IS_THOROUGH else 500
    for _ in range(trials):
        found += compare(*[[random_run(chance, {"f": 10}, spread=0.02) for _ in range(4)] for _ in range(2)]).total.verdict != "none"
    assert 0 < found / trials <= 0.01 + 3 * sqrt(0.01 * 0.99 / trials)


@pytest.mark.parametrize(
    ("runs", "period", "least", "most"),
    [(1, NORMAL, 0.0, 0.05), (10, NORMAL, 0.0, 0.2), (30, NORMAL, 0.4, 0.9), (1, HIGH, 0.05, 0.4), (10, HIGH, 0.95, 1.0)],
)
def test_five_percent_of_one_function_of_twenty(runs: int, period: float, least: float, most: float) -> None:
    """The difference is 0.05 n of n samples a side and sqrt(2.05 n) its error: 2.5 of them for 5,000 samples, where 20 functions need 3.5."""
    assert least <= share_found(60, SLOWER, runs, period) <= most


def test_difference_and_ratio_come_with_their_intervals() -> None:
    change = compare([made_run({"f": 1.0}, period=0.001)], [made_run({"f": 1.1}, period=0.001)]).rows[0].change
    assert (change.before, change.after, change.before_samples, change.after_samples) == (1.0, 1.1, 1000, 1100)
    assert change.difference == pytest.approx(0.1)
    reach = 1.96 * 0.001 * sqrt(2100)
    assert (change.difference_low, change.difference_high) == pytest.approx((0.1 - reach, 0.1 + reach), rel=1e-3)
    assert change.ratio == pytest.approx(1.1)
    assert change.ratio_low is not None and change.ratio_high is not None
    assert change.ratio_low < 1.1 - 0.08 < 1.1 + 0.08 < change.ratio_high
    assert change.ratio_low * change.ratio_high == pytest.approx(1.1**2)


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    chance = random.Random(9)
    for runs in (1, 4):
        held = []
        for _ in range(100):
            sides = [[random_run(chance, times) for _ in range(runs)] for times in (EQUAL, SLOWER)]
            for row in compare(*sides).rows:
                truth = 0.025 if row.place.function.name == "f7" else 0.0
                held.append(row.change.difference_low <= truth <= row.change.difference_high)
        assert sum(held) / len(held) >= 0.95 - 3 * sqrt(0.95 * 0.05 / len(held))


def test_the_spread_between_runs_decides_where_there_are_several() -> None:
    quiet = compare([made_run({"f": time}) for time in (1.00, 1.01, 1.02)], [made_run({"f": time}) for time in (1.20, 1.21, 1.22)])
    noisy = compare([made_run({"f": time}) for time in (0.80, 1.01, 1.22)], [made_run({"f": time}) for time in (1.00, 1.21, 1.42)])
    assert (quiet.total.verdict, noisy.total.verdict) == ("slower", "none")
    assert quiet.total.difference == pytest.approx(noisy.total.difference) == pytest.approx(0.2)
    # Student's t by hand: a spread of 0.01 on both sides, 4 degrees of freedom.
    assert quiet.total.difference_high - 0.2 == pytest.approx(2.776 * 0.01 * sqrt(2 / 3), rel=1e-3)


def test_one_run_can_be_held_against_several() -> None:
    after = [made_run({"f": time}) for time in (1.20, 1.21, 1.22, 1.20)]
    assert compare([made_run({"f": 1.0})], after).total.verdict == "slower"
    assert compare([made_run({"f": 1.205})], after).total.verdict == "none"


def test_runs_that_agree_by_luck_prove_nothing() -> None:
    few = {"f": 10.0, "g": 0.003}, {"f": 10.0, "g": 0.006}
    sides = [[made_run(times, period=0.001) for _ in range(2)] for times in few]
    assert verdicts(compare(*sides)) == {"f": "none", "g": "none"}


def test_what_is_on_one_side_only() -> None:
    comparison = compare([made_run({"f": 1, "old": 1, "rare": 0.004})], [made_run({"f": 1, "new": 1.5})])
    assert verdicts(comparison) == {"new": "new", "old": "gone", "f": "none", "rare": "none"}
    by_name = {row.place.function.name: row.change for row in comparison.rows}
    assert (by_name["new"].before, by_name["new"].ratio, by_name["old"].ratio, by_name["old"].ratio_low) == (0, None, 0, None)
    assert by_name["rare"].p is None
    assert comparison.compared == 3


def test_two_builds_are_the_same_program() -> None:
    """Wherever they were built, and whatever the program's file is called."""
    comparison = compare([made_run({"f": 1}, file="/one/a.c", module="prog-1")], [made_run({"f": 1}, file="/two/a.c", module="prog-2")])
    assert verdicts(comparison) == {"f": "none"}
    assert len(compare([made_run({"f": 1}, file="/one/a.c")], [made_run({"f": 1}, file="/one/b.c")]).rows) == 2


def test_functions_of_one_name_in_two_modules_stay_apart() -> None:
    run = function_run(build_profile([("f@a.so", 1, 0), ("f@b.so", 2, 0)]))
    assert {(row.place.module.name, row.change.before, row.change.after) for row in compare([run], [run]).rows} == {("a.so", 1, 1), ("b.so", 2, 2)}


@pytest.mark.parametrize(("before", "after"), [
    (("main::{lambda:8:15}::operator()", 8), ("main::{lambda:9:15}::operator()", 9)),
    (("mix:5", 5), ("mix:6", 6)),
    (("work", 5), ("work", 6)),
])
def test_a_function_that_its_line_tells_from_others_may_move(before: tuple[str, int], after: tuple[str, int]) -> None:
    one, other = (function_key(Function(name, name, name, 0, "/src/a.cc", line), Module("prog", "/bin/prog")) for name, line in (before, after))
    assert one == other


def test_a_number_that_is_not_the_line_is_part_of_the_name() -> None:
    keys = {function_key(Function(name, name, name, 0, "a.js", 1), Module("node", "/bin/node")) for name in ("load a.js:7", "load a.js:9")}
    assert len(keys) == 2


def test_rates_may_differ() -> None:
    """A function with 30 quick samples and no slow one is nothing strange: 3 slow ones were to be expected."""
    before, after = {"f": 5.0}, {"f": 5.0, "g": 0.030}
    slow_first = compare([made_run(before, period=0.010)], [made_run(after, period=0.001)])
    assert verdicts(slow_first)["g"] == "none"
    assert verdicts(compare([made_run(before, period=0.001)], [made_run(after, period=0.001)]))["g"] == "new"


def test_time_on_few_samples_is_not_much_evidence() -> None:
    """Twelve samples of 50 ms each are twelve samples, not 600."""
    sides = [[function_run(build_profile([("f", 0.001, 0)] * 1000 + heavy))] for heavy in ([], [("g", 0.05, 0)] * 12)]
    change = {row.place.function.name: row.change for row in compare(*sides).rows}["g"]
    assert change.after == pytest.approx(0.6)
    assert change.p is not None and change.p > 0.00001


def test_a_line_is_known_by_its_distance_from_its_function() -> None:
    profile = build_profile([("main:3;work:12", 2, 0), ("main:4;work:14", 1, 0)])
    run = line_run(profile)
    assert sorted(measure.time for measure in run.times.values()) == [1, 2]
    assert {key[-1] for key in run.times} == {2, 4}


def test_what_is_slower_than_a_limit() -> None:
    before = {"f": 10.0, "g": 1.0, "tiny": 0.1}
    after = {"f": 11.5, "g": 3.0, "tiny": 0.3, "new": 1.0}
    comparison = compare([made_run(before, period=0.0001)], [made_run(after, period=0.0001)])
    assert {name for name, verdict in verdicts(comparison).items() if verdict != "none"} == {"f", "g", "tiny", "new"}
    found = slower_than(comparison, 0.05)
    assert found[0] is comparison.total
    assert {row.place.function.name for row in found[1:]} == {"f", "g"}
    assert [row.place.function.name for row in slower_than(comparison, 0.16)[1:]] == ["g"]
    assert slower_than(comparison, 1.5) == ()


def test_runs_without_samples() -> None:
    comparison = compare([made_run({})], [made_run({})])
    assert comparison.rows == () and comparison.total.verdict == "none" and comparison.total.ratio is None
    assert verdicts(compare([made_run({})], [made_run({"f": 1})])) == {"f": "new"}


COUNTED = Metric("page-faults", "", "page-faults", (3,))


def counted_run(name: str, **counts: float) -> Run:
    """A run that caused so many page faults by function, of which one sample stands for hundreds."""
    run = made_run({function: count / 1000 for function, count in counts.items()}, name)
    times = {key: Measure(measure.time * 1000, measure.samples) for key, measure in run.times.items()}
    return replace(run, times=times, total=Measure(run.total.time * 1000, run.total.samples), metric=COUNTED)


def test_another_metric_is_judged_by_several_runs_only() -> None:
    one = compare([counted_run("a", hash=1000, sort=10)], [counted_run("b", hash=4000, sort=10)])
    assert one.rows[0].change.difference == 3000 and one.rows[0].change.p is None and one.rows[0].change.difference_low is None
    assert {row.change.verdict for row in one.rows} == {"none"} and one.total.verdict == "none"
    assert "5 of each" in " ".join(notes(one)) and answer(one) == "Its page-faults went from 1,010 to 4,010; whether by more than chance is not known."
    before = [counted_run(f"a{n}", hash=1000 + n, sort=10) for n in range(5)]
    many = compare(before, [counted_run(f"b{n}", hash=1300 + n, sort=10, rare=1) for n in range(5)])
    by_name = {row.place.function.name: row.change.verdict for row in many.rows}
    assert by_name == {"hash": "slower", "sort": "none", "rare": "none"}, "few accidents are no finding, however alike the runs are"
    assert answer(many).startswith("The program has more page-faults: +29.7 %")


FIVE = {f"f{number}": 2.0 for number in range(5)}


def found_of(trials: int, before: Mapping[str, float], after: Mapping[str, float], spread: float = 0.03, runs: int = 5) -> list[dict[str, str]]:
    """What simulated comparisons find, when whole runs differ by more than a function does."""
    chance = random.Random(11)
    sides = ([[random_run(chance, times, HIGH, spread) for _ in range(runs)] for times in (before, after)] for _ in range(trials))
    return [{name: verdict for name, verdict in verdicts(compare(*two)).items() if verdict != "none"} for two in sides]


@pytest.mark.parametrize(("program", "runs", "trials"), [(FIVE, 2, TRIALS), (FIVE, 5, TRIALS), (MANY, 5, 50)])
def test_runs_that_differ_as_a_whole_make_no_findings(program: Mapping[str, float], runs: int, trials: int) -> None:
    assert sum(map(bool, found_of(trials, program, program, runs=runs))) / trials <= 0.01 + 3 * sqrt(0.01 * 0.99 / trials)


@pytest.mark.parametrize("changed", [{"f2": 2.1}, {"f2": 1.9}, {"f2": 2.1, "f4": 2.1}], ids=str)
def test_a_function_that_changes_by_less_than_runs_do_is_found_beside_the_rest(changed: dict[str, float]) -> None:
    right = {name: "slower" if time > 2 else "faster" for name, time in changed.items()}
    found = found_of(50, FIVE, FIVE | changed)
    assert sum(one == right for one in found) >= 48


def test_what_is_large_is_not_the_rest_of_what_is_small() -> None:
    """Beside a function that is slower ten others look faster, but they are not what changed."""
    others = {f"g{number}": 0.1 for number in range(10)}
    found = found_of(50, {**others, "f": 9.0}, {**others, "f": 9.9})
    assert sum(one == {"f": "slower"} for one in found) >= 48


def test_of_two_functions_the_one_with_the_other_time_is_meant() -> None:
    found = found_of(50, {"f": 5.0, "g": 5.0}, {"f": 5.5, "g": 5.0}, spread=0.01)
    assert sum(one == {"f": "slower"} for one in found) >= 48


def test_the_ratio_beside_the_rest_has_an_interval_that_holds_the_truth() -> None:
    chance = random.Random(12)
    held = []
    for _ in range(100):
        sides = [[random_run(chance, times, HIGH, 0.03) for _ in range(4)] for times in (FIVE, FIVE | {"f2": 2.1})]
        for row in compare(*sides).rows:
            truth = 1.05 if row.place.function.name == "f2" else 1.0
            assert row.change.rest_low is not None and row.change.rest_high is not None
            held.append(row.change.rest_low <= truth <= row.change.rest_high)
    # Where f2 was not found the others are compared with a rest that has become slower.
    assert sum(held) / len(held) >= 0.95 - 3 * sqrt(0.95 * 0.05 / len(held)) - 0.02


@pytest.mark.parametrize(("program", "trials"), [(FIVE, TRIALS), (MANY, 100)])
def test_one_run_that_was_faster_as_a_whole_makes_no_findings(program: Mapping[str, float], trials: int) -> None:
    assert sum(map(bool, found_of(trials, program, program, runs=1))) / trials <= 0.01 + 3 * sqrt(0.01 * 0.99 / trials)


def test_one_run_a_side_finds_what_changed_by_itself_and_beside_the_rest_or_by_far() -> None:
    chance = random.Random(13)
    for slow, after, found in (
        (1.02, FIVE | {"f2": 2.2}, {"f2": "slower"}),
        (0.9, FIVE | {"f2": 2.2}, {}),  # a tenth more at a tenth less
        (1.0, {name: 2 * time for name, time in FIVE.items()}, dict.fromkeys(FIVE, "slower")),
    ):
        two = [random_run(chance, FIVE, HIGH), random_run(chance, {name: time * slow for name, time in after.items()}, HIGH)]
        comparison = compare(*[[run] for run in two])
        assert {name: verdict for name, verdict in verdicts(comparison).items() if verdict != "none"} == found


def test_other_metrics_are_not_compared_beside_the_rest() -> None:
    faults = [[counted_run(f"{side}{n}", hash=1000 + n, sort=900) for n in range(3)] for side in "ab"]
    assert all(row.change.rest_ratio is None for row in compare(*faults).rows)
    assert all(row.change.rest_ratio is None for row in compare([made_run({"f": 1.0})] * 2, [made_run({"f": 1.1})] * 2).rows), "there is no rest"


def test_time_of_threads_without_a_sample_is_compared_as_if_they_had_some() -> None:
    def side(brief_s: float) -> Run:
        brief = [("brief", brief_s / 100, 0, {"end": "not_sampled", "thread": number}) for number in range(1, 101)]
        threads = [THREAD._replace(tid=100 + number) for number in range(101)]
        return function_run(build_profile([("main", 0.001, 0)] * 1000 + brief, threads=threads))

    assert verdicts(compare([side(0.5)], [side(1.5)]))["brief"] == "slower"
    assert verdicts(compare([side(0.5)], [side(0.5)]))["brief"] == "none"
