"""test_over_ranks -- how code differs between the ranks and nodes of a job, against figures made by hand"""

from __future__ import annotations

import math

import pytest

from collector.capture.rank import parse_ranks
from collector.exports.names import process_numbers, thread_numbers
from collector.profile.categories import read_categories
from collector.profile.filters import FilterError, select
from collector.profile.grouped import groups
from collector.profile.over_ranks import SORT_KEYS, SpreadRow, shared_ranks, spreads, total_spread
from collector.profile.timeline import timeline
from collector.profile.views import Selection
from collector.reports import groups as groups_text, overview
from collector.reports.style import Style
from tests.tiny_profile import PROCESS, THREAD, build_profile

NODES = ("east", "east", "west", "west")
PROCESSES = [PROCESS._replace(pid=99)] + [
    PROCESS._replace(pid=200 + rank, rank=rank, local_rank=rank % 2, node=node) for rank, node in enumerate(NODES)
]
THREADS = [THREAD._replace(process=process, tid=PROCESSES[process].pid) for process in range(5)]


def _profile():
    return build_profile(
        [
            ("mpirun", 50, 0, {"thread": 0}),  # which is no rank
            ("main;solve", 1, 0, {"thread": 1}), ("main;solve", 2, 0, {"thread": 2}),
            ("main;solve;push", 3, 0, {"thread": 3}), ("main;solve", 6, 0, {"thread": 4}),
            ("main;read", 0, 4, {"thread": 2}),
        ],
        processes=PROCESSES, threads=THREADS,
    )  # fmt: skip


def _rows(profile, by="rank", **more) -> dict[str, SpreadRow]:
    return {row.function.name: row for row in spreads(profile, by, **more)}


def test_functions_over_ranks():
    rows = _rows(_profile())
    assert set(rows) == {"main", "solve", "push", "read"}
    own, all_below = rows["solve"].exclusive, rows["solve"].inclusive
    assert (own.min, own.min_at, own.max, own.max_at, own.mean) == (0, 2, 6, 3, 9 / 4)
    assert own.deviation == pytest.approx(math.sqrt(((1 - 2.25) ** 2 + (2 - 2.25) ** 2 + 2.25**2 + (6 - 2.25) ** 2) / 4))
    assert own.imbalance == pytest.approx(6 / 2.25 - 1) and own.excess == 3.75
    assert (all_below.min, all_below.min_at, all_below.max, all_below.max_at, all_below.mean) == (1, 0, 6, 3, 3)


def test_ranks_without_a_function_count_as_nothing():
    read = _rows(_profile())["read"].exclusive
    assert (read.mean, read.min, read.min_at, read.max, read.max_at) == (1, 0, 0, 4, 1)
    main = _rows(_profile())["main"].exclusive
    assert (main.mean, main.max, main.imbalance) == (0, 0, 0)


def test_nodes_are_sums_of_their_processes():
    rows = _rows(_profile(), "node")
    assert (rows["solve"].inclusive.min_at, rows["solve"].inclusive.min, rows["solve"].inclusive.max, rows["solve"].inclusive.mean) == ("east", 3, 9, 6)


def test_lines_objects_and_metrics():
    (module,) = spreads(_profile(), "rank", "objects")
    assert module.function is None and module.module.name == "test" and module.exclusive.mean == 16 / 4
    assert {row.line for row in spreads(_profile(), "rank", "lines")} == {11}
    assert set(_rows(_profile(), metric=2)) == {"main", "read"}  # system time


def test_the_whole():
    spread = total_spread(_profile(), "rank")
    assert (spread.mean, spread.min, spread.min_at, spread.max, spread.max_at) == (4, 1, 0, 6, 1)
    assert [(group.title, group.exclusive[0]) for group in groups(_profile(), "rank", read_categories())] == [("0", 1), ("1", 6), ("2", 3), ("3", 6)]


def test_chosen_ranks_are_all_there_are():
    some = select(_profile(), ranks=parse_ranks("1-2"))
    assert total_spread(some, "rank").mean == 4.5 and _rows(some)["read"].exclusive.mean == 2
    assert some.filters == ("ranks 1-2",)
    west = select(_profile(), nodes=["w*"])
    assert total_spread(west, "rank").mean == 4.5 and total_spread(west, "node").mean == 9
    none = select(_profile(), ranks=range(2), nodes=["west"])
    assert spreads(none, "rank") == []
    only_read = select(_profile(), functions=["read"])
    assert total_spread(only_read, "rank").mean == 1  # three ranks without it count


def test_what_there_is_not():
    with pytest.raises(FilterError, match="there is no rank 7 in the experiment"):
        select(_profile(), ranks=parse_ranks("7"))
    with pytest.raises(FilterError, match="there is no node north"):
        select(_profile(), nodes=["north"])


def test_orders():
    rows = spreads(_profile(), "rank")
    first = {key: sorted(rows, key=order)[0].function.name for key, order in SORT_KEYS.items()}
    assert first == {"exclusive": "solve", "inclusive": "main", "excess": "solve", "imbalance": "read", "function": "main"}


def test_processes_of_one_number_on_two_nodes_are_two():
    processes = [PROCESS._replace(rank=rank, node=node) for rank, node in enumerate(("east", "west"))]
    threads = [THREAD._replace(process=process) for process in range(2)]
    profile = build_profile([("main", 1, 0, {"thread": 0}), ("main", 2, 0, {"thread": 1})], processes=processes, threads=threads)
    assert len({process.identity for process in processes}) == 2
    assert len(set(process_numbers(profile))) == len(set(thread_numbers(profile))) == 2
    assert [(row.rank, row.node, row.cpu) for row in timeline(profile, 10).rows] == [(0, "east", 1), (1, "west", 2)]


def test_ranks_of_several_launches_are_told():
    """Two mpirun in a recorded script number their processes alike; what a rank starts, and runs in its place, is no other rank."""
    script, first, second = (PROCESS._replace(pid=pid, parent_pid=50) for pid in (50, 60, 70))
    below_first = [PROCESS._replace(pid=61 + rank, parent_pid=60, rank=rank) for rank in range(2)]
    of_rank = [PROCESS._replace(pid=63, parent_pid=61, rank=0), below_first[0]._replace(image=1)]
    one_launch = build_profile([("main", 1, 0)], processes=[script, first, *below_first, *of_rank])
    assert shared_ranks(one_launch) == [] and "launches" not in overview.render(one_launch, 10, Style())
    again = PROCESS._replace(pid=71, parent_pid=70, rank=0)
    both = build_profile([("main", 1, 0)], processes=[*one_launch.processes, second, again], threads=[THREAD._replace(process=2)])
    assert shared_ranks(both) == [0]
    assert "2 on 1 node; rank 0 adds up processes of several launches" in " ".join(overview.render(both, 10, Style()).split())
    assert "rank 0 adds up" in groups_text.render(both, "rank", Selection(groups(both, "rank", read_categories())), Style())
