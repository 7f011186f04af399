"""test_call_tree -- the tree's shape, its sums, and what is cut off"""

from __future__ import annotations

import random

import pytest
from tiny_profile import build_profile, random_profile

from collector.profile.aggregate import total_values
from collector.profile.call_tree import call_tree
from collector.profile.views import choose_branches


def drawn(nodes) -> list[tuple[int, str, float, float]]:
    return [(node.depth, node.title, node.inclusive[0], node.exclusive[0]) for node in nodes]


def test_callees_follow_their_caller_with_the_longest_first() -> None:
    nodes = call_tree(build_profile([("main;a;read", 1, 0), ("main;b;read", 2, 0), ("main;b", 1, 0)]))
    assert drawn(nodes) == [
        (0, "(all)", 4.0, 0.0),
        (1, "main", 4.0, 0.0),
        (2, "b", 3.0, 1.0),
        (3, "read", 2.0, 2.0),
        (2, "a", 1.0, 0.0),
        (3, "read", 1.0, 1.0),
    ]
    assert [node.parent for node in nodes] == [None, 0, 1, 2, 1, 4]


def test_direct_recursion_is_one_node_however_deep() -> None:
    nodes = call_tree(build_profile([("main;" + "fib;" * 2000 + "add", 1, 0), ("main;fib", 2, 0)]))
    assert drawn(nodes) == [
        (0, "(all)", 3.0, 0.0),
        (1, "main", 3.0, 0.0),
        (2, "fib", 3.0, 2.0),
        (3, "add", 1.0, 1.0),
    ]


def test_a_chain_of_calls_may_be_thousands_of_nodes_deep() -> None:
    nodes = call_tree(build_profile([(";".join(f"f{number}" for number in range(2000)), 1, 0)]))
    assert nodes[-1].depth == 2000
    assert nodes[-1].inclusive[0] == 1.0


def test_recursion_by_way_of_others_goes_on_from_the_node_on_the_path() -> None:
    nodes = call_tree(build_profile([("main;" + "even;odd;" * 1000 + "add", 1, 0), ("main;even;odd;even;log", 2, 0)]))
    assert drawn(nodes) == [
        (0, "(all)", 3.0, 0.0), (1, "main", 3.0, 0.0), (2, "even", 3.0, 0.0), (3, "log", 2.0, 2.0), (3, "odd", 1.0, 0.0), (4, "add", 1.0, 1.0),
    ]  # fmt: skip


def test_unfinished_stacks_hang_under_a_node_of_their_own() -> None:
    nodes = call_tree(build_profile([("main;work", 3, 0), ("work", 1, 0, {"end": "bad_frame"})]))
    assert drawn(nodes) == [
        (0, "(all)", 4.0, 0.0),
        (1, "main", 3.0, 0.0),
        (2, "work", 3.0, 3.0),
        (1, "(unfinished stacks)", 1.0, 0.0),
        (2, "work", 1.0, 1.0),
    ]


def test_the_threshold_cuts_short_branches_and_all_below_them() -> None:
    profile = build_profile([("main;hot", 98, 0), ("main;warm;x", 1, 0), ("main;warm;y", 1, 0)])
    assert [node.title for node in call_tree(profile, threshold=0.015)] == ["(all)", "main", "hot", "warm"]
    assert [node.title for node in call_tree(profile, threshold=0.05)] == ["(all)", "main", "hot"]


def test_a_limit_keeps_the_longest_branches_as_a_tree() -> None:
    profile = build_profile([("main;a;b", 5, 0), ("main;c;d", 3, 0), ("main;e", 1, 0)])
    selection = choose_branches(profile, 0.0, 4)
    assert [node.title for node in selection.rows] == ["(all)", "main", "a", "b"]
    assert [node.parent for node in selection.rows] == [None, 0, 1, 2]
    assert len(selection.hidden) == 3


@pytest.mark.parametrize("seed", range(10))
def test_the_root_is_the_total_and_each_node_the_sum_of_itself_and_its_callees(seed: int) -> None:
    profile = random_profile(random.Random(seed))
    nodes = call_tree(profile)
    assert nodes[0].inclusive == pytest.approx(total_values(profile))
    below = [node.exclusive[0] for node in nodes]
    for node in reversed(nodes):
        if node.parent is not None:
            below[node.parent] += below[node.id]
        assert below[node.id] == pytest.approx(node.inclusive[0])
