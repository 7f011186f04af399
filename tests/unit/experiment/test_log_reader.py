"""test_log_reader -- good logs: every kind, every way to read, serial numbers, versions, what is unknown"""

from __future__ import annotations

import os

import msgpack
import pytest
from log_sources import MemorySource, content, read_fed, read_file
from writer import LogBuilder, column, definitions, frame, initialize, record, samples, small_log

from collector.errors import DamagedExperimentError, ExperimentError, ExperimentNotFoundError, UsageError
from collector.experiment.events import DropNotify, Initialize, Metric, Sample, UserData
from collector.experiment.log_reader import EventReader, State
from collector.experiment.log_source import Hole, read_at
from collector.experiment.samples import PcSample, PcSampleBlock
from collector.format import FIELDS, DropCause, Kind, StackEnd

_VALUES = {"uint": 2, "int": -3, "str": "word \udcff", "bin": b"\0\xff", "array of str": ["a", ""], "uint or float or array": 1.5}


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind is not Kind.PCSAMPLE])
def test_every_kind_comes_back_as_it_was_written(kind):
    given = {name: _VALUES[type_name] for name, type_name, _ in FIELDS[kind]}
    if kind is Kind.INITIALIZE:
        given["version_major"] = 1
    (event,) = read_fed(frame(record(kind, 123, 45, **given), 0))
    assert (event.kind, event.time, event.thread, event.serial, event.log_offset) == (kind, 123, 45, 1, 22)
    for name, value in given.items():
        assert getattr(event, name) == (tuple(value) if isinstance(value, list) else value)


def test_a_record_of_several_values_is_an_event_for_each():
    data = frame(record(Kind.METRIC, 7, 1, source=5, interval_ns=3, value=[9, None, 0.25, None]) + record(Kind.PAUSE, 8), 0)
    first, second, after = read_fed(data)
    assert [(e.source, e.value, e.serial) for e in (first, second)] == [(5, 9, 1), (7, 0.25, 2)]
    assert {(e.kind, e.time, e.thread, e.interval_ns, e.log_offset) for e in (first, second)} == {(Kind.METRIC, 7, 1, 3, 22)}
    assert (after.kind, after.serial) == (Kind.PAUSE, 3)
    (unknown,) = read_fed(frame(record(Kind.METRIC, source=None, value=[None, 1]), 0))
    assert (unknown.source, unknown.value) == (None, 1)
    assert read_fed(frame(record(Kind.METRIC, value=[]) + record(Kind.METRIC, value=[None]), 0)) == []
    for value in ([1, -1], ["x"], [[1]], [True], [False], [1] * 65):
        (loss,) = read_fed(frame(record(Kind.METRIC, value=value), 0))
        assert loss.cause is DropCause.DAMAGE


def test_a_value_may_be_that_of_the_record_before_in_the_frame():
    def values(*records, source=2):
        return b"".join(record(Kind.METRIC, source=source, value=value) for value in records)

    told = read_fed(frame(values([1, None, 0.5], 9, [True, 7, True, 8], [True, True, None, 3], [5, True]), 0))
    assert [(e.source, e.value) for e in told] == [
        (2, 1), (4, 0.5), (2, 9), (2, 1), (3, 7), (4, 0.5), (5, 8), (2, 1), (3, 7), (5, 3), (2, 5), (3, 7)
    ]
    assert len(read_fed(frame(values([1, 2]) + record(Kind.PAUSE, cause=-1) + values([True, 2]), 0))) == 4  # a broken record ends it
    others = (values([1, 2]) + values([True, 2], source=3), values([1, None], [1, True]), values([1, 2], [3], [4, True]), values([1, 2], [True, -1], [True, 2]))
    for payload in others:
        losses = [event for event in read_fed(frame(payload, 0)) if event.kind is Kind.DROPNOTIFY]
        assert losses and all(loss.cause is DropCause.DAMAGE for loss in losses)
    first, second = frame(values([1, 2]), 0), frame(values([True, 2]), 1)
    assert [event.kind for event in read_fed(first + second)] == [Kind.METRIC, Kind.METRIC, Kind.DROPNOTIFY]


