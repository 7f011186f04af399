"""test_damage -- cut logs, flipped bits, thousands of seeded damages: nothing intact is lost, nothing wrong accepted,
every loss told with its extent"""

from __future__ import annotations

import os
import random
from collections.abc import Callable

import pytest
from log_sources import MemorySource, content, read_fed, read_file, split_notices
from writer import LogBuilder, frame, initialize, record, samples, small_log

from collector.experiment.log_reader import EventReader, State
from collector.format import FRAME_HEADER_BYTES, DropCause, Kind

_DAMAGE_COUNT = 12_000 if os.environ.get("COLLECTOR_TEST_THOROUGH") else 1_500

_PAYLOAD_CRC = FRAME_HEADER_BYTES - 4


class _Truth:
    """A good log, and the events of each of its frames."""

    def __init__(self, log: LogBuilder) -> None:
        self.data = bytes(log.data)
        self.spans = log.spans
        self.frames = [[content(event) for event in read_fed(self.data[start:end])] for start, end in log.spans]
        for number, events in enumerate(self.frames[1:], 1):  # a frame alone lacks those before it, and that is told
            assert events.pop(0)[2:4] == (0, DropCause.MISSING_FRAMES), number
        self.events = [event for events in self.frames for event in events]


@pytest.fixture(scope="module")
def truth() -> _Truth:
    return _Truth(small_log(12))


def test_cut_at_every_byte_and_grown_again(truth):
    for cut in range(len(truth.data) + 1):
        source = MemorySource(truth.data[:cut])
        reader = EventReader(source)
        complete = [event for (_, end), events in zip(truth.spans, truth.frames) if end <= cut for event in events]
        assert [content(event) for event in reader] == complete
        assert reader.state is State.EOF
        source.data += truth.data[cut:]
        assert [content(event) for event in reader] == truth.events[len(complete) :]
        assert reader.state is State.EOF


def test_a_cut_is_told_when_nothing_more_will_come(truth):
    start, end = truth.spans[4]
    for cut in range(start + 1, end):
        written, notices = split_notices(read_file(truth.data[:cut]))
        (notice,) = notices
        assert (notice.cause, notice.offset, notice.length) == (DropCause.TRUNCATED, start, cut - start)
    assert split_notices(read_file(truth.data[:start]))[1] == []


def test_every_bit_flipped():
    truth = _Truth(small_log(6))  # a frame of samples between two of its like, and one of each other kind
    for place in range(len(truth.data)):
        hit = next(number for number, (start, end) in enumerate(truth.spans) if start <= place < end)
        expected = [event for number, events in enumerate(truth.frames) if number != hit for event in events]
        for bit in range(8):
            damaged = bytearray(truth.data)
            damaged[place] ^= 1 << bit
            written, notices = split_notices(read_fed(damaged))
            assert [content(event) for event in written] == expected
            assert any(notice.offset <= place < notice.offset + notice.length for notice in notices)


def _flip(rng: random.Random, data: bytearray) -> tuple[int, int, int]:
    place = rng.randrange(len(data))
    data[place] ^= 1 << rng.randrange(8)
    return place, place + 1, 0


def _burst(rng: random.Random, data: bytearray) -> tuple[int, int, int]:
    place, length = rng.randrange(len(data)), rng.randrange(1, 200)
    old = data[place : place + length]
    data[place : place + length] = rng.randbytes(len(old))
    return place, place + len(old), 0


def _zero(rng: random.Random, data: bytearray) -> tuple[int, int, int]:
    place, length = rng.randrange(len(data)), rng.randrange(1, 300)
    old = data[place : place + length]
    data[place : place + length] = bytes(len(old))
    return place, place + len(old), 0


def _delete(rng: random.Random, data: bytearray) -> tuple[int, int, int]:
    place, length = rng.randrange(len(data)), rng.randrange(1, 300)
    old = data[place : place + length]
    del data[place : place + length]
    return place, place + len(old), -len(old)


def _insert(rng: random.Random, data: bytearray) -> tuple[int, int, int]:
    place, length = rng.randrange(len(data)), rng.randrange(1, 300)
    # Noise, or what a file system may leave there: data from before.
    new = rng.randbytes(length) if rng.random() < 0.6 else data[max(place - rng.randrange(1, 900), 0) : place][:length]
    data[place:place] = new
    return place, place, len(new)


_DAMAGES: list[Callable[[random.Random, bytearray], tuple[int, int, int]]] = [_flip, _burst, _zero, _delete, _insert]


