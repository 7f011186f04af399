"""test_python_frames -- frames of CPython that are made of anything are read without a crash; code that several threads meet at once is told of each"""

from __future__ import annotations

import subprocess
from pathlib import Path

import compiled
import pytest
from compiled import SOURCES, WARNINGS

PARTS = ("sample/python_frames", "target/python_layout", "base/safe_read", "base/remote_memory")
CODE = ("target/python_code", "target/python_locations", "base/safe_read", "base/remote_memory")


@pytest.mark.parametrize("seed", range(3))
def test_frames_of_anything(tmp_path: Path, seed: int) -> None:
    """A process that dies of it, as a recorded program would, has a negative status."""
    program = compiled.program(tmp_path.parent, compiled.HERE / "python_frames_fuzz.c", [SOURCES / f"{part}.c" for part in PARTS], "-O2", more=WARNINGS)
    done = subprocess.run([program, "5000", str(seed)], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "")


def test_as_many_threads_as_there_are_buffers_tell_of_code_at_once(tmp_path: Path) -> None:
    program = compiled.program(tmp_path.parent, compiled.HERE / "python_code_at_once.c", [SOURCES / f"{part}.c" for part in CODE], *compiled.SANITIZED, more=WARNINGS)
    done = subprocess.run([program], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "8 told, 0 refused\n8 told, 1 refused\n111111111\n", "")
