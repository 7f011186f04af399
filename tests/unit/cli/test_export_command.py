"""test_export_command -- `collector export` as a user meets it: formats, filters, where it goes, and what cannot be done"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import read_back
from small_experiment import write_small

from collector.cli.export import FORMATS
from collector.cli.main import main
from collector.load import load
from collector.load.serial import write_profile
from collector.profile import aggregate


@pytest.fixture(autouse=True)
def experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two stacks of a program whose file is gone."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    write_small(tmp_path / "small.expt")


def complaint(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    """Status and the one sentence of a command that fails."""
    status = main(["export", *words])
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.count("\n") == 1
    return status, captured.err.removeprefix("collector: ").rstrip()


def total_ns() -> int:
    return round(aggregate.total_values(load(("small.expt",)))[0] * 1e9)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_goes_to_a_file_and_to_standard_output(name: str, capfdbinary) -> None:
    if name in ("parquet", "arrow"):
        pytest.importorskip("pyarrow", reason="this system has no pyarrow")
    assert main(["export", "small.expt", "--format", name, "-o", "out"]) == 0
    assert main(["export", "small.expt", "-f", name]) == 0
    captured = capfdbinary.readouterr()
    assert captured.out == Path("out").read_bytes() and captured.err == b""
    reader = {"json": "sample_json", "csv": "sample_csv"}.get(name, name.replace("-", "_"))
    if name == "callgrind":
        assert sum(own for own, _ in read_back.callgrind(captured.out).values()) == total_ns()
    elif hasattr(read_back, reader):
        assert abs(getattr(read_back, reader)(captured.out).total() - total_ns()) <= 1000


def test_filters_are_those_of_report(capfdbinary) -> None:
    assert main(["export", "small.expt", "-f", "folded", "--unit", "samples", "--time", "0-1000"]) == 0
    everything = capfdbinary.readouterr().out
    assert main(["export", "small.expt", "-f", "folded", "--unit", "samples", "--time", "900-1000"]) == 0
    assert everything and not capfdbinary.readouterr().out


def test_several_experiments_are_one(tmp_path: Path, capfdbinary) -> None:
    write_small(tmp_path / "other.expt")
    assert main(["export", "small.expt", "other.expt", "-f", "pprof"]) == 0
    message = read_back.pprof_message(capfdbinary.readouterr().out)
    labels = {labels["experiment"] for _, _, labels in read_back.pprof_samples(message)}
    assert labels == {"small.expt", "other.expt"}


def test_an_unknown_format(capsys) -> None:
    assert complaint(capsys, "small.expt", "-f", "svg") == (2, f"there is no format 'svg'; the formats are {', '.join(FORMATS)}")


def test_options_of_one_format(capsys) -> None:
    assert complaint(capsys, "small.expt", "-f", "pprof", "--unit", "us") == (2, "--unit is for the format folded, not for pprof")
    assert complaint(capsys, "small.expt", "-f", "pprof", "--fold-recursion")[1].startswith("--fold-recursion is for folded, speedscope")
    assert complaint(capsys, "small.expt", "-f", "csv", "--threads") == (2, "--threads is for the format folded, not for csv")


@pytest.mark.parametrize("name", ["pprof", "parquet", "arrow"])
def test_what_is_no_text_does_not_go_to_a_terminal(name: str, capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert complaint(capsys, "small.expt", "-f", name) == (2, f"{name} is not text for a terminal: -o FILE says where it goes")


@pytest.mark.parametrize("name", [name for name in FORMATS if name not in ("parquet", "arrow")])
def test_a_profile_in_a_file_has_no_samples(name: str, capsys) -> None:
    write_profile(load(("small.expt",)), "small.profile")
    for words in ((), ("--time", "0-1")):
        status, sentence = complaint(capsys, "small.profile", "-f", name, "-o", "out", *words)
        assert status == 2 and sentence.startswith("a profile file has no samples") and not Path("out").exists()


@pytest.mark.parametrize("name", ["parquet", "arrow"])
def test_without_pyarrow(name: str, capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    sentence = "parquet and arrow need the package pyarrow: pip install 'collector[parquet]'"
    assert complaint(capsys, "small.expt", "-f", name, "-o", "out") == (1, sentence)
    assert not Path("out").exists()


def test_a_file_that_cannot_be_written(capsys) -> None:
    assert complaint(capsys, "small.expt", "-f", "csv", "-o", "no/where") == (1, "no/where cannot be written: no such file or directory")
    assert complaint(capsys, "missing.expt", "-f", "csv")[0] == 1


def test_metrics_are_for_formats_with_room_for_them(capsys) -> None:
    assert complaint(capsys, "small.expt", "-f", "chrome", "--metric", "user") == (2, "chrome shows CPU time over time, and takes no --metric")
    assert complaint(capsys, "small.expt", "-f", "folded", "--metric", "user,system") == (2, "folded has one number a stack: --metric NAME")
    assert main(["export", "small.expt", "-f", "csv", "--metric", "user,system"]) == 0
