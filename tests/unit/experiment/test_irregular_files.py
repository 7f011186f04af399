"""test_irregular_files -- pipes, devices, sockets, directories and links that are named like files of an experiment

A reader that waits for ever is interrupted by an alarm, so that it fails its test and does not stop the others.
"""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from writer import small_log

from collector.cli.main import main
from collector.experiment.open_frames import recover
from collector.experiment.totals import sum_up

_LONG_S = 60
_KINDS = ("pipe", "link to a device", "link to a log", "socket", "directory")


def _make(kind: str, path: Path) -> None:
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "link to a device":
        path.symlink_to("/dev/zero")
    elif kind == "link to a log":
        other = path.parent.parent / "elsewhere.log"
        other.write_bytes(bytes(small_log().data))
        path.symlink_to(other)
    elif kind == "socket":
        os.chdir(path.parent)  # the name of a socket is short
        socket.socket(socket.AF_UNIX).bind(path.name)
    else:
        path.mkdir()


@pytest.fixture
def experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    made = tmp_path / "a.expt"
    made.mkdir()
    (made / "7.0.log").write_bytes(bytes(small_log().data))
    return made


@pytest.fixture(autouse=True)
def alarm() -> Iterator[None]:
    def interrupt(number: int, frame: object) -> None:
        raise TimeoutError("a reader hangs")

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.alarm(_LONG_S)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@dataclass(frozen=True)
class Done:
    """What a command left behind."""

    returncode: int
    stdout: str
    stderr: str


Run = Callable[..., Done]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def run_here(*arguments: str | Path) -> Done:
        status = main([str(argument) for argument in arguments])
        shown = capsys.readouterr()
        return Done(status, shown.out, shown.err)

    return run_here


@pytest.mark.parametrize("kind", _KINDS)
@pytest.mark.parametrize("name", ["8.0.log", "launch.log"])
def test_the_rest_is_read_and_the_stranger_told_of(kind: str, name: str, experiment: Path, run: Run) -> None:
    alone = run("events", experiment).stdout.splitlines()
    _make(kind, experiment / name)
    events = run("events", experiment)
    assert events.returncode == 0
    told, *rest = events.stdout.splitlines()
    assert rest == alone and f"{name} is left out: it is a" in told
    followed = run("events", experiment, "--follow")
    assert followed.returncode == 0 and followed.stdout.count("is left out") == 1
    report = run("report", experiment, "header")
    assert report.returncode == 0 and f"{name} is left out" in " ".join(report.stdout.split()), report.stderr


@pytest.mark.parametrize("kind", _KINDS)
def test_the_launcher_does_not_wait_for_one_either(kind: str, experiment: Path) -> None:
    alone = sum_up(str(experiment), 7)
    _make(kind, experiment / "8.0.log")
    _make(kind, experiment / "launch.log") if kind != "link to a log" else None
    totals = sum_up(str(experiment), 7)
    assert totals.sample_count == alone.sample_count and totals.log_count == 1
    assert len(totals.warnings) == 1 and "8.0.log cannot be read: it is a" in totals.warnings[0]
    assert recover(experiment, lambda log: False).alive == ()


@pytest.mark.parametrize("kind", _KINDS)
@pytest.mark.parametrize("name", ["perf-7.map", "jit-7.dump"])
def test_what_compilers_left(kind: str, name: str, experiment: Path, run: Run) -> None:
    (experiment / "objects").mkdir()
    _make(kind, experiment / "objects" / name)
    report = run("report", experiment, "header")
    assert report.returncode == 0 and f"{name} cannot be read: it is a" in " ".join(report.stdout.split())


def test_an_empty_log_is_told_of(experiment: Path, run: Run) -> None:
    (experiment / "8.0.log").touch()
    (experiment / "node.log").touch()  # no process's
    report = run("report", experiment)
    assert report.returncode == 0 and " ".join(report.stdout.split()).count("log is empty: it was cut, or its process was killed as it began") == 1


def test_a_link_in_place_of_the_copies(experiment: Path, tmp_path: Path, run: Run) -> None:
    (tmp_path / "private").mkdir()
    os.mkfifo(tmp_path / "private" / "perf-7.map")
    (experiment / "objects").symlink_to(tmp_path / "private")
    report = run("report", experiment, "header")
    assert report.returncode == 0 and "objects is left out: it is not a directory" in " ".join(report.stdout.split())


@pytest.mark.parametrize("path", ["/dev/zero", "pipe"])
def test_one_named_by_the_user(path: str, experiment: Path, run: Run) -> None:
    os.mkfifo("pipe")
    done = run("events", path)
    assert done.returncode == 1 and done.stdout == ""
    assert len(done.stderr.splitlines()) == 1 and "not a regular file" in done.stderr


def test_a_log_may_be_named_by_a_link(experiment: Path, run: Run) -> None:
    Path("7.0.log").symlink_to(experiment / "7.0.log")
    assert run("events", "7.0.log").stdout == run("events", experiment / "7.0.log").stdout != ""
