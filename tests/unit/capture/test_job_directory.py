"""test_job_directory -- the ranks of a job make one experiment together, and never one of somebody else's"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from collector.capture.destination import is_experiment, remove_experiment
from collector.capture.job_directory import claim_node, claim_rank, joins, name_of_job, node_name
from collector.capture.rank import Rank, parse_ranks
from collector.errors import ExperimentExistsError, RecordError, UsageError


@pytest.fixture(autouse=True)
def work_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_all_ranks_join_whoever_comes_first(tmp_path: Path) -> None:
    def claim(number: int) -> str:
        return claim_rank("run.expt", Rank(number, job="77"), f"node{number % 4}")

    with ThreadPoolExecutor(16) as pool:
        claimed = list(pool.map(claim, range(64)))
    assert claimed == [str(tmp_path / "run.expt" / f"node{number % 4}" / f"rank.{number}") for number in range(64)]
    assert sorted(os.listdir("run.expt")) == ["node0", "node1", "node2", "node3", "ranks.77"]


def test_a_rank_is_recorded_once() -> None:
    own = Path(claim_rank("run.expt", Rank(3), "node"))
    assert Path(claim_rank("run.expt", Rank(3), "node")) == own  # the answer to its mkdir was lost
    (own / "launch.log").touch()
    with pytest.raises(ExperimentExistsError, match="run.expt has a rank 3 already"):
        claim_rank("run.expt", Rank(3), "node")
    claim_rank("run.expt", Rank(4), "node")


@pytest.mark.parametrize("present", ["launch.log", "notes.txt", "ranks.76", "ranks"])
def test_what_is_not_of_this_job_is_left_alone(present: str, tmp_path: Path) -> None:
    (tmp_path / "run.expt").mkdir()
    (tmp_path / "run.expt" / present).touch()
    with pytest.raises(ExperimentExistsError, match="run.expt is there already, and not of this job"):
        claim_rank("run.expt", Rank(0, job="77"), "node")
    assert os.listdir("run.expt") == [present]


def test_what_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RecordError, match=r"file/run.expt cannot be made: not a directory"):
        claim_rank("file/run.expt", Rank(0), "node")
    with pytest.raises(RecordError, match="file cannot be made: file exists"):
        claim_rank("file", Rank(0), "node")


def test_names_of_experiments_and_nodes() -> None:
    assert name_of_job("a.expt", "prog", Rank(0, job="7")) == "a.expt"
    assert name_of_job(None, "/bin/prog", Rank(5, job="17.0")) == "prog.17.0.expt"
    with pytest.raises(UsageError, match="-o NAME.expt"):
        name_of_job(None, "prog", Rank(0))
    assert [node_name(host) for host in ("n1.site", "a/b", "..", "archive", "ranks")] == ["n1.site", "a_b", "node", "archive.node", "ranks.node"]


def test_one_rank_of_a_node_reads_its_metrics() -> None:
    claimed = [claim_node(claim_rank("run.expt", Rank(number), f"node{number // 2}")) for number in range(4)]
    assert claimed == [True, False, True, False]


def test_a_job_of_one_is_no_job() -> None:
    assert [joins(rank) for rank in (None, Rank(0, size=1), Rank(0, size=2), Rank(0))] == [False, False, True, True]


def test_experiment_of_a_job_is_one_and_can_be_removed(tmp_path: Path) -> None:
    own = Path(claim_rank("run.expt", Rank(3, job="7"), "node"))
    (own / "launch.log").write_bytes(b"\xc9rest of a frame")
    claim_node(str(own))
    assert is_experiment("run.expt")
    (own / "mine.txt").touch()
    assert not is_experiment("run.expt")
    (own / "mine.txt").unlink()
    remove_experiment("run.expt")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("text, among", [
    ("0", [0]), ("0,8-10", [0, 8, 9, 10]), ("0-/4", [0, 4, 8]), ("9-", [9, 10, 11]), ("1-7/3,2", [1, 2, 4, 7]), ("20", []),
])
def test_lists_of_ranks(text: str, among: list[int]) -> None:
    ranges = parse_ranks(text)
    assert [rank for rank in range(12) if rank in ranges] == among
    assert str(ranges) == text


@pytest.mark.parametrize("text", ["", "x", "3-1", "1,,2", "0-/0", "-1", "1-2-3"])
def test_what_is_no_list_of_ranks(text: str) -> None:
    with pytest.raises(UsageError, match="--ranks"):
        parse_ranks(text)
