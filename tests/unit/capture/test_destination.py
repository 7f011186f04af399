"""test_destination -- an experiment's directory is claimed, never overwritten unasked, and nothing else is ever deleted"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from collector.capture.destination import claim_directory, is_experiment, next_name, remove_experiment
from collector.capture.event_holder import EventHolder
from collector.errors import ExperimentExistsError, RecordError, UsageError

LOG = b"\xc9rest of a frame"


@pytest.fixture(autouse=True)
def work_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def make_experiment(path: Path) -> Path:
    path.mkdir()
    (path / "7.0.log").write_bytes(LOG)
    (path / "launch.log").write_bytes(LOG)
    (path / "objects").mkdir()
    (path / "objects/plugin.so").write_bytes(b"\x7fELF")
    return path


def test_default_names_count_up(tmp_path: Path) -> None:
    assert claim_directory(None, "/usr/bin/xz", False) == str(tmp_path / "xz.1.expt")
    assert claim_directory(None, "xz", False) == str(tmp_path / "xz.2.expt")
    assert next_name("xz") == "xz.3.expt"


def test_default_names_pass_over_anything_of_that_name(tmp_path: Path) -> None:
    (tmp_path / "xz.1.expt").write_text("a file")
    (tmp_path / "xz.2.expt").symlink_to("nowhere")
    assert claim_directory(None, "xz", False).endswith("xz.3.expt")


def test_simultaneous_claims_get_different_directories() -> None:
    with ThreadPoolExecutor(8) as pool:
        claimed = list(pool.map(lambda _: claim_directory(None, "prog", False), range(64)))
    assert len(set(claimed)) == 64


def test_taken_name(tmp_path: Path) -> None:
    make_experiment(tmp_path / "a.expt")
    with pytest.raises(ExperimentExistsError, match="a.expt is there already"):
        claim_directory("a.expt", "prog", False)
    assert (tmp_path / "a.expt/7.0.log").exists()


def test_overwrite_replaces_an_experiment(tmp_path: Path) -> None:
    make_experiment(tmp_path / "a.expt")
    claim_directory("a.expt", "prog", True)
    assert os.listdir(tmp_path / "a.expt") == []


def test_overwrite_replaces_what_a_killed_launcher_left(tmp_path: Path) -> None:
    make_experiment(tmp_path / "a.expt")
    holder = EventHolder("a.expt")
    assert (tmp_path / "a.expt/launcher.socket").is_socket()
    claim_directory("a.expt", "prog", True)
    assert os.listdir(tmp_path / "a.expt") == []
    holder.close()


def test_overwrite_takes_an_archive_along(tmp_path: Path) -> None:
    place = make_experiment(tmp_path / "a.expt") / "archive/sources/home"
    place.mkdir(parents=True)
    (place / "main.c").write_text("int main")
    claim_directory("a.expt", "prog", True)
    assert os.listdir(tmp_path / "a.expt") == []


def test_an_archive_with_a_link_in_it_is_left_alone(tmp_path: Path) -> None:
    place = make_experiment(tmp_path / "a.expt") / "archive/sources"
    place.mkdir(parents=True)
    (place / "home").symlink_to(tmp_path)
    with pytest.raises(UsageError, match="is not an experiment"):
        claim_directory("a.expt", "prog", True)
    assert (place / "home").is_symlink()


def test_a_file_that_is_no_socket_is_left_alone(tmp_path: Path) -> None:
    (make_experiment(tmp_path / "a.expt") / "launcher.socket").write_text("mine")
    assert not is_experiment("a.expt")


def test_overwrite_makes_what_is_not_there(tmp_path: Path) -> None:
    claim_directory("new.expt", "prog", True)
    assert (tmp_path / "new.expt").is_dir()


@pytest.mark.parametrize("extra", ["notes.txt", "objects/../7.0.log.bak", "x.log", "7.log", ".hidden"])
def test_a_directory_with_anything_else_is_left_alone(tmp_path: Path, extra: str) -> None:
    path = make_experiment(tmp_path / "a.expt")
    (path / extra).write_text("mine")
    with pytest.raises(UsageError, match="is not an experiment"):
        claim_directory("a.expt", "prog", True)
    assert (path / extra).read_text() == "mine"
    assert (path / "7.0.log").exists()


def test_logs_that_are_something_else_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs/7.0.log").write_text("mine")
    with pytest.raises(UsageError):
        remove_experiment("logs")
    assert (tmp_path / "logs/7.0.log").exists()


def test_what_a_link_points_to_is_left_alone(tmp_path: Path) -> None:
    path = make_experiment(tmp_path / "a.expt")
    (tmp_path / "link.expt").symlink_to(path)
    with pytest.raises(UsageError):
        remove_experiment("link.expt")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "keep").write_text("mine")
    other = tmp_path / "b.expt"
    other.mkdir()
    (other / "objects").symlink_to(outside)
    assert not is_experiment(str(other))
    assert (outside / "keep").exists() and (path / "7.0.log").exists()


def test_a_directory_among_the_objects_is_left_alone(tmp_path: Path) -> None:
    path = make_experiment(tmp_path / "a.expt")
    (path / "objects/deeper").mkdir()
    assert not is_experiment(str(path))


def test_files_are_no_experiments(tmp_path: Path) -> None:
    (tmp_path / "a.expt").write_text("mine")
    with pytest.raises(UsageError):
        claim_directory("a.expt", "prog", True)
    assert (tmp_path / "a.expt").read_text() == "mine"


def test_where_nothing_can_be_made() -> None:
    with pytest.raises(RecordError, match="nosuch/a.expt cannot be made: no such file or directory"):
        claim_directory("nosuch/a.expt", "prog", False)


def test_unwritable() -> None:
    """Nobody can make a directory there, not even root."""
    with pytest.raises(RecordError, match="/sys/a.expt cannot be made: (permission denied|operation not permitted|read-only)"):
        claim_directory("/sys/a.expt", "prog", False)
