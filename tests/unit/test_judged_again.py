"""test_judged_again -- two of three judgements of time decide; each has a recording of its own, and harm is judged once"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
CONFTEST = """
import judged_again, parallel
from conftest_of_all import pytest_terminal_summary
from judged_again import pytest_runtest_makereport, run as pytest_runtest_protocol
from parallel import add_option as pytest_addoption, run as pytest_runtestloop
"""
CASES = """
import itertools, pytest
from recorded import judge
recordings, harms = itertools.count(1), itertools.count(1)
@pytest.fixture(scope="module")
def number(): return next(recordings)
def test_first_is_wrong(number, tmp_path): judge(number != 1, f"recording {number} is wrong")
def test_module_goes_on(number): assert number == 3
def test_second_is_wrong_too(number): judge(number != 3 and number != 4, f"recording {number} is wrong")
def test_harm(): assert next(harms) > 1
"""


@pytest.mark.parametrize("jobs", [1, 2])
def test_two_of_three_decide(tmp_path: Path, jobs: int) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "conftest_of_all.py").write_text((TESTS / "conftest.py").read_text())
    (tmp_path / "test_cases.py").write_text(CASES)
    (tmp_path / "test_more.py").write_text("def test_is_well(): pass")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"--rootdir={tmp_path}", f"--basetemp={tmp_path}/made", "--jobs", str(jobs), tmp_path]
    path = f"{TESTS}:{TESTS}/live:{TESTS.parent}:{tmp_path}"
    said = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env={"PYTHONPATH": path, "PATH": ""}, timeout=60).stdout
    assert re.search(r"= 2 failed, 3 passed in", said), said
    assert re.findall(r"^FAILED test_cases.py::(\w+) -", said, re.MULTILINE) == ["test_second_is_wrong_too", "test_harm"], said
    told = said.partition("time judged again")[2]
    assert "test_first_is_wrong: recording 1 is wrong" in told, said
