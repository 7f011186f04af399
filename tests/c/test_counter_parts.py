"""test_counter_parts -- counters that take turns, never count, or are lost, on a processor that is made up; under the sanitizers"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "libcollector_c/src"


def test_increments_turns_and_refusals(tmp_path: Path) -> None:
    if not shutil.which("gcc"):
        pytest.skip("gcc is not installed")
    program = tmp_path / "counter_parts"
    flags = ["-std=gnu11", "-g", "-O1", "-D_GNU_SOURCE", "-fsanitize=address,undefined", f"-I{SOURCES}"]
    parts = [SOURCES / f"{part}.c" for part in ("sample/counter_group", "base/text_format")]
    done = subprocess.run(["gcc", *flags, Path(__file__).with_name("counter_parts.c"), *parts, "-o", program], capture_output=True, text=True)
    if "cannot find" in done.stderr:
        pytest.skip("no runtime for -fsanitize=address,undefined")
    assert done.returncode == 0, done.stderr
    ran = subprocess.run([program], capture_output=True, text=True, timeout=120)
    assert (ran.returncode, ran.stdout) == (0, ""), ran.stdout + ran.stderr
