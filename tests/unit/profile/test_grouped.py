"""test_grouped -- groups, categories, phases, cuts, the bottom-up tree and the hot path: their figures, and that they agree with all other views"""

from __future__ import annotations

import random

import pytest
from tiny_profile import PROCESS, S, START_NS, THREAD, build_profile, random_profile, random_samples
from waiting_profile import waiting_profile

from collector.profile.aggregate import functions, lines, objects, total_values
from collector.profile.bottom_up import bottom_up_tree
from collector.profile.call_tree import call_tree, hot_path, steps_of
from collector.profile.callers_callees import callers_callees
from collector.profile.categories import CategoryError, read_categories
from collector.profile.compared_run import function_run, path_run
from collector.profile.comparison import compare
from collector.profile.filters import FilterError, select
from collector.profile.grouped import grouped_rows, groups
from collector.profile.metrics import shown_metrics
from collector.profile.model import Profile
from collector.profile.pcs import pcs
from collector.profile.sample_point import SamplePoint
from collector.profile.timeline import timeline
from collector.profile.views import FUNCTIONS

CATEGORIES = read_categories(("mine", "[a]\nfunction ^a$\n[b]\nfunction ^b$\nlike own code\n[rest]\nfunction ^c$\nlike callers"))
EVERY = ("module", "file", "thread", "process", "label", "category")


def shares(profile: Profile, by: str = "category", categories=CATEGORIES) -> dict[str, float]:
    return {group.title: group.exclusive[0] for group in groups(profile, by, categories)}


def busy_random(seed: int) -> Profile:
    """Random stacks in two threads of two processes, with labels."""
    chance = random.Random(seed)
    samples = [(stack, user, system, {**more, "thread": chance.randrange(2)}) for stack, user, system, more in random_samples(chance)]
    points = tuple(SamplePoint(0, 0, chance.choice((100, 200)), START_NS + chance.randrange(60) * S, chance.choice("xyz"), "api") for _ in range(6))
    return build_profile(samples, processes=(PROCESS, PROCESS._replace(pid=200)), threads=(THREAD, THREAD._replace(process=1, tid=200)), points=points)


@pytest.mark.parametrize("seed", range(20))
def test_every_sample_is_in_one_group_and_every_row_in_its_group(seed: int) -> None:
    profile = busy_random(seed)
    total = total_values(profile)
    for by in EVERY:
        found = groups(profile, by, CATEGORIES)
        assert [sum(column) for column in zip(*(group.exclusive for group in found))] == pytest.approx(total)
        for view, rows in (("functions", functions), ("lines", lines)):
            shown, hidden = grouped_rows(profile, by, view, CATEGORIES)
            assert not hidden
            for one in shown:
                assert sum(row.exclusive[0] for row in one.rows) == pytest.approx(one.group.exclusive[0])
            assert sum(row.exclusive[0] for one in shown for row in one.rows) == pytest.approx(sum(row.exclusive[0] for row in rows(profile)))


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("sort", ["exclusive", "inclusive", "user", "system", "function"])
def test_rows_of_groups_are_sorted_as_those_of_their_view(seed: int, sort: str) -> None:
    profile = busy_random(seed)
    key = FUNCTIONS.sort_keys[sort]
    for by in EVERY:
        shown, hidden = grouped_rows(profile, by, "functions", CATEGORIES, 0.0, sort)
        plain = grouped_rows(profile, by, "functions", CATEGORIES)
        assert not hidden and sorted(one.group.title for one in shown) == sorted(one.group.title for one in plain[0])
        for one in shown:
            assert [key(row) for row in one.rows] == sorted(key(row) for row in one.rows)
        if sort == "function":
            assert [one.group.title for one in shown] == [one.group.title for one in plain[0]]
        else:
            assert [key(one.group) for one in shown] == sorted(key(one.group) for one in shown)
    assert [group.title for group in groups(profile, "file", CATEGORIES, "group")] == sorted(group.title for group in groups(profile, "file", CATEGORIES))


