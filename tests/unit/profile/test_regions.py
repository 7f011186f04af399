"""test_regions -- parallel regions and calls of categories: every figure from a few stacks that can be added up by hand"""

from __future__ import annotations

import pytest
from tiny_profile import THREAD, build_profile

from collector.profile.categories import CategoryError, read_categories
from collector.profile.category_calls import category_calls
from collector.profile.model import PYTHON, Profile
from collector.profile.regions import RegionRow, regions
from collector.reports import regions as regions_text
from collector.reports.style import Style

CATEGORIES = read_categories()
WAIT = "wait_in_libgomp.so.1+0x10@libgomp.so.1"


def of(*samples: tuple[str, float, int]) -> Profile:
    """The profile of stacks with a time and a thread."""
    threads = [THREAD._replace(tid=100 + number) for number in range(1 + max(thread for _, _, thread in samples))]
    return build_profile([(stack, time, 0, {"thread": thread}) for stack, time, thread in samples], threads=threads)


def found(profile: Profile) -> dict[str, RegionRow]:
    return {f"{row.function.name.removesuffix(' [parallel]')}:{row.line}": row for row in regions(profile, CATEGORIES)}


def test_a_region_has_its_threads_work_waiting_and_overhead() -> None:
    rows = found(of(
        ("main;solve:7;solve [parallel]:7;solve._omp_fn.0;work", 3, 0),
        ("main;solve:7;solve [parallel]:7;solve._omp_fn.0;work", 1, 1),
        (f"main;solve:7;solve [parallel]:7;gomp_thread_start@libgomp.so.1;{WAIT}", 2, 1),
        ("main;solve:7;solve [parallel]:7;GOMP_parallel@libgomp.so.1", 0.5, 0),
        ("main;work", 4, 0),
    ))  # fmt: skip
    (row,) = rows.values()
    assert list(rows) == ["solve:7"]
    assert (row.thread_count, row.inclusive[0], row.wait[0], row.overhead[0]) == (2, 6.5, 2.0, 0.5)
    assert row.imbalance == pytest.approx(3.5 / 2.25 - 1)


def test_regions_of_one_function_are_told_apart_by_line() -> None:
    rows = found(of(("main;solve:7;solve [parallel]:7;work", 3, 0), ("main;solve:9;solve [parallel]:9;work", 1, 0), ("other;solve:9;solve [parallel]:9;work", 2, 0)))
    assert {name: row.inclusive[0] for name, row in rows.items()} == {"solve:7": 3.0, "solve:9": 3.0}


def test_what_an_inner_region_takes_is_time_of_both_and_waiting_of_one() -> None:
    inner = "main;solve:7;solve [parallel]:7;part:3;part [parallel]:3"
    rows = found(of(
        (f"{inner};work", 3, 0),
        (f"{inner};work", 1, 2),
        (f"{inner};{WAIT}", 2, 2),
        (f"main;solve:7;solve [parallel]:7;{WAIT}", 1, 0),
        ("main;solve:7;solve [parallel]:7;work", 1, 1),
    ))  # fmt: skip
    assert {name: (row.thread_count, row.inclusive[0], row.wait[0]) for name, row in rows.items()} == {"solve:7": (2, 8.0, 1.0), "part:3": (2, 6.0, 2.0)}
    assert rows["solve:7"].imbalance == pytest.approx(3 / 2 - 1)  # thread 2 is of the inner team alone
    assert rows["part:3"].imbalance == pytest.approx(3 / 2 - 1)


def test_threads_that_follow_each_other_are_one_of_the_team() -> None:
    profile = of(*[("main:7;main [parallel]:7;work", 1, thread) for thread in range(3)])
    first, second, third = profile.threads
    half_ns = (first.start_ns + first.end_ns) // 2
    (row,) = found(profile._replace(threads=(first, second._replace(end_ns=half_ns), third._replace(start_ns=half_ns)))).values()
    assert (row.thread_count, row.imbalance) == (2, pytest.approx(2 / 1.5 - 1))


def test_a_program_without_regions_has_none() -> None:
    assert regions(of(("main;work", 1, 0)), CATEGORIES) == []


def test_calls_are_those_of_the_code_around_the_category() -> None:
    profile = of(
        ("main;exchange:4;MPI_Send@libmpi.so.40;PMPI_Wait@libmpi.so.40;poll@libc.so.6", 3, 0),
        ("main;exchange:5;MPI_Send@libmpi.so.40", 1, 0),
        ("main:12;MPI_Allreduce@libmpi.so.40;add_up:2;work", 5, 0),
        ("main:12;MPI_Allreduce@libmpi.so.40;add_up:2;MPI_Send@libmpi.so.40", 2, 0),
        ("MPI_Finalize@libmpi.so.40", 1, 0),
        ("main;work", 7, 0),
    )
    rows = category_calls(profile, CATEGORIES, "mpi")
    assert [(row.function.name, row.caller and row.caller.name, row.line, row.values[0]) for row in rows] == [
        ("MPI_Send", "exchange", 4, 3.0), ("MPI_Send", "add_up", 2, 2.0), ("MPI_Finalize", None, None, 1.0), ("MPI_Send", "exchange", 5, 1.0),
    ]  # fmt: skip



def test_a_wrapper_without_a_name_gives_way_to_the_python_function_that_called_it() -> None:
    profile = of(
        ("main;add_up:7;MPI.so+0x40@MPI.so;MPI_Recv@libmpi.so.40", 3, 0),
        ("main;add_up:7;__pyx_pw_send@MPI.so;MPI_Send@libmpi.so.40", 2, 0),
        ("main;add_up:7;MatMult@libpetsc.so;MPI_Allreduce@libmpi.so.40", 1, 0),
    )
    frames = [frame._replace(kind=PYTHON) if profile.functions[frame.function].name == "add_up" else frame for frame in profile.frames]
    rows = category_calls(profile._replace(frames=tuple(frames)), CATEGORIES, "MPI")
    assert [(row.function.name, row.caller and row.caller.name, row.line) for row in rows] == [
        ("MPI_Recv", "add_up", 7), ("MPI_Send", "add_up", 7), ("MPI_Allreduce", "MatMult", None),
    ]  # fmt: skip


def test_an_unknown_category_is_an_error() -> None:
    profile = of(("main", 1, 0))
    with pytest.raises(CategoryError, match="no category 'ocean'"):
        category_calls(profile, CATEGORIES, "ocean")


@pytest.mark.parametrize(("work_count", "shown"), [(1, "-"), (9, "-"), (10, "100.0")])
def test_an_imbalance_of_few_samples_is_not_shown(work_count: int, shown: str) -> None:
    """Two threads wait; the little work that was seen all happened to be in one of them."""
    inside = "main;solve:7;solve [parallel]:7"
    waiting = [(f"{inside};gomp_thread_start@libgomp.so.1;{WAIT}", 5.0, thread) for thread in (0, 1)] * 5
    profile = of(*waiting, *[(f"{inside};solve._omp_fn.0;work", 1.0, 1)] * work_count)
    text = regions_text.render(profile, regions(profile, CATEGORIES), None, Style(100))
    (row,) = [line for line in text.splitlines() if "solve" in line]
    assert row.split()[4] == shown
    assert ("fewer than 10 samples" in text) == (shown == "-")
