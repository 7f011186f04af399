"""test_open_frames -- samples of a killed process: decoded from its slots, torn or not, and moved into the log exactly once"""

from __future__ import annotations

import errno
import os
import time

import pytest
from log_sources import content
from writer import LogBuilder, call_slot, definitions, initialize, open_slot, record, records_slot, samples, write_untruncated

from collector.errors import ExperimentError, ExperimentNotFoundError
from collector.experiment.directory import open_directory
from collector.experiment.liveness import read_process_state
from collector.experiment.log_reader import EventReader, State
from collector.experiment.log_source import is_untruncated
from collector.experiment.merge import events, iter_records
from collector.experiment.open_frames import recover
from collector.experiment.open_slots import decode_slot, iter_slots, read_open_records
from collector.experiment.origin import Origin
from collector.format import Kind

_STACKS = [((0x401200, 0x401010), 0), ((0x401208, 0x401010), 5)]
_FIRST = definitions(_STACKS[:1])
_ROWS = [(1, 10, 0, 0, _FIRST), (2, 20, 1, 1, definitions(_STACKS)[len(_FIRST) :]), (3, 30, 0, 0, b"")]
_DEAD = 4_194_300  # no process has this number: the kernel's limit is 4,194,304 and nothing runs that long here
_FRAMES = bytes(LogBuilder().add(initialize(pid=_DEAD)).add(samples(1000, 5, [(1, 1, 1, 0)])).data)


def _dead(log) -> bool:
    return False


def _alive(log) -> bool:
    return True


@pytest.fixture
def experiment(tmp_path):
    slots = open_slot(9000, 7, _ROWS) + bytes(65536) + open_slot(1000, 5, _ROWS) + open_slot(8000, 6, _ROWS[:2])
    write_untruncated(tmp_path / f"{_DEAD}.0.log", _FRAMES, slots)
    return tmp_path


def _samples(found):
    return [content(event) for event in found if event.kind is Kind.PCSAMPLE]


def test_a_slot_is_a_block():
    (block,) = decode_slot(open_slot(9000, 7, _ROWS, source=4))
    assert (block.time, block.thread, block.source, block.count, block.stack_count) == (9000, 7, 4, 3, 2)
    got = [(s.time, s.user_ns, s.system_ns, s.stack.addresses, int(s.stack.end)) for s in block.iter_samples()]
    assert got == [(10000, 10000, 0, *_STACKS[0]), (12000, 20000, 1000, *_STACKS[1]), (15000, 30000, 0, *_STACKS[0])]


@pytest.mark.parametrize(
    ("commits", "torn", "count"),
    [((3, 2), (), 3), ((2, 3), (), 3), ((3, 2), (0,), 2), ((2, 3), (1,), 2), ((3, 2), (0, 1), 0), ((0, 0), (), 0), ((1, 0), (), 1)],
)
def test_the_longer_of_the_commits_that_hold_counts(commits, torn, count):
    blocks = decode_slot(open_slot(9000, 7, _ROWS, commits=commits, torn=torn))
    assert sum(block.count for block in blocks) == count and len(blocks) == (count > 0)


def test_free_and_foreign_slots_are_nothing():
    assert decode_slot(open_slot(9000, 7, _ROWS, state=0)) == []
    assert decode_slot(b"x" * 65536) == []
    assert decode_slot(bytes(64)) == []


def test_a_reader_merges_what_the_log_lacks(experiment):
    merged = list(events(experiment))
    assert [event.time for event in merged] == sorted(event.time for event in merged)
    assert [(event.thread, event.time) for event in merged if event.kind is Kind.PCSAMPLE] == [
        (5, 2000), (6, 9000), (7, 10000), (6, 11000), (7, 12000), (7, 15000)
    ]
    assert sorted(event.serial for event in merged) == list(range(1, 8))
    assert _samples(events(experiment / f"{_DEAD}.0.log")) == [content(e) for b in iter_records(open_directory(experiment).logs[0])
                                                                if b.kind is Kind.PCSAMPLE for e in b.iter_samples()]


def test_recovery_gives_the_same_once_and_for_all(experiment):
    before = sorted(map(str, _samples(events(experiment))))
    done = recover(experiment, _dead)
    assert (done.sample_count, done.frame_count, done.alive) == (5, 2, ())
    assert os.listdir(experiment) == [f"{_DEAD}.0.log"]
    assert sorted(map(str, _samples(events(experiment)))) == before
    reader = EventReader(experiment / f"{_DEAD}.0.log", strict=True)
    assert len(list(reader)) == 7 and reader.state is State.EOF
    assert recover(experiment, _dead).sample_count == 0


