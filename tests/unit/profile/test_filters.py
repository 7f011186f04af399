"""test_filters -- parts of a profile"""

from __future__ import annotations

import pytest
from busy_profile import LOAD
from tiny_profile import PROCESS, S, START_NS, THREAD, build_profile

from collector.profile.aggregate import total_values
from collector.profile.filters import FilterError, select
from collector.profile.metric_series import MetricSeries
from collector.profile.sample_point import SamplePoint

PROCESSES = (PROCESS, PROCESS._replace(pid=200))
THREADS = (THREAD, THREAD._replace(tid=101), THREAD._replace(process=1, tid=200))
PROFILE = build_profile(
    [("main", 1, 0), ("main", 2, 0, {"thread": 1}), ("main", 4, 0, {"thread": 2}), ("main", 8, 0)],
    processes=PROCESSES,
    threads=THREADS,
    points=(SamplePoint(0, 0, 100, START_NS, "a", "api"), SamplePoint(1, 0, 200, START_NS + 2 * S, "b", "api")),
)


def seconds(**what) -> float:
    return total_values(select(PROFILE, **what))[0]


def test_nothing_chosen_is_everything() -> None:
    assert seconds() == 15.0


def test_threads_and_processes_are_chosen_by_their_ids() -> None:
    assert seconds(pids=[100]) == 11.0
    assert seconds(pids=[200]) == 4.0
    assert seconds(tids=[101]) == 2.0
    assert seconds(tids=[100, 200]) == 13.0
    assert seconds(pids=[200], tids=[101]) == 0.0


def test_processes_and_threads_are_chosen_by_patterns_of_their_names() -> None:
    processes = (PROCESS, PROCESS._replace(pid=200, executable="/bin/other"))
    threads = (THREAD, THREAD._replace(tid=101, name="worker 1"), THREAD._replace(process=1, tid=200, name="worker 2"))
    profile = PROFILE._replace(processes=processes, threads=threads)

    def of(**what) -> float:
        return total_values(select(profile, **what))[0]

    assert of(pids=["oth*"]) == of(pids=["/bin/*"]) == of(pids=[200]) == 4.0
    assert of(pids=["test", 200]) == 15.0
    assert of(tids=["worker ?"]) == 6.0
    assert of(pids=["other"], tids=["worker *"]) == 4.0
    assert [point.label for point in select(profile, pids=["other"]).points] == ["b"]


def test_a_program_is_also_chosen_by_the_name_it_was_called_by() -> None:
    profile = PROFILE._replace(processes=(PROCESS._replace(executable="/bin/x86_64-linux-gnu-ld.bfd", arguments=("/usr/bin/ld", "-o")), PROCESSES[1]))
    assert total_values(select(profile, pids=["ld"]))[0] == 11.0


def test_what_was_chosen_is_told_in_words() -> None:
    assert PROFILE.filters == ()
    assert select(PROFILE, pids=[100, "test"], ignore=["x*"], lock=None).filters == ("process 100", "process test", "without x*")
    assert select(PROFILE, start_ns=START_NS + S // 2, end_ns=START_NS + 3 * S).filters == ("from 0.500 s to 3.000 s",)
    assert select(select(PROFILE, end_ns=START_NS + 3 * S), between=["a", "b"]).filters == ("to 3.000 s", "between a and b")


def test_what_fits_nothing_is_an_error() -> None:
    for what in ({"pids": [4]}, {"tids": ["work*"]}, {"modules": ["lib*"]}, {"functions": ["^mai$"]}, {"leaf": ["x"]}, {"leaf": ["("]}):
        with pytest.raises(FilterError, match="there is no|is on any stack|no regular expression"):
            select(PROFILE, **what)
    for labels, said in ((("c", "b"), "no sample point has the label 'c'"), (("b", "a"), "no sample point after 'b' has the label 'a'")):
        with pytest.raises(FilterError, match=said):
            select(PROFILE, between=labels)


def test_between_two_labels() -> None:
    assert seconds(between=("a", "b")) == 3.0
    assert seconds(between=("a", "b"), start_ns=START_NS + S) == 2.0
    assert seconds(between=("a", "b"), end_ns=START_NS + S, tids=[100]) == 1.0


STACKS = build_profile(
    [("main;read@libc.so.6", 1, 0), ("main;work", 2, 0), ("main;work;read@libc.so.6", 4, 0), ("start;work", 8, 0), ("main;work;work", 16, 0)]
)


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        ({"functions": ["work"]}, 30.0),
        ({"functions": ["work", "^main$"]}, 22.0),
        ({"functions": ["^(read|start)$"]}, 13.0),
        ({"leaf": ["^w"]}, 26.0),
        ({"leaf": ["read"], "functions": ["work"]}, 4.0),
        ({"leaf": ["read", "work"]}, 0.0),
        ({"modules": ["libc*"]}, 5.0),
        ({"modules": ["/usr/bin/test"]}, 31.0),
        ({"modules": ["libc*"], "functions": ["work"], "leaf": ["read"], "end_ns": START_NS + 2 * S}, 0.0),
    ],
)
def test_stacks_are_chosen_by_what_is_on_them(what: dict, expected: float) -> None:
    assert total_values(select(STACKS, **what))[0] == expected


def test_a_part_of_a_part_has_both() -> None:
    part = select(select(STACKS, functions=["work"]), functions=["main"])
    assert total_values(part)[0] == total_values(select(STACKS, functions=["main", "work"]))[0]
    for number in range(5):
        part = select(part, leaf=[f"work|{number}"])
    assert total_values(part)[0] == 18.0


def test_a_span_of_time_includes_its_start_and_not_its_end() -> None:
    assert seconds(start_ns=START_NS + S, end_ns=START_NS + 3 * S) == 6.0
    assert seconds(start_ns=START_NS + 3 * S) == 8.0
    assert seconds(end_ns=START_NS) == 0.0


def test_spans_are_cut_from_spans() -> None:
    cut = select(PROFILE, start_ns=START_NS + S, end_ns=START_NS + 3 * S)
    whole = [total_values(select(PROFILE, start_ns=START_NS + i * S, end_ns=START_NS + (i + 1) * S))[0] for i in range(4)]
    assert total_values(cut)[0] == whole[1] + whole[2]
    assert total_values(select(cut, start_ns=START_NS + 2 * S))[0] == whole[2]
    assert total_values(select(cut, end_ns=START_NS + 2 * S))[0] == whole[1]


def test_sample_points_are_chosen_with_the_samples() -> None:
    assert [point.label for point in select(PROFILE, pids=[200]).points] == ["b"]
    assert [point.label for point in select(PROFILE, end_ns=START_NS + S).points] == ["a"]


def test_what_the_launcher_read_belongs_to_no_process() -> None:
    series = (MetricSeries(LOAD, 0, (START_NS,), (S,), (1.5,)), MetricSeries(LOAD, None, (START_NS,), (S,), (1.5,), node="engine"))
    profile = PROFILE._replace(series=series)
    assert [part.process for part in select(profile).series] == [0, None]
    assert [part.process for part in select(profile, pids={100}).series] == [0]