@pytest.mark.parametrize("damage", _DAMAGES)
def test_seeded_damages(truth, damage):
    rng = random.Random(damage.__name__)
    for _ in range(_DAMAGE_COUNT // len(_DAMAGES)):
        data = bytearray(truth.data)
        start, end, shift = damage(rng, data)
        _check(truth, bytes(data), start, end, shift)


def _check(truth: _Truth, data: bytes, start: int, end: int, shift: int) -> None:
    """The log was changed in [start, end), and what is behind that lies `shift` bytes further."""
    events = read_fed(data)
    assert [content(event) for event in read_file(data, 100)] == [content(event) for event in events]
    written, notices = split_notices(events)
    assert [event.serial for event in events] == list(range(1, len(events) + 1))
    expected = []
    extents = [(notice.offset, notice.offset + notice.length) for notice in notices]
    for (first, last), frame_events in zip(truth.spans, truth.frames):
        place = first + shift if first >= end else first
        if any(data[at : at + last - first] == truth.data[first:last] for at in (first, first + shift) if at >= 0) or _is_behind_another_head(truth, data, first, last, shift):
            expected += frame_events
            continue
        left = range(place, min(place + last - first + min(shift, 0), len(data)))
        if any(data[at] for at in left) and last > start and first < max(end, start + 1):
            assert any(low <= at < high for low, high in extents for at in left), (start, end, shift, notices)
    assert [content(event) for event in written] == expected
    if expected != truth.events:
        closed = written and written[-1].kind is Kind.CLOSELOG
        assert notices or not closed


def _is_behind_another_head(truth: _Truth, data: bytes, first: int, last: int, shift: int) -> bool:
    """What was deleted is as long as a frame and begins between the two checksums of one of the same length: a sound payload behind a sound header, and one frame is missing."""
    at, length = first + shift, last - first
    heads = {truth.data[start : start + _PAYLOAD_CRC] for start, end in truth.spans if end - start == length}
    return at >= 0 and data[at : at + _PAYLOAD_CRC] in heads and data[at + _PAYLOAD_CRC : at + length] == truth.data[first + _PAYLOAD_CRC : last]


def test_a_hole_between_frames_is_no_damage_but_its_missing_frame_is_told(truth):
    start, end = truth.spans[3]
    holes = truth.data[:start] + bytes(5000) + truth.data[start:]
    assert [content(event) for event in read_file(holes)] == truth.events
    unwritten = truth.data[:start] + bytes(end - start) + truth.data[end:]
    written, (notice,) = split_notices(read_file(unwritten))
    assert (notice.cause, notice.count, notice.offset, notice.length) == (DropCause.MISSING_FRAMES, 1, start, end - start)
    assert len(written) == len(truth.events) - len(truth.frames[3])


def test_a_tail_of_zeros_or_a_frame_in_the_making_is_just_the_end(truth):
    start, end = truth.spans[3]
    for tail in (bytes(3000), bytes(30) + truth.data[start + 30 : end - 4] + bytes(400)):
        reader = EventReader(MemorySource(truth.data[:start] + tail))
        assert [content(event) for event in reader] == truth.events[: sum(map(len, truth.frames[:3]))]
        assert (reader.state, reader.offset) == (State.EOF, start)
        reader._source.data[start:] = truth.data[start:]  # the writer goes on
        assert [content(event) for event in reader] == truth.events[sum(map(len, truth.frames[:3])) :]


def test_damage_at_the_end_is_told_at_once_and_the_reader_goes_on(truth):
    start, end = truth.spans[3]
    source = MemorySource(truth.data[:start] + b"garbage" * 9 + bytes(50))
    reader = EventReader(source)
    *_, notice = reader
    assert (notice.cause, notice.count, notice.offset, notice.length) == (DropCause.DAMAGE, 1, start, 63)
    source.data += truth.data[start:]
    assert [content(event) for event in reader] == truth.events[sum(map(len, truth.frames[:3])) :]


def test_a_live_log_waits_for_what_is_not_there_yet(truth):
    start, end = truth.spans[3]
    source = MemorySource(truth.data[:start] + bytes(end - start) + truth.data[end:])
    reader = EventReader(source, is_live=True)
    before = sum(map(len, truth.frames[:3]))
    assert [content(event) for event in reader] == truth.events[:before]
    assert reader.state is State.EOF and reader.is_holding
    source.data[start:end] = truth.data[start:end]
    assert [content(event) for event in reader] == truth.events[before:]
    assert not reader.is_holding


def test_a_live_log_can_be_given_up(truth):
    start, end = truth.spans[3]
    reader = EventReader(MemorySource(truth.data[:start] + bytes(end - start) + truth.data[end:]), is_live=True)
    assert len(list(reader)) == sum(map(len, truth.frames[:3]))
    reader.give_up_waiting()
    notice, *rest = reader
    assert notice.cause is DropCause.MISSING_FRAMES and len(rest) == sum(map(len, truth.frames[4:]))


def test_an_old_frame_in_a_later_place_is_damage(truth):
    old_start, old_end = truth.spans[1]
    start = truth.spans[5][0]
    written, (notice,) = split_notices(read_file(truth.data[:start] + truth.data[old_start:old_end] + truth.data[start:]))
    assert [content(event) for event in written] == truth.events
    assert (notice.cause, notice.offset, notice.length) == (DropCause.DAMAGE, start, old_end - old_start)


def test_a_frame_that_holds_a_log_is_not_taken_apart(truth):
    log = LogBuilder().add(initialize())
    for _ in range(3):
        log.add(record(Kind.USERDATA, 5, 0, data=truth.data))
    log.add(samples(10, 1, [(1, 1, 1, 0)]))
    for cut in range(log.spans[1][0], log.spans[1][0] + 60):
        assert len(list(EventReader(MemorySource(log.data[:cut])))) == 1


def test_a_payload_that_stops_being_msgpack_loses_only_its_rest():
    good = record(Kind.USERDATA, 7, 3, data=b"ok")
    for rest in (b"\xc1", b"\x9f", b"\xdd\xff\xff\xff\xff", b"\xc6\xff\xff\xff\xff", b"\x91" * 3000, b"\xd9\xff"):
        payload = good + good + rest
        first, second, notice, third = read_fed(frame(payload, 0) + frame(good, 1))
        assert (notice.cause, notice.time) == (DropCause.DAMAGE, 7)
        assert (notice.offset, notice.length) == (22 + 2 * len(good), len(rest))
        assert first.data == second.data == third.data == b"ok"
