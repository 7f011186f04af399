"""test_compare_page -- a comparison in the page: its figures are those of `collector compare`, and calls are judged as rows are"""

from __future__ import annotations

import os
import random
from functools import cache
from math import sqrt
from pathlib import Path
from typing import Any

import pytest
from small_experiment import write_small
from tiny_profile import build_profile
from unpacked import unpacked

from collector.cli.main import main
from collector.exports import compare_document
from collector.page.compared import VERDICTS, ComparedSide, compared_data, compared_run, function_keys
from collector.profile.change import Change
from collector.profile.compared_run import NOTHING, Measure, function_run, path_run
from collector.profile.compared_tree import MOST_NODES, WHOLE, RunTree, compared_tree, run_tree
from collector.profile.comparison import compare
from collector.profile.model import Profile

OLD = {"main;work;read": 40, "main;work;hash": 60, "main;old;read": 30, "main;idle": 4}
NEW = {"main;work;read": 42, "main;work;hash": 160, "main;new;read": 30, "main;idle": 3}


def profile_of(counts: dict[str, int], extra: int = 0) -> Profile:
    """So many samples of 10 ms by stack, and some more of each."""
    return build_profile([(stack, 0.01, 0, {"at": 0.01 * number}) for stack, count in counts.items() for number in range(count + extra)])


def side_of(profiles: list[Profile]) -> ComparedSide:
    return ComparedSide(tuple(compared_run(profile) for profile in profiles), function_keys(profiles[0]))


def packed(before: list[Profile], after: list[Profile]) -> tuple[dict[str, Any], dict[str, list[int]]]:
    return unpacked(compared_data(side_of(before), side_of(after)))


def text_of(before: list[Profile], after: list[Profile]) -> dict[str, Any]:
    comparison = compare([function_run(one) for one in before], [function_run(one) for one in after])
    return compare_document.compare(comparison, comparison.rows)


SIDES = {
    "one run": ([profile_of(OLD)], [profile_of(NEW)]),
    "several runs": ([profile_of(OLD, extra) for extra in (0, 2, 3)], [profile_of(NEW, extra) for extra in (1, 0, 2)]),
    "nothing in common": ([profile_of({"a;b": 20})], [profile_of({"c;d": 20})]),
    "the same": ([profile_of(OLD)], [profile_of(OLD)]),
}


@pytest.mark.parametrize("sides", SIDES.values(), ids=SIDES)
def test_figures_and_words_are_those_of_the_text(sides: tuple[list[Profile], list[Profile]]) -> None:
    document, _ = packed(*sides)
    told = text_of(*sides)
    assert document["answer"] == told["answer"] and document["notes"] == told["notes"]
    figures = list(document["time"])
    for number, row in enumerate(told["rows"]):
        assert document["functions"]["name"][number] == row["function"] and document["functions"]["module"][number] == row["module"]
        shown = {name: document["time"][name][number] for name in figures}
        assert shown == {**{name: row[name] for name in figures}, "verdict": "too few" if row["p"] is None else row["verdict"]}
    assert len(document["time"]["before"]) == len(told["rows"]) > 1
    assert {name: document["total"][name] for name in figures} == {name: told["total"][name] for name in figures}


def test_ratios_beside_the_rest_are_in_the_page() -> None:
    document, _ = packed(*SIDES["several runs"])
    ratios = document["time"]["rest_ratio"]
    assert any(ratio is not None for ratio in ratios)
    for ratio, low, high in zip(ratios, document["time"]["rest_low"], document["time"]["rest_high"]):
        assert low is high is None if ratio is None else low <= ratio <= high


def tree_of(before: list[Profile], after: list[Profile], kind: str) -> dict[tuple[str, ...], tuple[float, float, float, str]]:
    """By path: before, after, error, verdict."""
    document, columns = packed(before, after)
    names, paths, found = document["functions"]["name"], [()], {}
    unit = document["units"][kind.partition(".")[0]]
    for node, way in enumerate(columns["parents"]):
        if node:
            number = columns["functions"][node]
            paths.append((*paths[node - way], names[number - 1] if number else "(unfinished stacks)"))
        before_s, after_s, error = (columns[f"{kind}.{name}"][node] * unit for name in ("before", "after", "error"))
        found[paths[node]] = (before_s, after_s, error, VERDICTS[columns[f"{kind}.verdict"][node]])
    return found


@pytest.mark.parametrize("sides", [SIDES["one run"], SIDES["several runs"]], ids=["one run", "several runs"])
def test_calls_are_judged_as_by_path(sides: tuple[list[Profile], list[Profile]]) -> None:
    comparison = compare([path_run(one) for one in sides[0]], [path_run(one) for one in sides[1]], "path")
    tree = tree_of(*sides, "time.exclusive")
    for row in comparison.rows:
        path = (*(caller.name for caller in row.place.callers or () if caller), row.place.function.name)
        before, after, error, verdict = tree.pop(path)
        assert (before, after) == pytest.approx((row.change.before, row.change.after), abs=1e-7)
        assert error == pytest.approx(row.change.difference_high - row.change.difference, abs=1e-7)
        assert verdict == ("too few" if row.change.p is None else row.change.verdict)
    assert all(before == after == 0 for before, after, _, _ in tree.values())


