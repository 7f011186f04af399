"""test_metric_views -- views of metrics other than CPU time: what waited, and what was counted"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from small_experiment import BASE, PID, begin, clock, close, mapping, samples, source, thread_end
from writer import frame

from collector.cli.main import main

SHORT, LONG = (BASE + 0x2010, BASE + 0x1010), (BASE + 0x3010, BASE + 0x1010)
FUNCTIONS = {"prog+0x2010": "runs", "prog+0x3010": "waits"}


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    return _experiment(tmp_path)


def _experiment(tmp_path: Path, **of_process: object) -> Path:
    """Function 0x2010 runs for 10 ms and has 40 faults, 0x3010 runs for 1 ms, waits 70 ms, with a standard error of 20 ms, and is ready for 3 ms; 0x1010 calls both."""
    stacks = [(SHORT, 0), (LONG, 0)]
    records = [begin(**of_process), clock(), mapping(), source(2, ["blocked ns", "runnable ns", "variance 1e-10s2"], "looks"), source(3, ["minor_faults"], "minor_faults-samples")]
    records += [samples(stacks, [0, 0, 1], user_us=[5000, 5000, 1000]), samples(stacks, [1, 1], source=2, values=[[60_000, 10_000], [3000, 0], [4_000_000, 0]])]
    records += [samples(stacks, [0], source=3, values=[[40]]), thread_end(PID, user_ns=11_000_000), close()]
    directory = tmp_path / "a.expt"
    directory.mkdir()
    (directory / f"{PID}.0.log").write_bytes(b"".join(frame(record, number) for number, record in enumerate(records)))
    return directory


def lines_of(capsys: pytest.CaptureFixture[str], experiment: Path, *words: str) -> list[list[str]]:
    """The lines of a report, as words."""
    assert main(["report", str(experiment), *words, "-w", "180"]) == 0
    return [line.split() for line in capsys.readouterr().out.splitlines()]


def row_of(lines: list[list[str]], name: str) -> list[str]:
    """The line that names a function."""
    return next(line for line in lines if name in line)


def test_where_there_is_wall_time_it_comes_first(capsys: pytest.CaptureFixture[str], experiment: Path) -> None:
    lines = lines_of(capsys, experiment, "functions")
    assert lines[3] == "wall s % system cpu s blocked s runnable s minor_faults looks wall s %".split()
    assert row_of(lines, "prog+0x3010")[:8] == ["0.074", "88.1", "0.000", "1", "0.001", "0.070", "0.003", "0"]
    assert lines.index(row_of(lines, "prog+0x3010")) < lines.index(row_of(lines, "prog+0x2010"))


def test_a_metric_over_ranks(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    experiment = _experiment(tmp_path, rank=3, local_rank=0)
    lines = lines_of(capsys, experiment, "functions", "--by", "rank", "--metric", "minor_faults")
    assert lines[2][:4] == "Exclusive minor_faults Rank Imbalance".split()
    assert row_of(lines, "prog+0x2010")[:4] == ["40", "40", "40", "0"]
    assert "1 rank: minor_faults 40 on average, from 40 (rank 3)".split() in [line[:10] for line in lines]
    lines = lines_of(capsys, experiment, "--by", "rank", "--metric", "blocked")
    assert "blocked 0.070 s on average, from 0.070 s (rank 3)".split() in [line[:10] for line in lines]


def test_a_metric_is_asked_for(capsys: pytest.CaptureFixture[str], experiment: Path) -> None:
    lines = lines_of(capsys, experiment, "functions", "--metric", "cpu")
    assert row_of(lines, "prog+0x2010")[:2] == ["0.010", "90.9"]
    lines = lines_of(capsys, experiment, "functions", "--metric", "minor_faults,cpu")
    assert lines[3] == "minor_faults % system cpu s minor_faults %".split()
    assert row_of(lines, "prog+0x2010")[:5] == ["40", "100.0", "0.000", "2", "0.010"]
    lines = lines_of(capsys, experiment, "calltree", "--metric", "blocked")
    assert row_of(lines, "prog+0x3010")[:3] == ["0.070", "100.0", "1"] and not any("prog+0x2010" in line for line in lines)
    lines = lines_of(capsys, experiment, "hotpath", "--metric", "minor_faults")
    assert row_of(lines, "prog+0x2010")[:2] == ["40", "100.0"]
    assert "Together 40 of minor_faults are in it".split() == lines_of(capsys, experiment, "callers-callees", "prog+0x2010", "--metric", "minor_faults")[-3][:7]


@pytest.mark.parametrize("view", ["lines", "objects", "threads", "processes", "timeline", "pcs"])
def test_every_table_takes_it(capsys: pytest.CaptureFixture[str], experiment: Path, view: str) -> None:
    assert any(word in ("40", "blocked") for line in lines_of(capsys, experiment, view, "--metric", "minor_faults") for word in line)
    assert any("0.070" in line for line in lines_of(capsys, experiment, view, "--metric", "blocked"))


def test_documents_have_all_that_are_shown(capsys: pytest.CaptureFixture[str], experiment: Path) -> None:
    assert main(["report", str(experiment), "functions", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    names = ["wall", "user", "system", "samples", "cpu", "blocked", "runnable", "minor_faults", "looks"]
    assert [metric["name"] for metric in document["metrics"]] == names and list(document["total"]) == names
    assert document["total"]["wall"] == 0.084 and document["total"]["looks"] == 2 and document["total"]["samples"] == 3
    assert document["rows"][0]["exclusive"]["blocked"] == 0.07


def test_the_error_of_waiting(capsys: pytest.CaptureFixture[str], experiment: Path) -> None:
    """What all rows add up to is exact; what a filter leaves is not."""
    words = ["functions", "--metric", "blocked,runnable", "--errors"]
    lines = lines_of(capsys, experiment, *words)
    assert lines[3] == "blocked s ± % system runnable s blocked s ± %".split()
    assert row_of(lines, "prog+0x3010")[:3] == ["0.070", "0.000", "100.0"]
    assert row_of(lines_of(capsys, experiment, *words, "--function", "x3010"), "prog+0x3010")[:3] == ["0.070", "0.039", "100.0"]
    assert main(["report", str(experiment), *words, "--leaf", "x3010", "--json"]) == 0
    (row, *_) = json.loads(capsys.readouterr().out)["rows"]
    assert row["exclusive"]["error"] == pytest.approx(1.96 * 0.02)


def test_the_error_of_an_event_is_that_of_its_own_samples(capsys: pytest.CaptureFixture[str], experiment: Path) -> None:
    """One sample stands for all 40: its distribution ends at 5.57 with 97.5 % probability, whatever samples of CPU time there are."""
    assert main(["report", str(experiment), "functions", "--metric", "minor_faults", "--errors", "--json"]) == 0
    (row, *_) = json.loads(capsys.readouterr().out)["rows"]
    assert row["exclusive"]["error"] == pytest.approx(40 * 4.5716) and row["exclusive"]["samples"] == 2


@pytest.mark.parametrize("metric", [[], ["--metric", "wall"], ["--metric", "user"], ["--metric", "looks"]])
def test_no_error_is_shown_that_is_not_known(capsys: pytest.CaptureFixture[str], experiment: Path, metric: list[str]) -> None:
    assert main(["report", str(experiment), "functions", *metric, "--errors"]) == 2
    assert "--errors goes with --metric cpu or blocked" in capsys.readouterr().err


def test_a_metric_that_there_is_not(capsys: pytest.CaptureFixture[str], experiment: Path) -> None:
    assert main(["report", str(experiment), "functions", "--metric", "cpu,cycles"]) == 2
    told = capsys.readouterr().err
    assert "there is no metric 'cycles' here; there are cpu, user, system, samples, wall, blocked, runnable, minor_faults, looks\n" in told
    assert main(["report", str(experiment), "functions", "--metric", "runnable", "--errors"]) == 2
    assert "sampling errors are known of CPU time, waiting and events of -h, not of runnable" in capsys.readouterr().err
