"""test_aggregate -- every sum, on profiles small enough to add up by hand"""

from __future__ import annotations

import random

import pytest
from tiny_profile import MS, PROCESS, RECORDING, THREAD, build_profile, random_profile, random_samples

from collector.profile import aggregate
from collector.profile.metrics import CPU_METRICS, add_values, reported_values


def test_cpu_is_user_and_system_together() -> None:
    assert reported_values(CPU_METRICS, (3.0, 1.0, 2.0)) == (4.0, 3.0, 1.0, 2.0)
    assert add_values((1.0, 2.0), (0.5, 0.5)) == (1.5, 2.5)


def test_functions_tell_exclusive_from_inclusive_time() -> None:
    profile = build_profile([("main;work;read", 3, 1), ("main;work", 5, 0), ("main", 0.5, 0.5)])
    rows = {row.function.name: row for row in aggregate.functions(profile)}
    assert rows["read"].exclusive == rows["read"].inclusive == (4.0, 3.0, 1.0, 1.0)
    assert rows["work"].exclusive == (5.0, 5.0, 0.0, 1.0)
    assert rows["work"].inclusive == (9.0, 8.0, 1.0, 2.0)
    assert rows["main"].exclusive == (1.0, 0.5, 0.5, 1.0)
    assert rows["main"].inclusive == aggregate.total_values(profile) == (10.0, 8.5, 1.5, 3.0)
    assert [row.function.name for row in aggregate.functions(profile)] == ["work", "read", "main"]


def test_recursion_counts_once_for_each_sample() -> None:
    profile = build_profile([("main;fib;fib;fib", 2, 0), ("main;fib", 1, 0), ("main;even;odd;even", 4, 0)])
    rows = {row.function.name: row for row in aggregate.functions(profile)}
    assert rows["fib"].inclusive[0] == 3.0
    assert rows["fib"].exclusive[0] == 3.0
    assert rows["even"].inclusive[0] == 4.0
    assert rows["odd"].inclusive[0] == 4.0
    assert rows["odd"].exclusive[0] == 0.0


def test_functions_without_samples_are_not_shown() -> None:
    profile = build_profile([("main;work", 1, 0), ("main;idle", 0, 0)])
    assert {row.function.name for row in aggregate.functions(profile)} == {"main", "work"}


def test_lines_of_one_function_are_apart() -> None:
    profile = build_profile([("main:3;work:12", 2, 0), ("main:4;work:12", 1, 0), ("main:4;work:14", 1, 0)])
    rows = {(row.file, row.line): row for row in aggregate.lines(profile)}
    assert rows["/src/work.c", 12].exclusive[0] == 3.0
    assert rows["/src/work.c", 14].exclusive[0] == 1.0
    assert rows["/src/main.c", 3].inclusive[0] == 2.0
    assert rows["/src/main.c", 4].inclusive[0] == 2.0


def test_code_without_lines_is_one_row_a_function() -> None:
    profile = build_profile([("main;read@libc.so.6", 2, 0), ("main;write@libc.so.6", 1, 0)])
    unknown = [row for row in aggregate.lines(profile) if row.line is None]
    assert [(row.function.name, row.exclusive[0]) for row in unknown] == [("read", 2.0), ("write", 1.0)]


def test_objects_count_a_module_once_however_often_it_is_on_the_stack() -> None:
    profile = build_profile([("main;qsort@libc.so.6;compare;memcmp@libc.so.6", 2, 0), ("main", 1, 0)])
    rows = {row.module.name: row for row in aggregate.objects(profile)}
    assert rows["libc.so.6"].exclusive[0] == rows["libc.so.6"].inclusive[0] == 2.0
    assert rows["test"].exclusive[0] == 1.0
    assert rows["test"].inclusive[0] == 3.0


