"""test_python_frames -- frames of CPython that are made of anything are read without a crash"""

from __future__ import annotations

import subprocess
from pathlib import Path

import compiled
import pytest
from compiled import SOURCES, WARNINGS

PARTS = ("sample/python_frames", "target/python_layout", "base/safe_read", "base/remote_memory")


@pytest.mark.parametrize("seed", range(3))
def test_frames_of_anything(tmp_path: Path, seed: int) -> None:
    """A process that dies of it, as a recorded program would, has a negative status."""
    program = compiled.program(tmp_path.parent, compiled.HERE / "python_frames_fuzz.c", [SOURCES / f"{part}.c" for part in PARTS], "-O2", more=WARNINGS)
    done = subprocess.run([program, "5000", str(seed)], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "")