@pytest.mark.parametrize("seed", range(20))
def test_the_bottom_up_tree_begins_with_the_functions(seed: int) -> None:
    profile = random_profile(random.Random(seed))
    nodes = bottom_up_tree(profile)
    assert nodes[0].inclusive == pytest.approx(total_values(profile))
    own = {node.title: node.inclusive for node in nodes if node.depth == 1}
    assert own == {row.function.name: pytest.approx(row.exclusive) for row in functions(profile) if any(row.exclusive)}
    below = [node.exclusive[0] for node in nodes]
    for node in reversed(nodes):
        if node.parent is not None:
            below[node.parent] += below[node.id]
        assert below[node.id] == pytest.approx(node.inclusive[0])
    assert {node.title for node in nodes if node.exclusive[0] and node.parent} <= {node.title for node in call_tree(profile)}


@pytest.mark.parametrize("seed", range(20))
def test_cut_stacks_have_the_time_of_whole_ones(seed: int) -> None:
    profile = random_profile(random.Random(seed))
    for index, function in enumerate(profile.functions):
        name = f"^{function.name}$"
        with_it = total_values(select(profile, functions=[name]))
        known = next(row for row in functions(profile) if row.function is function)
        assert with_it == pytest.approx(known.inclusive)
        without = total_values(select(profile, ignore=[name]))
        assert [a + b for a, b in zip(with_it, without)] == pytest.approx(total_values(profile))
        focus, callers = select(profile, focus=name), select(profile, callers_of=name)
        assert total_values(focus) == total_values(callers) == pytest.approx(with_it)
        assert [node.title for node in call_tree(focus) if node.depth == 1] == ([function.name] if with_it[0] else [])
        assert [(row.function, row.values) for row in callers_callees(callers, index).callers] == [
            (row.function, pytest.approx(row.values)) for row in callers_callees(profile, index).callers
        ]
        assert {row.function.name: row.exclusive[0] for row in functions(callers) if row.exclusive[0]} == (
            {function.name: pytest.approx(with_it[0])} if with_it[0] else {}
        )


@pytest.mark.parametrize("seed", range(10))
def test_addresses_and_steps_add_up(seed: int) -> None:
    profile = busy_random(seed)
    whole = total_values(profile)[0]
    assert sum(row.exclusive[0] for row in pcs(profile)) == pytest.approx(whole)
    assert {group.title: group.exclusive[0] for group in groups(profile, "module", CATEGORIES)} == {
        row.module.name: pytest.approx(row.exclusive[0]) for row in objects(profile)
    }
    early = profile._replace(samples=select(profile, end_ns=START_NS + 20 * S + 1).samples)
    for is_by_thread in (False, True):
        chart = timeline(profile, 7, is_by_thread)
        assert sum(sum(row.steps) for row in chart.rows) == pytest.approx(total_values(early)[0])


def test_the_category_is_what_own_code_called_last_and_all_below_it() -> None:
    profile = build_profile(
        [
            ("main;a;c", 1, 0),  # libc below a category is its
            ("main;a;b", 2, 0),  # like own code: ends it
            ("main;b;a;c;a", 4, 0),
            ("main;a;main;c", 8, 0),  # own code again
            ("c", 16, 0),
            ("b;c", 32, 0),
        ]
    )
    assert shares(profile) == {"b": 34.0, "(own code)": 24.0, "a": 5.0}
    inclusive = {group.title: group.inclusive[0] for group in groups(profile, "category", CATEGORIES)}
    assert inclusive == {"b": 38.0, "(own code)": 15.0, "a": 15.0}
    assert total_values(select(profile, category="A", categories=CATEGORIES))[0] == 5.0
    assert shares(select(profile, category="a", categories=CATEGORIES)) == {"a": 5.0, "(own code)": 0.0, "b": 0.0}
    with pytest.raises(FilterError, match="there is no category 'x'; there are \\(own code\\), a, b, MPI"):
        select(profile, category="x", categories=CATEGORIES)