def test_what_a_call_calls_is_added() -> None:
    tree = tree_of(*SIDES["one run"], "time.inclusive")
    assert tree[()][:2] == pytest.approx((1.34, 2.35), abs=1e-6)
    assert tree["main", "work"][:2] == pytest.approx((1.0, 2.02), abs=1e-6)
    assert [tree[path][3] for path in ((), ("main",), ("main", "work"), ("main", "work", "hash"), ("main", "work", "read"))] == ["slower"] * 4 + ["none"]
    assert tree["main", "old"][3] == "gone" and tree["main", "new", "read"][3] == "new" and tree["main", "idle"][3] == "too few"


def test_unfinished_stacks_are_apart_and_count_once() -> None:
    samples = [("main;work", 0.01, 0, {"at": 0.01 * i, "end": end}) for i in range(40) for end in ("complete", "bad_frame")]
    profile = build_profile(samples)
    assert sum(node[0] for node in tree_of([profile], [profile], "time.exclusive").values()) == pytest.approx(0.8, abs=1e-6)
    tree = tree_of([profile], [profile], "time.inclusive")
    assert tree[()][:2] == pytest.approx((0.8, 0.8), abs=1e-6) and tree["main",][0] == pytest.approx(0.4, abs=1e-6)
    assert tree["(unfinished stacks)", "main", "work"][0] == pytest.approx(0.4, abs=1e-6)


def test_shares_do_not_see_how_long_a_run_was() -> None:
    """Three times the same takes three times as long, and no part of it is more of it."""
    sides = [profile_of(OLD)], [profile_of({stack: 3 * count for stack, count in OLD.items()})]
    assert {verdict for *_, verdict in tree_of(*sides, "time.inclusive").values()} > {"slower"}
    shares = tree_of(*sides, "share.inclusive")
    assert {verdict for *_, verdict in shares.values()} == {"none"}
    assert shares["main", "work"][:2] == pytest.approx((100 / 134, 100 / 134), abs=1e-6)
    document, _ = packed(*sides)
    assert set(document["share"]["verdict"]) == {"none"} and set(document["time"]["verdict"]) > {"slower"}


def test_functions_are_found_on_either_side_under_another_modules_name() -> None:
    old, new = profile_of({"main@prog-1;work@prog-1;read": 20}), profile_of({"start@prog-2;main@prog-2;work@prog-2;read": 20})
    document, columns = packed([old], [new])
    names = document["functions"]["name"]
    by_side = {side: [names[number - 1] for number in columns[f"{side}.functions"] if number] for side in ("before", "after")}
    assert by_side == {"before": ["main", "work", "read"], "after": ["start", "main", "work", "read"]}
    assert len(names) == 4
    tree = tree_of([old], [profile_of({"main@prog-2;work@prog-2;read": 30})], "time.inclusive")
    assert len(tree) == 4 and tree["main", "work", "read"][:2] == pytest.approx((0.2, 0.3), abs=1e-6)


def test_the_largest_calls_are_kept_with_their_callers() -> None:
    """And judged as if all were there."""
    profiles = [profile_of({f"main;f{number};g{number}": factor * number + 10 for number in range(30)}) for factor in (10, 12)]
    trees = [[run_tree(profile)] for profile in profiles]
    total = compare(*[[function_run(profile)] for profile in profiles]).total
    whole, cut = compared_tree(*trees, {}, total), compared_tree(*trees, {}, total, most_nodes=20)
    assert any(0.01 < (node.inclusive.p or 0) < 1 for node in cut)
    assert len(whole) == 62 <= MOST_NODES and len(cut) == 20
    assert all(node.parent < number for number, node in enumerate(cut) if number)
    judged = {node.key: node.inclusive for node in whole}
    assert all(node.inclusive == judged[node.key] for node in cut)
    assert min(node.inclusive.after for node in cut) >= sorted(node.inclusive.after for node in whole)[-20]


def test_a_call_with_all_its_callers_time_is_asked_once() -> None:
    """So a chain of calls does not cost certainty: all of it has what its first call has, and two branches are two questions."""
    sides = [[profile_of({"m;a;b;c;d;e;f": count, "m;z": 100})] for count in (100, 160)]
    by_function = compare(*[[function_run(profile) for profile in side] for side in sides])
    nodes = compared_tree(*[[run_tree(profile) for profile in side] for side in sides], {}, by_function.total)
    by_name = {node.key[0] if node.key else "": node.inclusive for node in nodes}
    assert {by_name[name] for name in "bcdef"} == {by_name["a"]} and by_name["m"] == by_name[""]
    own = next(row.change for row in by_function.rows if row.place.function.name == "f")
    assert by_name["a"].difference == own.difference and by_name["a"].ratio_low == own.ratio_low  # f and z there, a and z here


