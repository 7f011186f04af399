"""test_weight -- what samples stand for, under a clock of the test's own"""

from __future__ import annotations

import subprocess
from pathlib import Path

import compiled
from compiled import SANITIZED, SOURCES


def test_no_sample_stands_for_more_than_has_passed(tmp_path: Path) -> None:
    """System time that no tick explained is not heaped on the code that runs afterwards; and weights add up. Walks that take long rest."""
    parts = [SOURCES / "sample" / name for name in ("weight.c", "missing_time.c", "tick_rest.c", "switch_rate.c")]
    program = compiled.program(tmp_path.parent, compiled.HERE / "weight_parts.c", parts, *SANITIZED)
    ran = subprocess.run([program], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout) == (0, ""), ran.stderr