def test_samples_have_time_weights_and_stack():
    stacks = [((0x401200, 0x401010), 0), ((0xFFFF_FFFF_FFFF_FFF0, 5), 3)]
    data = frame(samples(5000, 9, [(1, 2, 3, 1), (70000, 0, 300, 0)], stacks, unit_ns=10), 0)
    first, second = read_fed(data)
    assert isinstance(first, PcSample) and first.kind is Kind.PCSAMPLE
    assert (first.time, first.user_ns, first.system_ns, first.thread, first.source) == (5010, 20, 30, 9, 1)
    assert (second.time, second.user_ns, second.system_ns, second.serial) == (705010, 0, 3000, 2)
    assert first.stack.addresses == (0xFFFF_FFFF_FFFF_FFF0, 5) and first.stack.end is StackEnd.GUESSED
    assert second.stack.addresses == (0x401200, 0x401010) and second.stack.leaf == 0x401200
    assert len(second.stack) == 2 and second.stack == first.block.stack_table().stack(0)


@pytest.mark.parametrize("count", [1, 3, 300, 600, 4000])
@pytest.mark.parametrize("spread", [0, 200, 60000, 1 << 30, 1 << 40])
def test_columns_of_every_width_and_length(count, spread):
    rows = [(7 + i * 7919 % (spread + 1), i * 31 % (spread + 1), 5, i % 2) for i in range(count)]
    events = read_fed(frame(samples(0, 1, rows, [((1,), 0), ((2,), 0)], unit_ns=3), 0))
    time = 0
    for row, event in zip(rows, events, strict=True):
        time += 3 * row[0]
        assert (event.time, event.user_ns, event.system_ns, event.stack.leaf) == (time, 3 * row[1], 15, row[3] + 1)


def test_blocks_give_columns_and_sums():
    log = small_log()
    blocks = list(EventReader(MemorySource(log.data)).blocks())
    assert [len(block) for block in blocks] == [3, 3, 3]
    assert all(isinstance(block, PcSampleBlock) for block in blocks)
    assert blocks[0].times.tolist() == [1, 1, 2] and list(blocks[0].iter_times()) == [3000, 4000, 6000]
    assert (blocks[0].last_time, blocks[0].user_ns, blocks[0].system_ns) == (6000, 6000, 1000)
    assert blocks[0].values[0].raw is not None and blocks[0].values[0].raw.format == "B"
    assert blocks[1].serial == blocks[0].serial + 3


def test_records_and_events_number_alike():
    log = small_log()
    events = read_file(log.data)
    assert [event.serial for event in events] == list(range(1, len(events) + 1))
    reader = EventReader(MemorySource(log.data))
    assert [record.serial for record in reader.records()] == [1, 2, 3, 4, 7, 10, 13]
    assert reader.event_count == len(events)


def test_reading_can_change_its_mind_in_mid_block():
    reader = EventReader(MemorySource(small_log().data))
    first = [next(iter(reader)) for _ in range(5)]
    rest = [reader.read(), *reader]
    assert [event.serial for event in (*first, *rest)] == list(range(1, 14))
    assert reader.read() is None and reader.state is State.EOF


@pytest.mark.parametrize("piece", range(1, 460, 7))
def test_pieces_of_any_size_make_no_difference(piece):
    data = bytes(small_log().data)
    whole = [content(event) for event in read_fed(data)]
    assert [content(event) for event in read_fed(data, piece)] == whole
    assert [content(event) for event in read_file(data, piece)] == whole


def test_states_of_a_stream():
    log = small_log()
    data, cut = bytes(log.data), log.spans[0][1] + 3
    reader = EventReader()
    assert reader.read() is None and reader.state is State.REQUIRE_DATA
    reader.feed(data[:cut])
    assert reader.read() is not None and reader.state is State.OK
    assert len(list(reader)) == 1 and reader.state is State.REQUIRE_DATA
    reader.feed(memoryview(data)[cut:])
    assert len(list(reader)) == 11