def test_threads_and_processes_have_their_own_samples() -> None:
    processes = (PROCESS, PROCESS._replace(pid=200, start_ns=PROCESS.start_ns + MS))
    threads = (THREAD, THREAD._replace(tid=101), THREAD._replace(process=1, tid=200))
    profile = build_profile(
        [("main", 1, 0), ("work", 2, 1, {"thread": 1}), ("work", 1, 0, {"thread": 1}), ("main", 0, 3, {"thread": 2})],
        processes=processes,
        threads=threads,
    )
    by_thread = [(row.process.pid, row.thread.tid, row.sample_count, row.values) for row in aggregate.threads(profile)]
    assert by_thread == [
        (100, 101, 2, (4.0, 3.0, 1.0, 2.0)),
        (200, 200, 1, (3.0, 0.0, 3.0, 1.0)),
        (100, 100, 1, (1.0, 1.0, 0.0, 1.0)),
    ]
    by_process = [(row.process.pid, row.thread_count, row.sample_count, row.values) for row in aggregate.processes(profile)]
    assert by_process == [(100, 2, 3, (5.0, 4.0, 1.0, 3.0)), (200, 1, 1, (3.0, 0.0, 3.0, 1.0))]


def test_several_experiments_are_added_up() -> None:
    processes = (PROCESS, PROCESS._replace(experiment=1))
    threads = (THREAD, THREAD._replace(process=1))
    profile = build_profile(
        [("main;work", 1, 0), ("main;work", 2, 0, {"thread": 1})],
        recordings=(RECORDING, RECORDING._replace(name="test.2.expt")),
        processes=processes,
        threads=threads,
    )
    rows = {row.function.name: row for row in aggregate.functions(profile)}
    assert rows["work"].exclusive[0] == aggregate.total_values(profile)[0] == 3.0
    assert [row.values[0] for row in aggregate.processes(profile)] == [1.0, 2.0]


def test_a_gain_scales_the_samples_of_its_thread_alone() -> None:
    threads = (THREAD._replace(scale=1.5), THREAD._replace(tid=101))
    profile = build_profile([("main", 2, 0), ("work", 2, 0, {"thread": 1})], threads=threads)
    rows = {row.function.name: row.exclusive[0] for row in aggregate.functions(profile)}
    assert rows == {"main": 3.0, "work": 2.0}


def test_unfinished_stacks_are_counted_by_cause() -> None:
    profile = build_profile(
        [
            ("main", 1, 0),
            ("main", 1, 0),
            ("lost", 1, 0, {"end": "no_unwind_info"}),
            ("lost", 2, 0, {"end": "bad_frame"}),
            ("start", 1, 0, {"end": "not_sampled"}),
        ]
    )
    ends = [(row.cause, row.sample_count, row.values[0]) for row in aggregate.stack_ends(profile)]
    assert ends == [("complete", 2, 2.0), ("bad_frame", 1, 2.0), ("no_unwind_info", 1, 1.0), ("not_sampled", 1, 1.0)]


def test_an_empty_profile_has_no_rows() -> None:
    profile = build_profile([])
    assert aggregate.functions(profile) == aggregate.lines(profile) == aggregate.objects(profile) == []
    assert aggregate.total_values(profile) == (0.0, 0.0, 0.0, 0.0)
    assert aggregate.stack_ends(profile) == []


@pytest.mark.parametrize("seed", range(20))
def test_exclusive_times_add_up_to_the_total(seed: int) -> None:
    profile = random_profile(random.Random(seed))
    total = aggregate.total_values(profile)
    for view in (aggregate.functions, aggregate.lines, aggregate.objects):
        rows = view(profile)
        for position in range(3):
            assert sum(row.exclusive[position] for row in rows) == pytest.approx(total[position])
            assert all(row.exclusive[position] <= row.inclusive[position] + 1e-9 for row in rows)
            assert all(row.inclusive[position] <= total[position] + 1e-9 for row in rows)
    assert sum(row.values[0] for row in aggregate.threads(profile)) == pytest.approx(total[0])
    assert sum(row.values[0] for row in aggregate.processes(profile)) == pytest.approx(total[0])
    assert sum(row.values[0] for row in aggregate.stack_ends(profile)) == pytest.approx(total[0])


def test_inclusive_time_is_that_of_the_samples_with_the_function_on_their_stack() -> None:
    chance = random.Random(7)
    samples = random_samples(chance)
    rows = {row.function.name: row for row in aggregate.functions(build_profile(samples))}
    for name, row in rows.items():
        expected = sum(user for stack, user, *_ in samples if name in stack.split(";"))
        assert row.inclusive[1] == pytest.approx(expected)
