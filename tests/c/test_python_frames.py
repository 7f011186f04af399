"""test_python_frames -- frames of CPython that are made of anything are read without a crash"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SOURCES = HERE.parents[1] / "libcollector_c/src"
PARTS = ("sample/python_frames", "target/python_layout", "base/safe_read", "base/remote_memory")


@pytest.mark.parametrize("seed", range(3))
def test_frames_of_anything(tmp_path: Path, seed: int) -> None:
    """A process that dies of it, as a recorded program would, has a negative status."""
    if not shutil.which("gcc"):
        pytest.skip("this system has no gcc")
    program = tmp_path / "python_frames_fuzz"
    flags = ["-std=gnu11", "-g", "-O2", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", f"-I{SOURCES}"]
    subprocess.run(["gcc", *flags, HERE / "python_frames_fuzz.c", *(SOURCES / f"{part}.c" for part in PARTS), "-o", program], check=True)
    done = subprocess.run([program, "5000", str(seed)], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "")