def test_a_call_that_never_came_back_is_told_once(experiment):
    text = "libslow.so: slow_value (caf\u00e9)"
    path = experiment / f"{_DEAD}.0.log"
    frames = LogBuilder().add(initialize(pid=_DEAD)).data
    for _ in range(2):
        write_untruncated(path, frames, call_slot(12345, 7, text.encode()) + open_slot(9000, 7, _ROWS))
        (message,) = [event for event in events(experiment) if event.kind is Kind.MESSAGE]
        assert (message.time, message.thread, message.severity, message.subject, message.count) == (12345, 7, 2, text, 1)
        recover(experiment, _dead)
        assert not is_untruncated(str(path))
        frames = path.read_bytes()
    (message,) = decode_slot(call_slot(0, 0, b"\xff" * 65408))
    assert message.subject == "\udcff" * 65408


def test_records_of_a_slot_come_once_and_share_a_frame(experiment):
    metrics = [record(Kind.METRIC, 1001 + i, source=2, interval_ns=20, value=[i, None, 0.5]) for i in range(3)]
    records = [record(Kind.PMCALLOCATE, 1001, source=2, name="a", clock="plugin", attributes=["type=double"]), record(Kind.PMCATTACH, 1001, source=2), *metrics]
    frames = LogBuilder().add(initialize(pid=_DEAD)).add(*records[:3]).data  # as if killed before the slot was emptied, two readings later
    path = experiment / f"{_DEAD}.0.log"
    expected = [(1001, 2, 0), (1001, 4, 0.5), (1002, 2, 1), (1002, 4, 0.5), (1003, 2, 2), (1003, 4, 0.5)]
    for _ in range(2):
        write_untruncated(path, frames, open_slot(9000, 7, _ROWS) + records_slot(1001, b"".join(records)))
        found = list(events(experiment))
        assert [(e.time, e.source, e.value) for e in found if e.kind is Kind.METRIC] == expected
        assert [e.kind for e in found if e.kind in (Kind.PMCALLOCATE, Kind.PMCATTACH)] == [Kind.PMCALLOCATE, Kind.PMCATTACH]
        assert sorted(e.serial for e in found) == list(range(1, len(found) + 1))
        recover(experiment, _dead)
        assert not is_untruncated(str(path))
        frames = path.read_bytes()
    reader = EventReader(path, strict=True)
    assert len(list(reader)) == len(found) and reader.next_sequence == 4
    torn = records_slot(1001, b"".join(records), torn=True)
    assert decode_slot(torn) == [] and [e.kind for e in decode_slot(records_slot(1, metrics[0] + b"\xc1"))] == [Kind.METRIC, Kind.METRIC]


def test_recovery_that_was_interrupted_is_repeated(experiment):
    path = experiment / f"{_DEAD}.0.log"
    slots = b"".join(iter_slots(path))
    recover(experiment, _dead)
    write_untruncated(path, path.read_bytes(), slots)  # as if it had been killed before the last step
    assert recover(experiment, _dead).sample_count == 0
    assert len(_samples(events(experiment))) == 6


def test_recovery_cuts_the_sparse_tail_and_keeps_torn_bytes_as_damage(experiment):
    path = experiment / f"{_DEAD}.0.log"
    size = len(_FRAMES)
    with open(path, "r+b") as file:
        file.seek(size + 30)
        file.write(b"torn")
    recover(experiment, _dead)
    found = list(events(experiment))
    assert len(_samples(found)) == 6 and path.stat().st_size < size + 1000
    (notice,) = [event for event in found if event.kind is Kind.DROPNOTIFY]
    assert (notice.offset, notice.length) == (size + 30, 4)


def test_the_living_are_left_alone(experiment):
    before = {path.name: path.read_bytes() for path in experiment.iterdir()}
    assert recover(experiment, _alive).alive == (Origin(_DEAD, 0),)
    assert {path.name: path.read_bytes() for path in experiment.iterdir()} == before


