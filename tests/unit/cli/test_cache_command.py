"""test_cache_command -- what reports keep is shown and removed, and nothing else is"""

from __future__ import annotations

import os
from array import array
from pathlib import Path

import pytest
from small_experiment import write_small

from collector.cli.main import main
from collector.symbols.cache import SymbolCache


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "collector"


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = main(["cache", *words])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def fill(cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> int:
    """Let a report keep its profile, and store a table; how many bytes that is."""
    write_small(tmp_path / "a.expt")
    assert main(["report", str(tmp_path / "a.expt"), "functions"]) == 0
    SymbolCache().store("abcd", "functions", {}, {"starts": array("Q", range(1000))})
    capsys.readouterr()
    return sum(path.stat().st_size for path in cache.rglob("*") if path.is_file())


def test_nothing_yet(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys) == (0, f"{cache}: nothing is kept yet\n", "")
    assert run(capsys, "clear") == (0, f"{cache}: there was nothing to remove\n", "")
    assert not cache.exists()


def test_what_a_report_keeps_is_shown_and_removed(cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    size = f"{fill(cache, tmp_path, capsys) / 1024:.1f} KiB"
    status, out, error = run(capsys)
    assert (status, error) == (0, "")
    lines = out.splitlines()
    assert lines[0] == f"{cache}: {size}"
    assert lines[1].startswith("        1 module  symbol tables, 7.9 KiB of at most 1.0 GiB")
    assert lines[2].startswith("        1 report  profiles, ") and len(lines) == 3
    assert run(capsys, "clear") == (0, f"{cache}: {size} removed\n", "")
    assert not cache.exists()


def test_only_what_is_ours_is_removed(cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fill(cache, tmp_path, capsys)
    (cache / "symbols-1" / "ab").mkdir(parents=True)
    (cache / "symbols-1" / "ab" / "lines").write_bytes(bytes(2048))
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_bytes(b"x")
    (cache / "symbols-2").symlink_to(outside)
    (cache / "notes.txt").write_bytes(b"x")
    assert "1 module  symbol tables of another version of collector (symbols-1), 2.0 KiB\n" in run(capsys)[1]
    assert run(capsys, "clear")[0] == 0
    assert os.listdir(cache) == ["notes.txt"] and (outside / "precious").exists()


def test_where_nothing_can_be_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    status, out, error = run(capsys)
    assert (status, out) == (1, "")
    assert error == "collector: nothing can be kept in /dev/null/collector, so that every report reads everything anew: /dev/null is not a directory\n"


def test_a_directory_of_somebody_elses(cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """As those see it who are not root, for whom modes mean something."""
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK)
    status, out, error = run(capsys)
    assert (status, out) == (1, "") and error.endswith(f": you may not write into {cache.parent}\n")


def test_other_words_are_refused(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, _, error = run(capsys, "purge")
    assert status == 2 and error.startswith("collector: argument clear: invalid choice: 'purge'")
