"""test_parallel -- what pytest shows of test files that were run beside each other is what it shows of them one by one"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
CONFTEST = """
import parallel
from parallel import add_option as pytest_addoption, run as pytest_runtestloop
def pytest_configure(config):
    config.addinivalue_line("markers", "alone: ")
    config.addinivalue_line("markers", "waits: ")
"""
SOUND = """
import os, pytest
@pytest.fixture(scope="module")
def place(tmp_path_factory):
    yield tmp_path_factory.mktemp("place")
def test_passes(place): assert place.is_dir()
def test_is_skipped(): pytest.skip("for a reason")
def test_fails(capsys): print("in the middle"); assert 1 == 2
"""
ALONE = """
import os, pytest
def test_is_beside_others(): assert os.getppid() == int(os.environ["SESSION"]) or "{jobs}" == "1"
@pytest.mark.alone
def test_is_alone(): assert os.environ.setdefault("SESSION", str(os.getpid()))
"""
MEETS = """
import time, pathlib, pytest
{mark}
def test_meets_the_others():
    pathlib.Path(__file__).with_suffix(".here").touch()
    until = time.monotonic() + 30
    while len(list(pathlib.Path(__file__).parent.glob("*.here"))) < 3:
        assert time.monotonic() < until
        time.sleep(0.01)
"""
DIES = """
import os
def test_is_well(): pass
def test_dies(): os._exit(3)
"""


def outcome_of(directory: Path, jobs: int) -> tuple[dict[str, int], str]:
    """How many tests had each outcome, and all that was shown."""
    script = "import os, sys, pytest; os.environ['SESSION'] = str(os.getpid()); sys.exit(pytest.main(sys.argv[1:]))"
    command = [sys.executable, "-c", script, "-ra", "-p", "no:cacheprovider", f"--rootdir={directory}", f"--basetemp={directory}/made", "--jobs", str(jobs), directory]
    done = subprocess.run(command, capture_output=True, text=True, cwd=directory, env={"PYTHONPATH": str(TESTS), "PATH": ""}, timeout=60)
    closing = done.stdout.splitlines()[-1]
    return {word: int(count) for count, word in re.findall(r"(\d+) (passed|failed|skipped|error)", closing)}, done.stdout + done.stderr


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "inner").mkdir()
    for file in ("test_sound0.py", "inner/test_sound1.py", "test_sound2.py"):
        (tmp_path / file).write_text(SOUND)
    return tmp_path


def test_outcomes_and_reasons_are_the_same(directory: Path) -> None:
    for jobs in (1, 2, 5):
        (directory / "test_alone.py").write_text(ALONE.replace("{jobs}", str(jobs)))
        counts, shown = outcome_of(directory, jobs)
        assert counts == {"passed": 5, "failed": 3, "skipped": 3}, shown
        assert "in the middle" in shown and shown.count("for a reason") == 3, shown


def test_one_that_waits_is_beside_as_many_as_work(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    for number, mark in enumerate(("", "", "@pytest.mark.waits")):
        (tmp_path / f"test_{number}.py").write_text(MEETS.replace("{mark}", mark))
    counts, shown = outcome_of(tmp_path, 2)
    assert counts == {"passed": 3}, shown


def test_a_failure_is_shown_when_it_happens(directory: Path) -> None:
    shown = outcome_of(directory, 2)[1]
    assert shown.index("FAILED test_sound0.py::test_fails (call)") < shown.index("= FAILURES =")


def test_a_process_that_dies_is_a_failure_of_its_test(directory: Path) -> None:
    (directory / "test_dies.py").write_text(DIES)
    counts, shown = outcome_of(directory, 2)
    assert counts["failed"] >= 2 and "FAILED test_dies.py::test_dies" in shown, shown
    assert "test_dies.py::test_dies ended with wait status 0x300" in shown
