"""test_follow -- an experiment that is read while it grows; the test writes whenever the reader would sleep"""

from __future__ import annotations

import os
import subprocess

import pytest
from writer import LogBuilder, definitions, initialize, open_slot, record, samples, write_untruncated

from collector.errors import ExperimentNotFoundError
from collector.experiment.follow import follow_events
from collector.experiment.liveness import read_process_state
from collector.format import DropCause, Kind


class _Script:
    """Called instead of sleeping: does one step after the other, and fails if the reader still waits when all are done."""

    def __init__(self, *steps) -> None:
        self._steps = list(steps)
        self._idle = 0

    def __call__(self, seconds: float) -> None:
        assert 0 < seconds <= 1
        if self._steps:
            self._steps.pop(0)()
        else:
            self._idle += 1
            assert self._idle < 50, "follow_events does not end"


def _append(path, data: bytes):
    def step() -> None:
        with open(path, "ab") as file:
            file.write(data)

    return step


def _log_of(pid: int) -> LogBuilder:
    log = LogBuilder().add(initialize(pid=pid))
    log.add(samples(1000, 5, [(1, 1, 1, 0), (2, 2, 2, 0)]))
    log.add(record(Kind.SAMPLE, 9000, 5, label="here"))
    return log.add(record(Kind.CLOSELOG, 10000, 0))


def test_events_come_as_they_are_written_and_end_with_the_log(tmp_path):
    log, path = _log_of(os.getpid()), tmp_path / f"{os.getpid()}.0.log"
    path.write_bytes(log.data[:40])
    cuts = [40, log.spans[0][1], log.spans[1][1] - 3, log.spans[2][1], len(log.data)]
    script = _Script(*(_append(path, bytes(log.data[a:b])) for a, b in zip(cuts, cuts[1:])))
    kinds = [event.kind.name for event in follow_events(tmp_path, script)]
    assert kinds == ["INITIALIZE", "PCSAMPLE", "PCSAMPLE", "SAMPLE", "CLOSELOG"]


def test_a_frame_in_the_making_is_waited_for(tmp_path):
    log, path = _log_of(os.getpid()), tmp_path / f"{os.getpid()}.0.log"
    start, end = log.spans[1]
    path.write_bytes(log.data[:start] + bytes(end - start) + log.data[end : log.spans[2][1]] + bytes(4096))

    def fill() -> None:
        with open(path, "r+b") as file:
            file.write(log.data)

    seen = [(event.kind.name, event.serial) for event in follow_events(tmp_path, _Script(lambda: None, fill))]
    assert seen == [("INITIALIZE", 1), ("PCSAMPLE", 2), ("PCSAMPLE", 3), ("SAMPLE", 4), ("CLOSELOG", 5)]


def test_a_gap_that_stays_is_told_in_the_end(tmp_path, monkeypatch):
    monkeypatch.setattr("collector.experiment.follow._PATIENCE_SECONDS", 0.0)
    log, path = _log_of(os.getpid()), tmp_path / f"{os.getpid()}.0.log"
    start, end = log.spans[1]
    path.write_bytes(log.data[:start] + bytes(end - start) + log.data[end:])
    found = list(follow_events(tmp_path, _Script()))
    assert [event.kind.name for event in found] == ["INITIALIZE", "DROPNOTIFY", "SAMPLE", "CLOSELOG"]
    assert found[1].cause is DropCause.MISSING_FRAMES


def test_a_log_that_says_nothing_yet_is_waited_for(tmp_path):
    """Its file is there before its first record, which says who writes it."""
    launch, log = tmp_path / "launch.log", tmp_path / f"{os.getpid()}.0.log"
    launch.write_bytes(b"")

    def begin() -> None:
        launch.write_bytes(bytes(_log_of(os.getpid()).data))
        log.write_bytes(bytes(_log_of(os.getpid()).data))

    assert len(list(follow_events(tmp_path, _Script(lambda: None, begin)))) == 10


def test_a_log_that_never_says_anything_is_not_waited_for(tmp_path):
    (tmp_path / "5.0.log").write_bytes(b"")
    (tmp_path / "6.0.log").write_bytes(b"no frame at all")
    found = list(follow_events(tmp_path, _Script()))
    assert [(event.kind.name, event.length) for event in found] == [("DROPNOTIFY", 15)]


def test_new_processes_are_found_and_the_launcher_ends_it(tmp_path):
    launch, pid = tmp_path / "launch.log", os.getpid()
    builder = LogBuilder().add(initialize(pid=pid)).add(record(Kind.CLOSELOG, 20000, 0))
    cut = builder.spans[0][1]
    launch.write_bytes(builder.data[:cut])
    log = bytes(_log_of(pid).data)
    script = _Script(
        lambda: None, _append(tmp_path / f"{pid}.0.log", log), lambda: None,
        _append(tmp_path / f"{pid}.1.log", log), _append(launch, bytes(builder.data[cut:])),
    )
    found = [(str(event.origin), event.kind.name) for event in follow_events(tmp_path, script)]
    assert found[0] == ("launch", "INITIALIZE") and found[-1] == ("launch", "CLOSELOG")
    assert [origin for origin, _ in found[1:-1]] == [f"{pid}.0"] * 5 + [f"{pid}.1"] * 5


def test_the_open_frames_of_the_killed_come_last(tmp_path):
    child = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    try:
        log, path = _log_of(child.pid), tmp_path / f"{child.pid}.0.log"
        rows = [(1, 10, 0, 0, definitions([((5,), 0)]))]
        write_untruncated(path, log.data[: log.spans[2][0] + 9], open_slot(1000, 5, rows) + open_slot(7000, 6, rows))

        def kill() -> None:
            child.kill()
            child.wait()

        found = list(follow_events(tmp_path, _Script(lambda: None, kill)))
    finally:
        child.kill()
        child.wait()
        child.stdin.close()
    assert [event.kind.name for event in found] == ["INITIALIZE", "PCSAMPLE", "PCSAMPLE", "DROPNOTIFY", "PCSAMPLE"]
    assert found[3].cause is DropCause.DAMAGE and (found[4].thread, found[4].time) == (6, 8000)


def test_who_has_the_number_of_a_dead_process_is_not_waited_for(tmp_path):
    _, start_ticks = read_process_state(1)
    log = LogBuilder().add(initialize(pid=1, start_ticks=start_ticks + 1))
    write_untruncated(tmp_path / "1.0.log", bytes(log.data), open_slot(7000, 6, [(1, 10, 0, 0, definitions([((5,), 0)]))]))
    assert [event.kind.name for event in follow_events(tmp_path, _Script())] == ["INITIALIZE", "PCSAMPLE"]


def test_following_nothing_is_refused(tmp_path):
    with pytest.raises(ExperimentNotFoundError):
        list(follow_events(tmp_path / "none"))
