"""test_many_logs -- the work that an experiment of many logs takes is in proportion to their number

Work is counted: how often a log, or what the launcher says of a process, is looked at.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from small_experiment import S, T0, ArithmeticSymbolizer, begin, clock
from writer import LogBuilder, record

from collector.format import Kind
from collector.load import load
from collector.load.log_facts import LogFacts
from collector.profile import model

_LAUNCHER = 99


def _make(path: Path, count: int) -> Path:
    """A process that forks `count` others, and a launcher that saw all of them end."""
    path.mkdir()
    launch = LogBuilder().add(begin(_LAUNCHER, T0))
    for number in range(count):
        pid = 100 + number
        log = LogBuilder().add(begin(pid, T0 + number))
        if number:
            log.add(record(Kind.PROCFORK, T0 + number, 0, parent_pid=100, child_pid=pid))
        log.add(clock(), record(Kind.SAMPLE, T0 + number, 0, pid=pid), record(Kind.CLOSELOG, T0 + S, 0))
        (path / f"{pid}.0.log").write_bytes(log.data)
        launch.add(record(Kind.PROCEXIT, T0 + S, 0, pid=pid, status=256 * (number % 3)))
    (path / "launch.log").write_bytes(launch.data)
    return path


def _looks(path: Path, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each attribute was read of what there is one of for each process."""
    looks: Counter[str] = Counter()

    def counted(cls: type) -> None:
        def look(self: Any, name: str) -> Any:
            looks[f"{cls.__name__}.{name}"] += 1
            return object.__getattribute__(self, name)

        monkeypatch.setattr(cls, "__getattribute__", look, raising=False)

    from collector.experiment.events import ProcExit

    for cls in (LogFacts, model.Process, ProcExit):
        counted(cls)
    profile = load(path, symbolizer=ArithmeticSymbolizer())  # type: ignore[arg-type]
    monkeypatch.undo()
    assert [process.status for process in profile.processes[:4]] == [0, 256, 512, 0]
    assert all(point.process is not None for point in profile.points)
    return looks


def test_work_grows_with_the_number_of_logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = (_looks(_make(tmp_path / f"{count}.expt", count), monkeypatch) for count in (50, 200))
    for name in many:
        assert many[name] <= 5 * few[name] + 50, name


def test_the_parent_is_the_image_that_ran_when_the_child_was_forked() -> None:
    from dataclasses import dataclass
    from types import SimpleNamespace

    from collector.experiment.directory import LogFile
    from collector.experiment.origin import Origin
    from collector.load.jit_sources import add_jit_sources

    inherited = []

    @dataclass
    class Space:
        name: str

        def inherit(self, other: Space, time: int) -> None:
            inherited.append((self.name, other.name))

    def image(pid: int, number: int, start_ns: int, parent_pid: int | None) -> Any:
        process = SimpleNamespace(is_forked=parent_pid is not None and number == 0, parent_pid=parent_pid)
        return SimpleNamespace(log=LogFile("", Origin(pid, number)), start_ns=start_ns, process=process, space=Space(f"{pid}.{number}"), interpreter=None)

    logs = [image(1, 0, 10, None), image(1, 1, 20, None), image(1, 2, 30, None), image(2, 0, 15, 1), image(3, 0, 25, 1), image(4, 0, 5, 1), image(5, 0, 20, 1)]
    assert add_jit_sources(None, logs) == []
    assert inherited == [("2.0", "1.0"), ("5.0", "1.1"), ("3.0", "1.1")]