def test_the_built_in_categories() -> None:
    profile = build_profile(
        [
            ("main;MPI_Send@libmpi.so.40;pthread_mutex_lock@libc.so.6;__memcpy_avx@libc.so.6", 1, 0),
            ("start_thread@libc.so.6;gomp_thread_start@libgomp.so.1;work;memset@libc.so.6", 2, 0),
            ("main;GOMP_parallel@libgomp.so.1;gomp_barrier_wait@libgomp.so.1", 4, 0),
            ("main;operator new(unsigned long)@libstdc++.so.6;malloc@libc.so.6;_int_malloc@libc.so.6;brk@libc.so.6", 8, 0),
            ("main@python3.11;_PyEval@python3.11;malloc@libc.so.6", 16, 0),
            ("main@python3.11;_PyEval@python3.11;memset@libc.so.6", 32, 0),
            ("main;fwrite@libc.so.6;__GI___libc_write@libc.so.6", 64, 0),
            ("main;mmap64@libc.so.6", 128, 0),
            ("main;main [parallel];GOMP_parallel@libgomp.so.1;memset@libc.so.6", 256, 0),
            ("main;MPI_Allreduce@libmpi.so.40;ompi_request_default_wait@libopen_mpi.so.40;opal_progress@libopen-pal.so.80", 512, 0),
            ("main;malloc@libc.so.6;__libc_malloc2@libc.so.6", 1024, 0),
        ]
    )
    assert {title: own for title, own in shares(profile, categories=read_categories()).items() if own} == {
        "MPI": 513.0, "(own code)": 2.0, "OpenMP wait": 4.0, "OpenMP": 256.0, "memory allocation": 1048.0, "interpreter": 32.0, "I/O": 64.0, "kernel boundary": 128.0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("function x", "mine, line 1: before 'function x' a line"),
        ("[a\n", "mine, line 1: the name of a category stands in brackets"),
        ("\n# b\n[a]\nfunction (", r"mine, line 4: '\(' is no regular expression"),
        ("[a]\nfunktion x", "mine, line 2: a line is function REGEX"),
        ("[a]\nmodule", "mine, line 2: a line is"),
        ("\n".join(f"[{number}]" for number in range(200)), "categories are more than"),
    ],
)
def test_a_bad_table_is_one_sentence(text: str, said: str) -> None:
    with pytest.raises(CategoryError, match=said):
        read_categories(("mine", text))


def test_phases_of_one_label_are_one_and_a_child_has_those_of_its_parent() -> None:
    points = tuple(SamplePoint(0, 0, 100, START_NS + at * S, label, "api") for at, label in ((1, "x"), (2, "y"), (3, "x"), (4, "")))
    profile = build_profile(
        [("main", 2**at, 0, {"at": at, "thread": at % 2}) for at in range(6)],
        processes=(PROCESS, PROCESS._replace(pid=200, parent_pid=100)),
        threads=(THREAD, THREAD._replace(process=1, tid=200)),
        points=points,
    )
    assert list(shares(profile, "label").items()) == [("(before the first label)", 1.0), ("x", 2.0 + 8 + 16 + 32), ("y", 4.0)]


def test_a_wait_is_shown_where_it_was_and_not_where_it_ended() -> None:
    """Of one thread no more can pass in a step than a step takes."""
    profile = waiting_profile()
    wall = timeline(profile._replace(metrics=shown_metrics(profile.metrics, ["wall"])), 20, is_by_thread=True)
    assert [row.cpu for row in wall.rows] == [15.0, 9.0]
    assert wall.step == pytest.approx(1.0)
    assert [round(step, 6) for step in wall.rows[0].steps] == [1.0] * 15 + [0.0] * 5
    cpu = timeline(profile, 20, is_by_thread=True)
    assert [max(row.steps) for row in cpu.rows] == [3.0, 1.0], "what was sampled has the time of its sample"


