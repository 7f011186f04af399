"""test_import_command -- `collector import`: what it makes, what it says, and what it leaves behind when it cannot"""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from collector.cli.main import main

_FOLDED = "main;work 5\nmain 2\n"


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "stacks.folded.txt").write_text(_FOLDED)
    return tmp_path


def test_experiments_are_named_after_the_file(here, capsys):
    assert main(["import", "stacks.folded.txt"]) == 0
    assert main(["import", "stacks.folded.txt", "--unit", "10ms"]) == 0
    assert capsys.readouterr().out == (
        "stacks.1.expt: 7 samples from folded, shown as 0.007 s\nstacks.2.expt: 7 samples from folded, 0.070 s\n"
    )
    assert sorted(os.listdir("stacks.1.expt")) == ["1.0.log", "launch.log"]


def test_every_view_shows_it(here, capsys):
    main(["import", "stacks.folded.txt", "-o", "x.expt"])
    for words in ([], ["functions"], ["lines"], ["objects"], ["calltree"], ["callers-callees", "work"], ["threads"], ["processes"], ["samples"],
                  ["hotpath"], ["header"], ["timeline"], ["function", "work"], ["pcs"], ["overview", "--by", "module"], ["functions", "--function", "work"],
                  ["functions", "--thread", "1"], ["functions", "--process", "1"], ["functions", "--time", "0-1"], ["calltree", "--bottom-up"]):  # fmt: skip
        capsys.readouterr()
        assert main(["report", "x.expt", *words]) == 0, words
        assert "1 s stands for 1,000 of them" in " ".join(capsys.readouterr().out.split()), words
    assert main(["report", "x.expt", "timeline"]) == 0
    assert "The samples of x.expt have no times" in capsys.readouterr().out
    assert main(["events", "x.expt"]) == 0
    assert main(["archive", "x.expt", "--sources"]) == 0
    assert main(["import", "stacks.folded.txt", "-o", "y.expt"]) == main(["compare", "x.expt", "--", "y.expt"]) == 0
    capsys.readouterr()
    assert main(["report", "x.expt", "disasm", "work"]) == 1
    assert "it was imported, and nothing says which build of (module not given) it was" in capsys.readouterr().err


def test_standard_input(here, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(_FOLDED.encode())))
    assert main(["import", "-"]) == 0
    assert capsys.readouterr().out.startswith("stdin.1.expt: 7 samples")


def test_a_pipe_is_read_to_its_end(here):
    done = subprocess.run([sys.executable, "-m", "collector", "import", "-", "-o", "p.expt"], input=_FOLDED * 50_000, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "") and "350,000 samples" in done.stdout


@pytest.mark.parametrize(
    ("words", "status", "sentence"),
    [
        (["missing"], 1, "there is no file missing"),
        (["."], 1, ". cannot be read: it is a directory, not a regular file"),
        (["empty"], 1, "empty is empty"),
        (["stacks.folded.txt", "--unit", "soon"], 2, "--unit is a time such as 10ms, 1us or 250us, not 'soon'"),
        (["stacks.folded.txt", "--unit", "0ms"], 2, "--unit is a time such as"),
        (["stacks.folded.txt", "--format", "pprof"], 1, "stacks.folded.txt is damaged, cut off, or no profile of pprof"),
        (["stacks.folded.txt", "--value", "cpu"], 1, "has one value, samples, and no 'cpu'"),
        (["stacks.folded.txt", "-o", "."], 1, ". is there already"),
        (["stacks.folded.txt", "-o", "a", "-O", "b"], 2, "one of them is enough"),
        (["stacks.folded.txt", "-O", "."], 2, "is not an experiment, so -O does not touch it"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(here, capsys, words, status, sentence):
    (here / "empty").touch()
    before = sorted(os.listdir("."))
    assert main(["import", *words]) == status
    told = capsys.readouterr()
    assert told.err.startswith("collector: ") and sentence in told.err and told.err.count("\n") == 1 and not told.out
    assert sorted(os.listdir(".")) == before


def test_an_experiment_is_overwritten_only_if_asked(here, capsys):
    assert main(["import", "stacks.folded.txt", "-o", "x.expt"]) == 0
    assert main(["import", "stacks.folded.txt", "-O", "x.expt", "--unit", "1s"]) == 0
    assert "7.000 s" in capsys.readouterr().out


def test_on_a_full_disk_nothing_is_left(here, monkeypatch, capsys):
    def full(descriptor: int, data: bytes) -> int:
        return len(data) // 2

    monkeypatch.setattr("collector.experiment.log_writer.os.write", full)
    assert main(["import", "stacks.folded.txt", "-o", "x.expt"]) == 1
    monkeypatch.undo()
    assert "x.expt cannot be written: no space left on device" in capsys.readouterr().err
    assert not (here / "x.expt").exists()