def test_feeding_a_file_is_refused():
    with pytest.raises(UsageError):
        EventReader(MemorySource()).feed(b"")


def test_descriptors_from_their_position_and_pipes(tmp_path):
    data = bytes(small_log().data)
    path = tmp_path / "x"
    path.write_bytes(b"skip" + data)
    with open(path, "rb") as file:
        os.lseek(file.fileno(), 4, os.SEEK_SET)
        with EventReader(file.fileno()) as reader:
            events = list(reader)
        assert os.lseek(file.fileno(), 0, os.SEEK_CUR) == 4
    assert len(events) == 13 and events[0].log_offset == 22
    with open(path, "r+b") as file:  # a hole and more behind it
        file.truncate(1 << 20)
        file.seek(0, os.SEEK_END)
        file.write(b"x")
        file.flush()
        os.lseek(file.fileno(), 4, os.SEEK_SET)
        with EventReader(file.fileno()) as reader:
            assert len(list(reader)) == 13
        assert os.lseek(file.fileno(), 0, os.SEEK_CUR) == 4
    read_end, write_end = os.pipe()
    os.set_blocking(read_end, False)
    reader = EventReader(read_end)
    assert list(reader) == [] and reader.state is State.REQUIRE_DATA
    os.write(write_end, data[:300])
    assert len(list(reader)) == 6 and reader.state is State.REQUIRE_DATA
    os.write(write_end, data[300:])
    os.close(write_end)
    assert len(list(reader)) == 7 and reader.state is State.EOF
    os.close(read_end)


def test_what_is_no_log_gets_one_sentence(tmp_path):
    with pytest.raises(ExperimentNotFoundError, match="there is no log at"):
        EventReader(tmp_path / "none.log").read()
    with pytest.raises(ExperimentError, match="cannot be read"):
        EventReader(tmp_path).read()
    with pytest.raises(ExperimentError, match="descriptor"):
        EventReader(987654)


def test_a_newer_version_is_refused_and_stays_refused():
    reader = EventReader()
    reader.feed(frame(record(Kind.USERDATA, 1, 0, data=b"x") + initialize(version_major=2), 0))
    assert isinstance(reader.read(), UserData)
    for _ in range(2):
        with pytest.raises(ExperimentError, match="version 2 of the format"):
            reader.read()
        assert reader.state is State.ERROR


def test_a_newer_minor_version_with_more_fields_and_kinds_is_read():
    wider = msgpack.packb([int(Kind.SAMPLE), 5, 0, "label", 0, *[1] * (len(FIELDS[Kind.SAMPLE]) - 2), "new", {"even": "a map"}])
    reader = EventReader()
    reader.feed(frame(initialize(version_minor=9) + msgpack.packb([200, 3, 0, "?"]) + wider + msgpack.packb([200, 6, 0]), 0))
    greeting, sample, unknown = reader.finish()
    assert isinstance(greeting, Initialize) and greeting.origin == (77, 0)
    assert isinstance(sample, Sample) and (sample.label, sample.written_bytes, sample.serial) == ("label", 1, 2)
    assert reader.unknown_kinds == {200: 2}
    assert isinstance(unknown, DropNotify) and (unknown.cause, unknown.count) == (DropCause.UNKNOWN_KIND, 2)
    assert list(reader.finish()) == []


def test_missing_fields_are_none():
    metric, sample = read_fed(frame(msgpack.packb([37, 8, 9, 1]) + msgpack.packb([32, 8, 9, None, 77]), 0))
    assert isinstance(metric, Metric) and (metric.source, metric.value) == (1, None)
    assert sample.label is None and sample.cause == 77