def test_the_hot_path_ends_where_the_time_divides() -> None:
    path = hot_path(build_profile([("main;run;a;x", 5, 0), ("main;run;b", 4, 0), ("main;run;c", 3, 0), ("main;run", 1, 0), ("main;other", 2, 0)]))
    assert [(node.title, node.parent, node.inclusive[0]) for node in path.nodes] == [("main", None, 15.0), ("run", 0, 13.0)]
    assert [node.title for node in path.callees] == ["a", "b", "c"]
    assert hot_path(build_profile([])).nodes == []


def test_what_the_hot_path_passes_by_is_known() -> None:
    path = hot_path(build_profile([("main;a;x", 5, 0), ("main;b", 4, 0), ("main;c", 0.5, 0), ("other", 7, 0)]))
    assert [node.title for node in path.nodes] == ["main", "a", "x"]
    assert [(caller.title, callee.title) for caller, callee in path.beside] == [("main", "b")], "other has less than three quarters of main"


@pytest.mark.parametrize("seed", range(20))
def test_call_paths_of_a_run_add_up_to_its_functions(seed: int) -> None:
    profile = random_profile(random.Random(seed))
    paths, whole = path_run(profile), function_run(profile)
    times: dict[tuple[object, ...], float] = {}
    for key, measure in paths.times.items():
        times[key[:3]] = times.get(key[:3], 0.0) + measure.time
    assert times == {key: pytest.approx(measure.time) for key, measure in whole.times.items()}
    assert paths.total == whole.total
    assert all(row.change.verdict == "none" and not row.change.difference for row in compare([paths], [paths], "path").rows)


@pytest.mark.parametrize("seed", range(20))
def test_the_hot_path_is_a_branch_of_the_tree(seed: int) -> None:
    profile = random_profile(random.Random(seed))
    tree, path = call_tree(profile), hot_path(profile)
    known = {(node.title, node.inclusive) for node in tree}
    assert {(node.title, node.inclusive) for node in (*path.nodes, *path.callees)} <= known
    if path.nodes:
        end = path.nodes[-1]
        assert end.inclusive[0] == pytest.approx(end.exclusive[0] + sum(node.inclusive[0] for node in path.callees))
    short = steps_of(path, 0.01 * total_values(profile)[0])
    assert [node.id for node in short] == sorted({node.id for node in short}) and (not short or short[-1] is path.nodes[-1])


def steps(*samples: tuple) -> list[str]:
    return [node.title for node in steps_of(hot_path(build_profile(samples)), 0.5)]


def test_the_hot_path_in_short_has_its_steps_alone() -> None:
    assert steps(("_start;main;run;a", 3, 0), ("_start;main;run;b", 3, 0), ("_start;main;run", 1, 0), ("_start;main;x", 1, 0)) == ["main", "run"]
    assert steps(("main;run;a", 3, 0), ("main;run;b", 3, 0), ("main;run;c", 3, 0)) == ["run"]
    assert steps(("main;test+0x10;run;a", 3, 0), ("main;test+0x10;run", 1, 0), ("main", 1, 0)) == ["main", "run", "a"]


def test_the_hot_path_in_short_says_nothing_of_one_function_or_of_code_without_names() -> None:
    assert steps() == steps(("main;run", 3, 0)) == []
    assert steps(("main;run", 3, 0), ("main", 2, 0)) == ["main", "run"]
    assert steps(("main;run;test+0x20", 3, 0), ("main;run", 1, 0), ("main", 1, 0)) == []


def test_stacks_are_cut_once() -> None:
    cut = select(build_profile([("main;a;b;a;c", 1, 0)]), focus="^b$")
    assert [row.function.name for row in functions(cut)] == ["c", "a", "b"]
    assert [row.function.name for row in functions(select(cut, callers_of="^a$"))] == ["a", "b"]
    with pytest.raises(FilterError, match="cannot be cut so once more"):
        select(cut, focus="^a$")