def test_liveness_is_that_of_the_process(tmp_path):
    for pid in (os.getpid(), _DEAD):
        write_untruncated(tmp_path / f"{pid}.0.log", LogBuilder().add(initialize(pid=pid)).data, open_slot(9000, 7, _ROWS))
    done = recover(tmp_path)
    assert done.alive == (Origin(os.getpid(), 0),) and done.sample_count == 3


@pytest.mark.parametrize(("later", "is_alive"), [(0, True), (1, False)])
def test_a_number_that_was_used_again_is_another_process(tmp_path, later: int, is_alive: bool):
    _, start_ticks = read_process_state(os.getpid())
    frames = LogBuilder().add(initialize(pid=os.getpid(), start_ticks=start_ticks - later)).data
    write_untruncated(tmp_path / f"{os.getpid()}.0.log", frames, open_slot(9000, 7, _ROWS))
    assert bool(recover(tmp_path).alive) is is_alive


def test_gigabytes_of_holes_are_not_read(tmp_path):
    log = LogBuilder().add(initialize(pid=_DEAD))
    path = tmp_path / f"{_DEAD}.0.log"
    with open(path, "wb") as file:
        file.write(log.data)
        file.truncate(1 << 36)
        if os.stat(path).st_blocks > 1 << 11:
            pytest.skip("this file system does not keep holes")
        try:
            os.lseek(file.fileno(), 1 << 20, os.SEEK_DATA)
            pytest.skip("this file system does not tell where holes are")
        except OSError:
            pass
        file.seek((60 << 30) + (3 << 30))
        file.write(open_slot(9000, 7, _ROWS))
    began = time.process_time()
    assert len(list(iter_slots(path))) == 1
    assert len(_samples(events(tmp_path))) == 3
    assert recover(tmp_path, _dead).sample_count == 3
    assert path.stat().st_size < 1 << 20
    assert time.process_time() - began < 10  # reading 64 GiB of zeros takes longer, reading none a millisecond


def test_a_full_disk_leaves_all_as_it_was(experiment, monkeypatch):
    path = experiment / f"{_DEAD}.0.log"
    before, pwrite, calls = path.read_bytes(), os.pwrite, []

    def write_a_little(descriptor, data, offset):
        calls.append(offset)
        if len(calls) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        return pwrite(descriptor, data[:50], offset)

    monkeypatch.setattr(os, "pwrite", write_a_little)
    with pytest.raises(ExperimentError, match="cannot be moved to its frames: No space left on device"):
        recover(experiment, _dead)
    assert path.read_bytes() == before and calls == [len(_FRAMES), len(_FRAMES) + 50, len(_FRAMES)]
    monkeypatch.undo()
    assert recover(experiment, _dead).sample_count == 5


def test_what_was_pending_is_the_threads_end(tmp_path):
    """Of a thread without rows as well; once it is in the frames it is not told again."""
    slots = open_slot(9000, 7, _ROWS, pending_ns=5_000_000) + open_slot(8000, 6, [], pending_ns=70)
    path = tmp_path / f"{_DEAD}.0.log"
    write_untruncated(path, _FRAMES, slots)
    before = sorted(map(repr, map(content, events(path))))
    assert [(event.time, event.thread, event.is_exit, event.pending_ns, event.user_ns) for event in events(path) if event.kind is Kind.THR_EXIT] == [
        (8000, 6, 0, 70, None), (9000, 7, 0, 5_000_000, None),
    ]  # fmt: skip
    assert recover(tmp_path, _dead).sample_count == 3
    assert sorted(map(repr, map(content, events(path)))) == before
    write_untruncated(path, path.read_bytes(), slots)
    assert sorted(map(repr, map(content, events(path)))) == before


def test_what_cannot_be_recovered_gets_one_sentence(experiment, tmp_path):
    with pytest.raises(ExperimentNotFoundError):
        recover(tmp_path / "none")
    assert read_open_records(str(tmp_path / "none.log")) == []


def test_a_log_read_by_its_descriptor_or_under_another_name(experiment):
    """Nobody knows of which process it is, but what lies in its open frames is not lost."""
    log = experiment / f"{_DEAD}.0.log"
    expected = [content(event) for event in events(log)]
    renamed = experiment / "renamed"
    renamed.hardlink_to(log)
    assert len(_samples(events(log))) == 6
    assert [content(event) for event in events(renamed)] == expected
    assert [content(event) for event in events(log, strict=True)] == expected
    with log.open("rb") as file:
        assert [content(event) for event in events(file.fileno())] == expected
