"""test_conclusion -- what is said at the end of a recording while processes of it go on"""

from __future__ import annotations

import mmap
import os
from pathlib import Path

import pytest

from collector.cli.recording import conclusion
from collector.experiment.totals import Totals, sum_up


def test_a_log_that_begins_while_logs_are_added_up_is_in_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its process had just been forked, or was between two programs, when it was asked which processes live."""
    path = tmp_path / f"{os.getpid()}.1.log"
    turns = []

    def begin_and_sum_up(directory: str, root_pid: int) -> Totals:
        turns.append(file.truncate(1 << 20))
        return sum_up(directory, root_pid)

    monkeypatch.setattr(conclusion, "sum_up", begin_and_sum_up)
    with open(path, "w+b") as file:
        file.truncate(4096)
        with mmap.mmap(file.fileno(), 4096):
            file.truncate(0)  # made, and not begun
            totals, live = conclusion.add_up(str(tmp_path), os.getpid())
    assert len(turns) == 2 and live == {os.getpid(): os.getpid()}
    assert {one.pid for one in totals.unclosed} == {os.getpid()}


def test_logs_that_keep_beginning_are_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    turns = []

    def begin_and_sum_up(directory: str, root_pid: int) -> Totals:
        turns.append((tmp_path / f"{len(turns) + 1}.0.log").write_bytes(b"no frame"))
        return sum_up(directory, root_pid)

    monkeypatch.setattr(conclusion, "sum_up", begin_and_sum_up)
    totals, _ = conclusion.add_up(str(tmp_path), 1)
    assert totals.log_count == len(turns) == 5
