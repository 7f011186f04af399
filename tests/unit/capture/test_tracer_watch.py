"""test_tracer_watch -- who is traced is found by /proc, and events are off just as long"""

from __future__ import annotations

import itertools
import os
import select
import subprocess
from pathlib import Path

import pytest

from collector.capture import tracer_watch
from collector.capture.tracer_watch import TracerWatch, read_tracer


class Events:
    """Stands for HeldEvents: one process, and what was asked of it."""

    def __init__(self, pid: int = 7) -> None:
        self.pid = pid
        self.asked: list[str] = []

    def pids(self) -> list[int]:
        return [self.pid]

    def suspended_since(self, pid: int) -> float | None:
        return 0.0 if self.asked[-1:] == ["suspend"] else None

    def suspend(self, pid: int) -> None:
        self.asked.append("suspend")

    def resume(self, pid: int) -> None:
        self.asked.append("resume")


def test_read_tracer(tmp_path: Path) -> None:
    (tmp_path / "status").write_text("Name:\tTracerPid:\t9\nPid:\t5\nTracerPid:\t1234\nUid:\t0\n")
    assert read_tracer(str(tmp_path)) == 1234
    assert read_tracer("/proc/self") == 0
    assert read_tracer(str(tmp_path / "gone")) == 0


def test_events_are_off_while_any_thread_is_traced(monkeypatch: pytest.MonkeyPatch) -> None:
    events, tracers = Events(), {"/proc/7": 0, "/proc/7/task/7": 0, "/proc/7/task/8": 0}
    monkeypatch.setattr(tracer_watch, "read_tracer", lambda directory: tracers[directory])
    monkeypatch.setattr(tracer_watch, "_MOST_FILES", 0)
    monkeypatch.setattr(tracer_watch, "SHORTEST_INTERVAL_S", 0.0)
    monkeypatch.setattr(tracer_watch, "_MOST_OF_OUR_TIME", 1e9)
    monkeypatch.setattr(os, "listdir", lambda directory: ["7", "8"])
    watch = TracerWatch(events)  # type: ignore[arg-type]
    watch.look()
    assert events.asked == []
    tracers["/proc/7"] = tracers["/proc/7/task/8"] = 3
    watch.look()
    tracers["/proc/7"] = 0
    watch.look()
    assert events.asked == ["suspend"]
    tracers["/proc/7/task/8"] = 0
    watch.look()
    assert events.asked == ["suspend", "resume"]


def test_a_process_that_asked_for_it_has_time_until_it_is_traced(monkeypatch: pytest.MonkeyPatch) -> None:
    events, tracers, seconds = Events(), {"/proc/7": 0, "/proc/7/task/7": 0}, [0.0]
    monkeypatch.setattr(tracer_watch, "read_tracer", lambda directory: tracers[directory])
    monkeypatch.setattr(tracer_watch, "_MOST_FILES", 0)
    monkeypatch.setattr(tracer_watch, "SHORTEST_INTERVAL_S", 0.0)
    monkeypatch.setattr(tracer_watch, "_MOST_OF_OUR_TIME", 1e9)
    monkeypatch.setattr(os, "listdir", lambda directory: ["7"])
    monkeypatch.setattr(tracer_watch.time, "monotonic", lambda: seconds[0])
    watch = TracerWatch(events)  # type: ignore[arg-type]
    events.suspend(7)

    def look_at(second: float) -> list[str]:
        seconds[0] = second
        watch.look()
        return events.asked

    assert look_at(1.0) == ["suspend"]
    tracers["/proc/7/task/7"] = 3
    assert look_at(1.5) == ["suspend"]
    tracers["/proc/7/task/7"] = 0
    assert look_at(1.6) == ["suspend", "resume"]
    events.suspend(7)
    assert look_at(1.9) == ["suspend", "resume", "suspend"]
    assert look_at(2.1) == ["suspend", "resume", "suspend", "resume"]


def test_what_others_do_amid_a_look_is_not_its_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a look at which the machine is busy would be the last one for long."""
    seconds = itertools.count(0.0, 100.0)
    monkeypatch.setattr(tracer_watch, "read_tracer", lambda directory: 0)
    monkeypatch.setattr(tracer_watch, "_MOST_FILES", 0)
    monkeypatch.setattr(tracer_watch.time, "monotonic", lambda: next(seconds))
    watch = TracerWatch(Events())  # type: ignore[arg-type]
    watch.look()
    assert watch.interval_s is not None and watch.interval_s < 100


def test_a_status_that_is_opened_is_looked_at_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracer_watch, "SHORTEST_INTERVAL_S", 1e9)  # never by the clock
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process:
        events = Events(process.pid)
        watch = TracerWatch(events)  # type: ignore[arg-type]
        assert not watch.look()
        if watch.fileno() < 0:
            pytest.skip("this system does not let us watch files")
        monkeypatch.setattr(tracer_watch, "_parse_tracer", lambda status: 3)
        assert not watch.look() and events.asked == []
        Path(f"/proc/{process.pid}/status").read_text()
        assert select.select([watch], [], [], 10)[0]
        assert watch.look() and events.asked == ["suspend"]
        watch.close()
        process.communicate()


def test_a_process_that_has_ended_is_watched_no_longer() -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process:
        events = Events(process.pid)
        watch = TracerWatch(events)  # type: ignore[arg-type]
        watch.look()
        process.communicate()
    watch._next_s = 0.0
    watch.look()
    assert events.asked == [] and not watch._files
    watch.close()
