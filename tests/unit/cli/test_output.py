"""test_output -- standard output that is full, closed, or has lost its reader: one sentence and a status, for every command"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "experiment"))
from writer import small_log

_PYTHON = f"{sys.executable} -m collector"
COMMANDS = {
    "nothing": "",
    "help": "-h",
    "version": "-V",
    "help of a command": "report -h",
    "config": "config",
    "events": "events a.expt",
    "follow": "events --follow a.expt",
    "a long report": "events many.expt",
    "report": "report a.expt",
    "json": "report a.expt header --json",
    "dry run": "record -n true",
    "cache": "cache",
    "completion": "completion bash",
    "manual page": "man record",
    "pages": "help",
    "a long page": "help format",
    "watch": "watch -i 0.1 a.expt",
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("output")
    log = bytes(small_log().data)
    for experiment, count in (("a.expt", 1), ("many.expt", 60)):
        (place / experiment).mkdir()
        for pid in range(7, 7 + count):
            (place / experiment / f"{pid}.0.log").write_bytes(log)
    return place


def _shell(script: str, place: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd=place, env=environment)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_disk(command: str, place: Path) -> None:
    done = _shell(f"{_PYTHON} {COMMANDS[command]} >/dev/full", place)
    assert (done.returncode, done.stderr) == (1, "collector: the output cannot be written: no space left on device\n")


@pytest.mark.parametrize("command", COMMANDS)
def test_closed(command: str, place: Path) -> None:
    done = _shell(f"{_PYTHON} {COMMANDS[command]} >&-", place)
    assert (done.returncode, done.stderr) == (1, "collector: there is nowhere to write to: standard output is closed\n")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_reader_that_has_gone(command: str, place: Path) -> None:
    done = _shell(f"trap '' PIPE; {{ {_PYTHON} {COMMANDS[command]}; echo $? >status; }} | true", place)
    assert ((place / "status").read_text(), done.stderr) in {("141\n", ""), ("0\n", ""), ("2\n", "")}


def test_a_reader_that_goes_early(place: Path) -> None:
    done = _shell(f"{_PYTHON} events many.expt | head -n 1; echo ${{PIPESTATUS[0]}}", place)
    line, status = done.stdout.splitlines()
    assert "INITIALIZE" in line and status == "141" and done.stderr == ""


@pytest.mark.parametrize("where", ["2>/dev/full", "2>&-"])
def test_nowhere_to_complain(where: str, place: Path) -> None:
    done = _shell(f"{_PYTHON} report none.expt {where}", place)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")


def test_a_report_into_a_full_file(place: Path) -> None:
    done = _shell(f"{_PYTHON} report a.expt -o /dev/full", place)
    assert (done.returncode, done.stderr) == (1, "collector: /dev/full cannot be written: no space left on device\n")
