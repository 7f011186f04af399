"""test_permissions -- an experiment is its owner's alone, whatever the umask: it tells what is in a program's memory"""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

_MAPS = "import os; open(f'/tmp/perf-{os.getpid()}.map', 'w').write('1000 10 made\\n')"


@pytest.fixture(autouse=True)
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def _modes(experiment: Path) -> dict[str, int]:
    return {str(path.relative_to(experiment)): stat.S_IMODE(path.stat().st_mode) for path in [experiment, *experiment.rglob("*")]}


def _judge(modes: dict[str, int], least: Callable[[str], bool]) -> None:
    wrong = {name: oct(mode) for name, mode in modes.items() if mode != (0o700 if name in (".", "objects") else 0o600)}
    assert not wrong and any(map(least, modes))


def test_of_the_recorder_alone(recorder: Path, tmp_path: Path) -> None:
    experiment = tmp_path / "alone.expt"
    environment = {**os.environ, "COLLECTOR_EXPERIMENT": str(experiment), "LD_PRELOAD": str(recorder)}
    subprocess.run([sys.executable, "-c", "sum(range(1000000))"], env=environment, check=True)
    _judge(_modes(experiment), lambda name: name.endswith(".log"))


def test_of_the_launcher(recorder: Path, tmp_path: Path) -> None:
    experiment = tmp_path / "launched.expt"
    command = [sys.executable, "-m", "collector", "record", "-o", experiment, sys.executable, "-c", _MAPS]
    subprocess.run(command, check=True, capture_output=True)
    modes = _modes(experiment)
    _judge(modes, lambda name: name.endswith(".map"))
    assert "launch.log" in modes
    for path in experiment.glob("objects/perf-*.map"):
        (Path("/tmp") / path.name).unlink()