@cache
def change_of_nothing() -> Change:
    """A total that nobody judged."""
    return compare([function_run(profile_of(OLD))], [function_run(profile_of(OLD))]).total


def random_tree(chance: random.Random) -> RunTree:
    """`main` calls 15 functions, each of which calls one that has 200 samples of 10 ms on average, and 100 of its own."""
    tree = RunTree([(0, WHOLE), (0, ("main", "prog", ""))], [NOTHING] * 2, [NOTHING] * 2, {})
    for number in range(15):
        caller = len(tree.steps)
        tree.steps.extend([(1, (f"f{number}", "prog", "")), (caller, (f"g{number}", "prog", ""))])
        counts = [round(chance.gauss(mean, sqrt(mean))) for mean in (100, 200)]
        tree.exclusive.extend(Measure(0.01 * count, count) for count in counts)
        tree.inclusive.extend(Measure(0.01 * count, count) for count in (sum(counts), counts[1]))
    total = sum(one.samples for one in tree.exclusive)
    tree.inclusive[:2] = [Measure(0.01 * total, total)] * 2
    return tree


@pytest.mark.parametrize(("runs", "trials"), [(1, 200), (4, 100)] if os.environ.get("COLLECTOR_TEST_THOROUGH") else [(1, 100), (4, 25)])
def test_the_same_program_has_a_colour_in_one_of_a_hundred_comparisons(runs: int, trials: int) -> None:
    """Of all boxes together, with what they call; the total is a question of its own."""
    chance, found = random.Random(3), 0
    for _ in range(trials):
        nodes = compared_tree([random_tree(chance) for _ in range(runs)], [random_tree(chance) for _ in range(runs)], {}, change_of_nothing())
        assert all(node.inclusive.p is not None for node in nodes)
        found += any(node.inclusive.verdict != "none" for node in nodes[2:])
    assert found / trials <= 0.01 + 3 * sqrt(0.01 * 0.99 / trials)


def test_a_run_without_samples_of_a_call_counts() -> None:
    """A call in one run of three is no change by itself."""
    tree = tree_of([profile_of(OLD)] * 3, [profile_of(OLD)] * 2 + [profile_of({**OLD, "main;rare": 30})], "time.inclusive")
    assert tree["main", "rare"][3] == "none" and tree["main", "rare"][:2] == pytest.approx((0, 0.1), abs=1e-6)


@pytest.fixture
def experiments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two runs a side."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for number in (1, 2):
        write_small(tmp_path / f"a{number}.expt", [0] * 100 + [1] * (200 + number))
        write_small(tmp_path / f"b{number}.expt", [0] * 200 + [1] * (200 + number))
    return tmp_path


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("a1.expt", "--", "b1.expt"), "a1-b1.html"),
        (("a1.expt", "a2.expt", "--", "b1.expt", "b2.expt"), "a1-b1.html"),
        (("-o", "x.html", "a1.expt", "--", "b1.expt"), "x.html"),
        (("a1.expt", "--after", "b1.expt", "--sources"), "a1-b1.html"),
    ],
)
@pytest.mark.parametrize("is_kept", [False, True], ids=["read", "kept"])
def test_the_command_takes_two_sides(experiments: Path, words: tuple[str, ...], name: str, is_kept: bool, capsys) -> None:
    if is_kept:
        assert main(["compare", "a1.expt", "--", "b1.expt"]) == 0
        capsys.readouterr()
    assert main(["html", *words]) == 0
    assert capsys.readouterr().out.startswith(f"{name}: ")
    text = (experiments / name).read_text()
    assert text.count('class="experiment"') == 2 and text.count('class="comparison"') == 1
    document, _ = unpacked(text.partition('class="comparison">')[2].partition("<")[0])
    runs = 2 if "a2.expt" in words else 1
    assert [len(side["names"]) for side in document["sides"]] == [runs, runs]
    assert document["answer"].endswith("slower: prog+0x2010 (+100.0 %).") == (runs == 1)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("a1.expt", "--"), "there is no experiment behind `--`: collector html BEFORE... -- AFTER..."),
        (("a1.expt", "--", "b1.expt", "--", "b2.expt"), "there are two sides, so `--` stands once: collector html BEFORE... -- AFTER..."),
        (("a1.expt", "--", "./a1.expt"), "./a1.expt is named twice; every run counts once"),
    ],
)
def test_sides_that_make_no_sense(experiments: Path, words: tuple[str, ...], sentence: str, capsys) -> None:
    assert main(["html", *words]) == 2
    assert sentence in capsys.readouterr().err
    assert not list(experiments.glob("*.html"))


def test_a_page_of_one_experiment_has_nothing_of_it(experiments: Path, capsys) -> None:
    assert main(["html", "a1.expt"]) == 0
    text = (experiments / "a1.html").read_text()
    assert 'class="comparison">' not in text
    assert "class CompareView" not in text and "class DisassemblyView" not in text and "--slower" not in text
