"""test_permissions -- an experiment is its owner's alone, whatever the umask: it tells what is in a program's memory"""

from __future__ import annotations

import os
import shutil
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


WITHOUT_RIGHTS = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]  # as anybody but root has none
FORKS = "import os\nos.fork() or os.execv('/bin/true', ['true'])\nos.wait()\nfor _ in range(1000000): pass\n"


@pytest.fixture
def without_rights() -> list[str]:
    """The words that run a command which file modes hold for, as they do for users."""
    if os.geteuid() != 0:
        return []
    if not shutil.which("setpriv") or subprocess.run([*WITHOUT_RIGHTS, "true"]).returncode:
        pytest.skip("setpriv cannot take rights away here")
    return WITHOUT_RIGHTS


@pytest.mark.parametrize("is_launched", [True, False], ids=["record", "alone"])
def test_a_umask_withholds_nothing_from_the_owner(recorder: Path, tmp_path: Path, without_rights: list[str], is_launched: bool) -> None:
    experiment = tmp_path / "own.expt"
    program = [sys.executable, "-c", FORKS]
    launched = [sys.executable, "-m", "collector", "record", "-o", str(experiment), *program]
    alone = ["env", f"LD_PRELOAD={recorder}", f"COLLECTOR_EXPERIMENT={experiment}", *program]
    done = subprocess.run([*without_rights, *(launched if is_launched else alone)], capture_output=True, text=True, umask=0o777)
    assert done.returncode == 0, done.stderr
    _judge(_modes(experiment), lambda name: name.endswith(".log"))
    assert not [path for path in experiment.glob("*.log") if path.stat().st_size > 1 << 30], "each could be cut at its end"
