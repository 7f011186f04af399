"""test_weight -- what samples stand for, under a clock of the test's own"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "libcollector_c/src"


def test_no_sample_stands_for_more_than_has_passed(tmp_path: Path) -> None:
    """System time that no tick explained is not heaped on the code that runs afterwards; and weights add up."""
    if not shutil.which("gcc"):
        pytest.skip("this system has no gcc")
    program = tmp_path / "weight_parts"
    flags = ["-std=gnu11", "-g", "-O1", "-D_GNU_SOURCE", "-fsanitize=address,undefined", f"-I{SOURCES}", f"-I{ROOT}/libcollector_c/include"]
    subprocess.run(["gcc", *flags, Path(__file__).with_name("weight_parts.c"), SOURCES / "sample/weight.c", "-o", program], check=True)
    ran = subprocess.run([program], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout) == (0, ""), ran.stderr
