"""test_merge -- the events of many logs in order of time, exactly, holding only what overlaps"""

from __future__ import annotations

import random

import pytest
from log_sources import content, read_file
from writer import LogBuilder, initialize, record, samples, small_log

import collector
from collector.errors import DamagedExperimentError, ExperimentError, ExperimentNotFoundError
from collector.experiment import merge
from collector.experiment.directory import open_directory
from collector.experiment.merge import events
from collector.experiment.origin import LAUNCHER, Origin
from collector.format import Kind

_PID = 4_194_200  # and up: numbers that no process has


def _busy_log(rng: random.Random, pid: int, frames: int) -> LogBuilder:
    """Threads whose frames are closed in any order, each up to a second after it began; single events between them."""
    log = LogBuilder().add(initialize(rng.randrange(10**9), pid))
    now = 10**9
    for _ in range(frames):
        now += rng.randrange(10**8)
        if rng.random() < 0.3:
            log.add(record(Kind.SAMPLE, now, 0, label="x"), record(Kind.METRIC, now - rng.randrange(10**8), 3, value=1.5))
            continue
        start = now - rng.randrange(10**9)
        rows = [(rng.randrange((now - start) // 20_000 + 1), 1, 0, 0) for _ in range(rng.randrange(20))]
        log.add(samples(start, rng.randrange(5), rows))
    return log


@pytest.fixture
def experiment(tmp_path):
    rng = random.Random(11)
    for number in range(6):
        (tmp_path / f"{_PID + number}.{number % 2}.log").write_bytes(_busy_log(rng, _PID + number, 60).data)
    (tmp_path / "launch.log").write_bytes(LogBuilder().add(initialize(5, 1), record(Kind.SYSEXIT, 2 * 10**9, 0, pid=3)).data)
    (tmp_path / "objects").mkdir()
    return tmp_path


def test_all_events_come_and_in_order(experiment):
    merged = list(events(experiment))
    assert [event.time for event in merged] == sorted(event.time for event in merged)
    single = [event for log in open_directory(experiment).all_logs for event in read_file(open(log.path, "rb").read())]
    assert sorted(str(content(event)) for event in merged) == sorted(str(content(event)) for event in single)
    assert {event.origin for event in merged} == {log.origin for log in open_directory(experiment).all_logs}


def test_equal_times_keep_the_order_of_process_and_log(tmp_path):
    for pid in (_PID, _PID + 1):
        log = LogBuilder().add(*(record(Kind.USERDATA, 7, 0, data=b"%d" % number) for number in range(3)))
        log.add(samples(6, 1, [(1, 1, 1, 0)], unit_ns=1))
        (tmp_path / f"{pid}.0.log").write_bytes(log.data)
    merged = list(events(tmp_path))
    assert [(event.origin.pid - _PID, event.serial) for event in merged] == [(0, 1), (0, 2), (0, 3), (0, 4), (1, 1), (1, 2), (1, 3), (1, 4)]


def test_merging_holds_only_what_overlaps(experiment, monkeypatch):
    """At any time no frame is loaded whose events, and those of all behind it in its log, are later than the event given."""
    loaded = []
    original = merge.iter_record_groups

    def spy(log, *arguments):
        for group in original(log, *arguments):
            if arguments:
                loaded.append((log.origin, min(record.time for record in group)))
            yield group

    monkeypatch.setattr(merge, "iter_record_groups", spy)
    logs = open_directory(experiment).all_logs
    earliest = {log.origin: list(merge._horizons(log)) for log in logs}
    for event in events(experiment):
        counts = {log.origin: sum(origin == log.origin for origin, _ in loaded) for log in logs}
        for origin, count in counts.items():
            assert count == 0 or earliest[origin][count - 1] <= event.time


def test_a_thousand_logs_need_no_thousand_descriptors(tmp_path):
    import resource

    for number in range(150):
        (tmp_path / f"{_PID + number}.0.log").write_bytes(small_log().data)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, limits[1]))
    try:
        assert sum(1 for _ in events(tmp_path)) == 150 * 13
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_damaged_logs_are_merged_with_their_notices(experiment):
    path = next(experiment.glob(f"{_PID}.*.log"))
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(data)
    merged = list(events(experiment))
    assert [event.time for event in merged] == sorted(event.time for event in merged)
    notices = [event for event in merged if event.kind is Kind.DROPNOTIFY]
    assert notices and all(notice.origin.pid == _PID for notice in notices)


def test_one_log_or_a_descriptor_comes_in_its_own_order(tmp_path):
    path = tmp_path / f"{_PID}.0.log"
    path.write_bytes(small_log().data)
    assert len(list(collector.events(path))) == 13
    with open(path, "rb") as file:
        assert [str(event) for event in events(file.fileno())][1:] != []
    other = tmp_path / "renamed"
    other.write_bytes(small_log().data[:-1])
    *_, last = events(other)
    assert last.kind is Kind.DROPNOTIFY and last.origin == Origin(77, 0)
    with pytest.raises(DamagedExperimentError):
        list(events(other, strict=True))


def test_what_is_no_experiment_gets_one_sentence(tmp_path):
    with pytest.raises(ExperimentNotFoundError, match="there is no experiment at"):
        events(tmp_path / "none")
    with pytest.raises(ExperimentNotFoundError, match="no log in it"):
        events(tmp_path)
    file = tmp_path / "file"
    file.write_text("x")
    with pytest.raises(ExperimentNotFoundError, match="a file, not a directory"):
        open_directory(file)
    with pytest.raises(ExperimentError):
        open_directory("nul\0byte")


def test_directory_knows_its_logs(experiment):
    for name in ("77.0.log.old", "x.0.log", "77.log", "77.0.txt", "-1.0.log"):
        (experiment / name).write_bytes(b"")
    found = open_directory(experiment)
    assert [log.origin for log in found.logs] == [Origin(_PID + number, number % 2) for number in range(6)]
    assert found.launch_log is not None and found.launch_log.origin == LAUNCHER and str(LAUNCHER) == "launch"
