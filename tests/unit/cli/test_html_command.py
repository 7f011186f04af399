"""test_html_command -- what `collector html` and `collector open` write, where, and what they say if they cannot"""

from __future__ import annotations

from pathlib import Path

import pytest
from small_experiment import BASE, PID, S, T0, begin, clock, close, mapping, samples, thread_end, write_log
from unpacked import unpacked

from collector.cli.main import main
from collector.load import load
from collector.load.serial import write_profile


@pytest.fixture
def experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return write(tmp_path / "a.expt")


def write(path: Path) -> Path:
    """An experiment with three samples."""
    stacks = [([BASE + 0x1008], 0), ([BASE + 0x5000, BASE + 0x1008], 0)]
    write_log(
        path, f"{PID}.0.log", begin(directory=str(path.parent)), clock(), mapping("/bin/extension.so"), samples(stacks, [0, 1, 1]),
        thread_end(user_ns=7_000_000), close(T0 + S, user_ns=7_000_000),
    )  # fmt: skip
    return path


def test_written_here_by_its_name(experiment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert main(["html", str(experiment)]) == 0
    text = Path("a.html").read_text()
    assert capsys.readouterr().out.startswith("a.html: ") and text.startswith("<!DOCTYPE html>") and "<title>a.expt – collector</title>" in text
    assert main(["html", str(experiment)]) == 0, "its own page is written anew"


@pytest.mark.parametrize("foreign", ["<html>mine</html>", "", "\0\1"])
def test_a_foreign_file_is_left_alone(experiment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], foreign: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.html").write_text(foreign)
    assert main(["html", str(experiment)]) == 1
    assert capsys.readouterr().err == "collector: a.html is there already and is no page of collector; -o says where to write\n"
    assert Path("a.html").read_text() == foreign
    assert main(["html", str(experiment), "-o", "a.html"]) == 0, "who names it means it"
    assert Path("a.html").read_text().startswith("<!DOCTYPE html>")


def test_where_nothing_can_be_written(experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["html", str(experiment), "-o", str(tmp_path / "none" / "a.html")]) == 1
    assert capsys.readouterr().err == f"collector: {tmp_path}/none/a.html cannot be written: no such file or directory\n"


def test_several_are_added_up(experiment: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "b.expt")
    assert main(["html", str(experiment), str(other), "-o", str(tmp_path / "both.html")]) == 0
    assert "<title>a.expt and 1 more – collector</title>" in (tmp_path / "both.html").read_text()


def test_only_what_is_asked_for(experiment: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    assert main(["html", str(experiment), "--time", "0-0.002", "-o", str(path)]) == 0
    facts, _ = unpacked(path.read_text().partition('class="experiment">')[2].partition("<")[0])
    assert facts["brief"][0] == "Shown is only: from 0.000 s to 0.002 s." and facts["samples"] == 1
    assert main(["html", str(experiment), "--process", "other", "-o", str(path)]) == 2


def test_a_profile_has_no_samples(experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One sentence, and no page."""
    write_profile(load([str(experiment)]), tmp_path / "a.profile")
    assert main(["html", str(tmp_path / "a.profile"), "-o", str(tmp_path / "a.html")]) == 2
    err = capsys.readouterr().err
    assert err == "collector: a profile file has no samples, only what views of the whole show: for this the experiment is needed\n"
    assert not (tmp_path / "a.html").exists()


def test_open_without_a_browser_says_where(experiment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.chdir(tmp_path)
    assert main(["open", str(experiment)]) == 0
    out = capsys.readouterr().out
    path = Path(next(word for word in out.split() if word.removeprefix("file://").endswith(".html")).removeprefix("file://"))
    assert path.read_text().startswith("<!DOCTYPE html>")
