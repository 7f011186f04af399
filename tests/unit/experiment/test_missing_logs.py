"""test_missing_logs -- logs that are not there any more, by what other logs say of their processes"""

from __future__ import annotations

from pathlib import Path

import pytest
from writer import LogBuilder, initialize, record

from collector.experiment.directory import open_directory
from collector.experiment.missing_logs import find_missing, tell_missing
from collector.experiment.origin import Origin
from collector.format import Kind


def write_fork(directory: Path, pid: int, parent_pid: int) -> None:
    log = LogBuilder().add(initialize(pid=pid)).add(record(Kind.PROCFORK, 2, parent_pid=parent_pid, child_pid=pid))
    (directory / f"{pid}.0.log").write_bytes(log.data)


def told(directory: Path) -> list[str]:
    return tell_missing(open_directory(directory))


def test_images_are_counted_without_gaps() -> None:
    assert find_missing([Origin(7, 0), Origin(7, 1), Origin(8, 0)], {}) == {}
    assert find_missing([Origin(7, 1), Origin(8, 0), Origin(8, 2)], {8: "/bin/a"}) == {7: "", 8: "/bin/a"}


def test_who_forked_was_recorded() -> None:
    assert find_missing([Origin(7, 0), Origin(8, 0)], {7: "/bin/a", 9: "/bin/b"}) == {9: "/bin/b"}


@pytest.mark.parametrize(("count", "sentence"), [
    (1, "a log of process 1000 is missing: other logs tell of it"),
    (3, "logs of 3 processes are missing (1000, 1001, 1002): other logs tell of them"),
    (200, "logs of 200 processes are missing (1000, 1001, 1002 and 197 more): other logs tell of them"),
])  # fmt: skip
def test_the_sentence(tmp_path: Path, count: int, sentence: str) -> None:
    for number in range(count):
        write_fork(tmp_path, 2000 + number, 1000 + number)
    assert told(tmp_path) == [sentence]


def test_nothing_is_said_of_an_experiment_that_is_whole(tmp_path: Path) -> None:
    write_fork(tmp_path, 8, 7)
    (tmp_path / "7.0.log").write_bytes(LogBuilder().add(initialize(pid=7)).data)
    assert told(tmp_path) == []


@pytest.mark.parametrize(("is_told", "sentences"), [(True, []), (False, ["a log of process 9 is missing: other logs tell of it"])])
def test_the_command_has_a_log_unless_the_launcher_says_otherwise(tmp_path: Path, is_told: bool, sentences: list[str]) -> None:
    (tmp_path / "7.0.log").write_bytes(LogBuilder().add(initialize(pid=7)).data)
    launch = LogBuilder().add(initialize()).add(record(Kind.PROCEXIT, 5, pid=9))
    if is_told:
        launch.add(record(Kind.SYSEXIT, 5, pid=9, reason="it is static"))
    (tmp_path / "launch.log").write_bytes(launch.data)
    assert told(tmp_path) == sentences
