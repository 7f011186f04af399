"""test_memory -- a command leaves a program that runs it as it was"""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

import pytest

from collector.cli.main import main

COMMANDS = (["report", "none.expt"], ["export", "none.expt", "-f", "folded"], ["import", "none.folded"])


@pytest.mark.parametrize("words", COMMANDS, ids=[words[0] for words in COMMANDS])
def test_garbage_is_collected_after_a_command(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that is all for one command collects nothing; another lives on, and all that it ever loaded would stay."""
    monkeypatch.chdir(tmp_path)
    frozen = gc.get_freeze_count()
    assert gc.isenabled() and main(words) == 1
    assert gc.isenabled() and gc.get_freeze_count() <= frozen  # what was frozen before may go meanwhile
    own = f"import gc, sys; sys.argv[1:] = {words}; from collector.cli.main import main; sys.exit(main() + 10 * gc.isenabled())"
    assert subprocess.run([sys.executable, "-c", own], cwd=tmp_path, capture_output=True).returncode == 1
