"""test_tracer_parts -- tracers that come, go, are asked for and refused, whatever ticks come in between; under the sanitizers"""

from __future__ import annotations

import subprocess
from pathlib import Path

import compiled
from compiled import SANITIZED, SOURCES


def test_nothing_ticks_under_a_tracer(tmp_path: Path) -> None:
    parts = [SOURCES / f"{part}.c" for part in ("sample/tracer_watch", "base/os", "base/own_io", "base/remote_memory", "base/safe_read", "base/text_format")]
    program = compiled.program(tmp_path.parent, compiled.HERE / "tracer_parts.c", parts, *SANITIZED)
    ran = subprocess.run([program], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout) == (0, ""), ran.stdout + ran.stderr
