"""test_counter_parts -- counters that take turns, never count, or are lost, on a processor that is made up; under the sanitizers"""

from __future__ import annotations

import subprocess
from pathlib import Path

import compiled
from compiled import SANITIZED, SOURCES


def test_increments_turns_and_refusals(tmp_path: Path) -> None:
    parts = [SOURCES / f"{part}.c" for part in ("sample/counter_group", "base/text_format")]
    program = compiled.program(tmp_path.parent, compiled.HERE / "counter_parts.c", parts, *SANITIZED)
    ran = subprocess.run([program], capture_output=True, text=True, timeout=120)
    assert (ran.returncode, ran.stdout) == (0, ""), ran.stdout + ran.stderr
