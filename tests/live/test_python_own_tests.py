"""test_python_own_tests -- the interpreters' own test modules pass under recording as they do natively

A second's worth in the suite; COLLECTOR_TEST_THOROUGH=1 takes the modules about threads, generators, garbage, children, asyncio and signals.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from pythons import Interpreter, every_interpreter, some_interpreters
from recorded import IS_THOROUGH, Outcome, Recorded, execute

MODULES = ("test_generators", "test_gc", "test_threading", "test_signal", "test_subprocess", "test_asyncio") if IS_THOROUGH else ("test_generators",)
MOST_TRIES = 3
_RESULT = re.compile(r"^(test\w* \([\w.]+\)).*?\.\.\. (.*)$", re.MULTILINE)


def results(outcome: Outcome) -> dict[str, str]:
    """How each test ended, by its name; a count behind what unittest says of a skip or of time is left out."""
    return {name: how.partition(" ")[0].strip("'\"") for name, how in _RESULT.findall(outcome.stderr)}


def failed_only(ours: dict[str, str], natively: dict[str, str]) -> set[str]:
    """Tests that failed under recording and not natively."""
    return {name for name, how in ours.items() if how in ("FAIL", "ERROR") and natively.get(name) not in ("FAIL", "ERROR")}


@(every_interpreter if IS_THOROUGH else some_interpreters)()
@pytest.mark.parametrize("module", MODULES)
def test_as_natively(record: Callable[..., Recorded], python: Interpreter, module: str, tmp_path: Path) -> None:
    """A test that failed natively once, or passes recorded in one of three tries, is not steady, and judges nobody."""
    if subprocess.run([python.path, "-c", f"import test.{module}"], capture_output=True).returncode != 0:
        pytest.skip(f"this system has no {module} for CPython {python.version}")
    command = [python.path, "-m", "unittest", "-v", f"test.{module}"]
    environment = {"PYTHONWARNINGS": "default", "PYTHONPATH": "", "TMPDIR": str(tmp_path)}
    natively = execute(command, environment, tmp_path, timeout_s=900)
    known, harmed = results(natively), None
    assert known or natively.status == 0, natively.stderr[-2000:]
    for _ in range(MOST_TRIES):
        recorded = record(command, environment={**environment, "PYTHONPATH": os.environ.get("PYTHONPATH", "")}, directory_to_run_in=tmp_path, timeout_s=1800)
        now = failed_only(results(recorded.outcome), known)
        harmed = now if harmed is None else harmed & now
        assert recorded.outcome.status >= 0, recorded.outcome.stderr[-2000:]
        assert results(recorded.outcome).keys() >= {name for name, how in known.items() if how == "ok"}, recorded.outcome.stderr[-2000:]
        if not harmed:
            return
    raise AssertionError(f"under recording alone these fail: {sorted(harmed or ())}\n{recorded.outcome.stderr[-4000:]}")
