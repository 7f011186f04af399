"""test_watch -- `collector watch` as somebody sees it: on a terminal of any size, and line by line"""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from recorded import collector_command
from terminal import Terminal

Watch = Callable[..., Terminal]

_UNTIL_TOLD = "echo from the program; while [ ! -e stop ]; do :; done; exit 3"
"""A program that uses CPU time until there is a file."""


@pytest.fixture
def on_a_terminal(recorder: Path, tmp_path: Path) -> Iterator[Watch]:
    terminals: list[Terminal] = []

    def start(*words: str, size: tuple[int, int] = (24, 110), term: str = "xterm") -> Terminal:
        terminals.append(Terminal(collector_command(*words), {**os.environ, "TERM": term}, tmp_path, size))
        return terminals[-1]

    yield start
    (tmp_path / "stop").touch()
    for terminal in terminals:
        terminal.close()


def watch(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(collector_command("watch", *words), cwd=place, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)


def test_a_program_on_a_screen(on_a_terminal: Watch, tmp_path: Path) -> None:
    terminal = on_a_terminal("watch", "-i", "0.1", "--", "-o", "a.expt", "sh", "-c", _UNTIL_TOLD)
    terminal.await_screen(r"CPUs in the last .*Recent incl\..*the program's output goes to a\.out", "q quit")
    for key, shown in (("t", "Thread +Process"), ("m", "Resident memory"), ("l", "l LOG"), ("fi", "i INCLUSIVE"), ("s", "recent/ALL"), (" ", "PAUSED"), (" ", "pause")):
        terminal.type(key)
        terminal.await_screen(shown, "space [a-zA-Z]+")
    (tmp_path / "stop").touch()
    terminal.await_screen("exited with status 3", "q quit")
    terminal.type("q")
    assert terminal.await_end() == 3
    words = terminal.seen.rpartition("\x1b[?1049l")[2]  # what stays when the screen is left
    assert re.search(r"collector: a\.expt: .* samples of .* in 1 process, .*nothing lost", words)
    assert words.endswith("collector: the program's output is in a.out\r\n")
    assert not re.search("(?<!echo )from the program", terminal.seen)
    assert (tmp_path / "a.out").read_text() == "from the program\n"


def test_windows_of_all_sizes(on_a_terminal: Watch, tmp_path: Path) -> None:
    terminal = on_a_terminal("watch", "-i", "0.1", "--", "sh", "-c", _UNTIL_TOLD)
    terminal.await_screen("CPU time in all", "q quit")
    for rows, columns in ((1, 1), (2, 80), (50, 10), (8, 40)):
        terminal.resize(rows, columns)
    terminal.resize(24, 120)
    terminal.await_screen("CPU time in all, 1 thread", "q quit")
    terminal.type("q")
    terminal.await_text("is recorded on until the program ends")
    (tmp_path / "stop").touch()
    assert terminal.await_end() == 3


def test_quitting_leaves_the_recording_alone(on_a_terminal: Watch, tmp_path: Path) -> None:
    recording = subprocess.Popen(collector_command("record", "-o", "a.expt", "sh", "-c", _UNTIL_TOLD), cwd=tmp_path, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert recording.stdout is not None and recording.stdout.readline() == "from the program\n"
    terminal = on_a_terminal("watch", "-i", "0.1", "a.expt")
    terminal.await_screen("CPU time in all", "q quit")
    terminal.type("q")
    assert terminal.await_end() == 0 and recording.poll() is None
    (tmp_path / "stop").touch()
    _, error = recording.communicate()
    assert recording.returncode == 3 and "nothing lost" in error


def test_control_c_is_for_the_program(on_a_terminal: Watch, tmp_path: Path) -> None:
    terminal = on_a_terminal("watch", "-i", "0.1", "--", "sh", "-c", _UNTIL_TOLD)
    terminal.await_screen("CPU time in all, 1 thread", "q quit")
    terminal.type("\x03")
    terminal.await_screen("killed by signal 2", "q quit")
    terminal.type("q")
    assert terminal.await_end() == -signal.SIGINT


def test_line_by_line(compiled: Callable[..., Path], recorder: Path, tmp_path: Path) -> None:
    done = watch(tmp_path, "-i", "0.1", "--", "-o", "a.expt", str(compiled("split_cpu.c")), "1500")
    assert done.returncode == 0 and "forty" in done.stdout  # its truth, and nothing of ours
    assert "CPUs" not in done.stdout
    lines = [line for line in done.stderr.splitlines() if " CPUs  " in line]
    assert len(lines) > 2 and re.match(r"\d+\.\d s  \d\.\d\d CPUs  \d threads?  ", lines[0])
    assert re.search(r"  churn 9\d\.\d %, ", lines[-1]) and lines[-1].endswith("  nothing lost")
    assert "collector: a.expt: " in done.stderr and not list(tmp_path.glob("*.out"))


def test_an_experiment_that_is_over_is_one_line(compiled: Callable[..., Path], recorder: Path, tmp_path: Path) -> None:
    watch(tmp_path, "--", "-o", "a.expt", str(compiled("split_cpu.c")), "100")
    done = watch(tmp_path, "a.expt")
    assert (done.returncode, done.stderr, done.stdout.count("\n")) == (0, "", 1)


@pytest.mark.parametrize("term", ["dumb", "no-such-terminal"])
def test_terminals_that_are_none(on_a_terminal: Watch, term: str) -> None:
    terminal = on_a_terminal("watch", "--", "-o", "a.expt", "sh", "-c", "exit 5", term=term)
    assert terminal.await_end() == 5
    assert " CPUs  " in terminal.seen and "\x1b" not in terminal.seen


def test_mistakes(recorder: Path, tmp_path: Path) -> None:
    def error(*words: str) -> tuple[int, str]:
        done = watch(tmp_path, *words)
        return done.returncode, done.stderr

    assert error("none.expt") == (1, "collector: there is no experiment at none.expt\n")
    assert error() == (2, "collector: watch what? `collector watch EXPT` while it is recorded, or `collector watch -- PROGRAM`\n")
    assert error("a.expt", "--", "true")[0] == 2
    assert error("-i", "0", "a.expt") == (2, "collector: --interval is from 0.1 to 3600 seconds, not 0\n")
    assert error("--", "./none") == (127, "collector: ./none: there is no such file\n")
    assert error("--", "-p", "4711")[0] == 2
    assert not os.listdir(tmp_path)
