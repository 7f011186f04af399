"""test_merge -- merged profiles show what their experiments show when they are loaded together"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from both_ways import is_close, shown
from small_experiment import ArithmeticSymbolizer
from test_both_ways import framed, random_frames, write
from tiny_profile import S, START_NS, build_profile, random_profile

from collector.load import load
from collector.load.serial import read_profile, write_profile
from collector.profile import aggregate
from collector.profile.call_tree import call_tree
from collector.profile.merge import merge
from collector.profile.metrics import Value, metrics_of, ordered_values
from collector.profile.model import Loss, Message
from collector.profile.plain_samples import PlainSample, PlainSamples, PlainStack
from collector.profile.samples import Scales


def experiments(tmp_path: Path, seed: int) -> list[Path]:
    rng = random.Random(seed)
    return [write(tmp_path / name, framed(random_frames(rng)), 100 + number) for number, name in enumerate(("a.expt", "b.expt", "c.expt"))]


@pytest.mark.parametrize("seed", range(8))
def test_merging_is_loading_together(tmp_path: Path, seed: int) -> None:
    paths = experiments(tmp_path, seed)
    together = load([str(path) for path in paths], symbolizer=ArithmeticSymbolizer())
    merged = merge([load(str(path), symbolizer=ArithmeticSymbolizer()) for path in paths])
    assert is_close(shown(merged), shown(together))
    assert merged.recordings == together.recordings
    assert sorted(map(str, merged.modules)) == sorted(map(str, together.modules))
    assert (merged.losses, merged.pauses, merged.points, merged.unrecorded) == (together.losses, together.pauses, together.points, together.unrecorded)


@pytest.mark.parametrize("seed", range(8))
def test_files_can_be_merged_in_any_order(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    profiles = [random_profile(rng) for _ in range(3)]
    for number, profile in enumerate(profiles):
        write_profile(profile, tmp_path / str(number))
    read = [read_profile(tmp_path / str(number)) for number in range(3)]
    rows = [merge(order) for order in (profiles, read, [read[0], merge(read[1:])], [merge(read[:2]), read[2]])]
    for other in rows[1:]:
        assert is_close(shown(other), shown(rows[0]))
    write_profile(rows[1], tmp_path / "merged")
    assert is_close(shown(read_profile(tmp_path / "merged")), shown(rows[1]))


def test_the_same_function_is_one_and_its_namesake_another() -> None:
    one, other = build_profile([("main;work", 1, 0)]), build_profile([("main;work@libwork.so;work", 2, 0)])
    rows = {(row.function.name, row.module.name): (row.exclusive[0], row.inclusive[0]) for row in aggregate.functions(merge([one, other]))}
    assert rows == {("main", "test"): (0, 3), ("work", "test"): (3, 3), ("work", "libwork.so"): (0, 2)}


def test_variants_of_a_constructor_are_one_function() -> None:
    profiles = [build_profile([("main;A::A()", 1, 0)]) for _ in range(2)]
    parts = [
        profile._replace(functions=[function._replace(raw_name=raw_name) if "A" in function.name else function for function in profile.functions])
        for profile, raw_name in zip(profiles, ("_ZN1AC1Ev", "_ZN1AC2Ev"))
    ]
    rows = {row.function.name: row.exclusive[0] for row in aggregate.functions(merge(parts))}
    assert rows == {"main": 0, "A::A()": 2}
    assert len(merge(parts).functions) == 2


def test_calls_of_different_ways_stay_apart() -> None:
    merged = merge([build_profile([("main;a;work", 1, 0)]), build_profile([("main;b;work", 2, 0), ("main;a;work", 4, 0)])])
    tree = [(node.depth, node.title, node.inclusive[0]) for node in call_tree(merged)]
    assert tree == [(0, "(all)", 7), (1, "main", 7), (2, "a", 5), (3, "work", 5), (2, "b", 2), (3, "work", 2)]


def test_rows_point_to_their_own_experiment() -> None:
    one = build_profile([("main", 1, 0)])._replace(losses=(Loss(0, "damage", 1),), messages=(Message(0, 1, "no symbols"), Message(0, 1, "now", time_ns=3)))
    merged = merge([one, one])
    assert [process.experiment for process in merged.processes] == [0, 1]
    assert [thread.process for thread in merged.threads] == [0, 1]
    assert [loss.experiment for loss in merged.losses] == [0, 1]
    assert [(message.experiment, message.text) for message in merged.messages] == [(0, "no symbols"), (0, "now"), (1, "now")]


def test_what_a_profile_does_not_measure_is_nothing() -> None:
    one = build_profile([("main;work", 1, 2)])
    kinds = ordered_values([Value("looks", "", True), Value("blocked", "ns"), Value("heap", "bytes")])
    sample = PlainSample(0, START_NS, 0, (0, 0, 4 * S, 1, 500))
    other = one._replace(samples=PlainSamples([PlainStack((0, 1), "complete")], [sample], [Scales()], kinds), metrics=metrics_of(kinds))
    for merged in (merge([one, other]), merge([other, one])):
        assert [metric.name for metric in merged.metrics] == ["cpu", "user", "system", "samples", "wall", "blocked", "looks", "heap"]
        (work,) = (row for row in aggregate.functions(merged) if row.function.name == "work")
        assert work.exclusive == work.inclusive == (3, 1, 2, 1, 7, 4, 1, 500)
        assert aggregate.total_values(merged) == (3, 1, 2, 1, 7, 4, 1, 500)
        assert call_tree(merged)[-1].inclusive == (3, 1, 2, 1, 7, 4, 1, 500)
