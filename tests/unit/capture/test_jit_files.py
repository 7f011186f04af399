"""test_jit_files -- which files of compilers are taken, and which are somebody else's"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from collector.capture.jit_files import JitProcess, keep_jit_files, remove_v8_logs

PID = 4_000_000_000  # no process has this number


@pytest.fixture
def perf_map() -> Iterator[Path]:
    path = Path(f"/tmp/perf-{PID}.map")
    path.unlink(missing_ok=True)
    yield path
    path.unlink(missing_ok=True)


def process(directory: Path, begun_ns: int | None = None) -> JitProcess:
    return JitProcess(PID, os.getuid(), str(directory), time.time_ns() if begun_ns is None else begun_ns)


def test_files_of_the_process_are_copied(tmp_path: Path, perf_map: Path) -> None:
    wanted = process(tmp_path)
    perf_map.write_text("7f00 10 f\n")
    (tmp_path / f"jit-{PID}.dump").write_bytes(b"dump")
    objects = tmp_path / "x.expt" / "objects"
    assert keep_jit_files(str(objects), [wanted]) == []
    assert {path.name: path.read_bytes() for path in objects.iterdir()} == {perf_map.name: b"7f00 10 f\n", f"jit-{PID}.dump": b"dump"}


def test_the_dump_of_a_thread_is_its_process_s(tmp_path: Path) -> None:
    """JavaScriptCore names it so; that of another process stays where it is."""
    (tmp_path / f"jit-17-{PID}.dump").write_bytes(b"dump")
    (tmp_path / f"jit-{PID}-17.dump").write_bytes(b"other")
    objects = tmp_path / "x.expt" / "objects"
    assert keep_jit_files(str(objects), [process(tmp_path)]) == []
    assert [path.name for path in objects.iterdir()] == [f"jit-17-{PID}.dump"]


def test_a_copy_that_has_grown_is_made_again(tmp_path: Path, perf_map: Path) -> None:
    wanted, objects = process(tmp_path), tmp_path / "objects"
    for text in ("7f00 10 f\n", "7f00 10 f\n7f10 10 g\n"):
        perf_map.write_text(text)
        assert keep_jit_files(str(objects), [wanted]) == []
        assert (objects / perf_map.name).read_text() == text


def test_a_process_without_such_files_leaves_nothing(tmp_path: Path) -> None:
    assert keep_jit_files(str(tmp_path / "objects"), [process(tmp_path)]) == []
    assert not (tmp_path / "objects").exists()


@pytest.mark.parametrize("kind", ["older", "of another user", "a link", "a pipe", "a directory"])
def test_files_of_somebody_else_are_left_alone(tmp_path: Path, perf_map: Path, kind: str) -> None:
    wanted = process(tmp_path)
    if kind == "a pipe":
        os.mkfifo(perf_map)
    elif kind == "a link":
        (tmp_path / "secret").write_text("7f00 10 f\n")
        perf_map.symlink_to(tmp_path / "secret")
    elif kind == "a directory":
        perf_map.mkdir()
    else:
        perf_map.write_text("7f00 10 f\n")
    if kind == "older":
        os.utime(perf_map, ns=(0, wanted.begun_ns - 10**9))
    if kind == "of another user":
        wanted = JitProcess(PID, os.getuid() + 1, str(tmp_path), wanted.begun_ns)
    try:
        complaints = keep_jit_files(str(tmp_path / "objects"), [wanted])
    finally:
        if kind == "a directory":
            perf_map.rmdir()
    assert not (tmp_path / "objects").exists()
    assert len(complaints) <= 1 and all(str(perf_map) in text for text in complaints)


def test_what_cannot_be_copied_is_a_sentence(tmp_path: Path, perf_map: Path) -> None:
    wanted = process(tmp_path)
    perf_map.write_text("7f00 10 f\n")
    (tmp_path / "objects").write_text("not a directory")
    (complaint,) = keep_jit_files(str(tmp_path / "objects"), [wanted])
    assert complaint.startswith(str(perf_map)) and "was not copied" in complaint


def test_logs_that_v8_begins_are_taken_away_and_nothing_else(tmp_path: Path) -> None:
    ours, others, text, old = (tmp_path / f"isolate-0x{name}-v8.log" for name in (f"1f-{PID}", f"1f-{PID + 1}", f"2f-{PID}", f"3f-{PID}"))
    for path in (ours, others, old):
        path.write_text("v8-version,11,3\n")
    text.write_text("mine\n")
    os.utime(old, (1, 1))
    remove_v8_logs([process(tmp_path)])
    assert {path.name for path in tmp_path.iterdir()} == {others.name, text.name, old.name}
