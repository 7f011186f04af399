"""test_without_launcher -- recordings that the environment alone asks for"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from recorded import Recorded, clean_environment, execute

from collector.experiment.events import Metric
from collector.experiment.merge import events

BUSY = "import time\nwhile time.process_time() < 0.15: pass\n"
MOVES = f"import os, sys\nos.chdir('inner')\nos.fork() or os._exit(0)\nos.wait()\nos.execv(sys.executable, [sys.executable, '-c', {BUSY!r}])\n"


def test_relative_paths_hold_where_the_program_has_gone(recorder: Path, record: Callable[..., Recorded], tmp_path: Path) -> None:
    record(["/bin/true"], experiment=tmp_path / "table.expt")
    (tmp_path / "inner").mkdir()
    variables = {"LD_PRELOAD": str(recorder), "COLLECTOR_EXPERIMENT": "a.expt", "COLLECTOR_METRICS": "table.expt/metrics.tsv"}
    assert execute([sys.executable, "-c", MOVES], clean_environment(variables), tmp_path).status == 0
    assert list((tmp_path / "inner").iterdir()) == []
    images = sorted(path.name.split(".")[1] for path in (tmp_path / "a.expt").glob("*.log"))
    assert images == ["0", "0", "1"], "the program, its child, and what it became"
    assert any(isinstance(event, Metric) and event.origin.image == 1 for event in events(tmp_path / "a.expt"))
