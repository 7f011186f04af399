"""test_wait_parts -- the arithmetic of waits, under the sanitizers"""

from __future__ import annotations

import subprocess
from pathlib import Path

import compiled
from compiled import SANITIZED, SOURCES


def test_sums_shares_and_looks(tmp_path: Path) -> None:
    parts = [SOURCES / "waits" / f"{part}.c" for part in ("look", "wait_account", "wait_pool", "wait_stack", "wait_threads")]
    parts += [SOURCES / part for part in ("sample/recording.c", "sample/recording_turns.c", "base/clock.c", "base/os.c", "base/own_io.c", "base/remote_memory.c", "base/safe_read.c", "base/text_format.c", "base/wait_cause.c")]
    program = compiled.program(tmp_path.parent, compiled.HERE / "wait_parts.c", parts, *SANITIZED, more=["-Wl,--wrap=col_clock_now"])
    ran = subprocess.run([program], capture_output=True, text=True, timeout=120)
    assert (ran.returncode, ran.stdout) == (0, ""), ran.stdout + ran.stderr