@pytest.mark.parametrize(
    "values",
    [
        [1], [1, 2], "text", {}, 7, [-1, 0, 0], [1, -1, 0], [1, 0, None], ["5", 0, 0], [True, 0, 0], [14, 0, 0, "text"],
        [32, 0, 0, b"bytes"], [32, 0, 0, "x", -1], [3, 0, 0, 1, 0, 0, 0, 0, 0, "", "", "", 0, 0, "", ["a", 1]],
        [5, 0, 0, 1, 2, 1000, [0, b"\1\2\3"], [0, b""], [0, b""], [0, b""], 0, b""],
        [5, 0, 0, 1, 0, 1000, [0, b"\1"], [0, b""], [0, b""], [0, b""], 0, b""],
        [5, 0, 0, 1, 1, 1000, [-1, b""], [0, b""], [0, b""], [0, b""], 0, b""],
        [5, 0, 0, 1, 65537, 1000, [0, b""], [0, b""], [0, b""], [0, b""], 0, b""],
        [5, 0, 0, 1, None, 1000, [0, b""], [0, b""], [0, b""], [0, b""], 0, b""],
        [5, 0, 0, 1, 1, 1000, [0, b""]],
    ],
    ids=repr,
)
def test_a_record_that_contradicts_the_format_is_damage_of_its_own_extent(values):
    bad, good = msgpack.packb(values), record(Kind.USERDATA, 4, 0, data=b"good")
    before, notice, after = read_fed(frame(good + bad + good, 0))
    assert before.data == after.data == b"good"
    assert (notice.cause, notice.offset, notice.length) == (DropCause.DAMAGE, 22 + len(good), len(bad))
    assert (notice.time, notice.thread) == (4, 0)


def test_an_unknown_stack_does_not_cost_the_sample():
    bad = record(
        Kind.PCSAMPLE, 0, 1, source=1, count=3, unit_ns=1, times=column([1, 1, 1]),
        values=[column([5, 6, 7]), column([0, 0, 0])], stacks=column([0, 1, 9]), stack_count=2, definitions=definitions([((3,), 0)]) + b"\x80",
    )
    known, undecoded, undefined = read_fed(frame(bad, 0))
    assert known.stack.addresses == (3,)
    assert (undecoded.user_ns, undecoded.stack.addresses, undecoded.stack.leaf) == (6, (), None)
    assert (undefined.user_ns, len(undefined.stack), bool(undefined.stack)) == (7, 0, False)


def test_strict_reading_delivers_what_came_before_and_then_fails_for_good():
    data = bytearray(small_log().data)
    data[400] ^= 1
    reader = EventReader(MemorySource(data), strict=True)
    found = []
    with pytest.raises(DamagedExperimentError, match="damaged"):
        for event in reader:
            found.append(event)
    assert len(found) == 9
    for _ in range(2):
        with pytest.raises(DamagedExperimentError):
            reader.read()
        assert reader.state is State.ERROR
    assert len(list(EventReader(MemorySource(small_log().data), strict=True))) == 13


def test_no_frame_may_be_larger_than_the_format_says():
    fits = LogBuilder().add(record(Kind.USERDATA, 1, 0, data=bytes((1 << 20) - 16 - 12)))
    assert len(fits.data) < (1 << 20) + 6
    (event,) = read_fed(fits.data)
    assert isinstance(event, UserData)
    too_large = frame(record(Kind.USERDATA, 1, 0, data=bytes(1 << 20)), 0)
    (notice,) = read_fed(too_large)
    assert (notice.cause, notice.offset, notice.length) == (DropCause.DAMAGE, 0, notice.length)


def test_a_file_is_read_up_to_its_next_hole(tmp_path):
    path = tmp_path / "x"
    with open(path, "wb") as file:
        file.write(b"x" * 4096)
        file.truncate(1 << 20)
    with open(path, "rb") as file:
        data = read_at(file.fileno(), 1, 1 << 20)
        if len(data) > 1 << 19:
            pytest.skip("this system has no holes in the files of its temporary directory")
        assert set(data) == {ord("x")} and len(data) == 4095
        assert read_at(file.fileno(), 4096, 1 << 20) == Hole(1 << 20, True)
