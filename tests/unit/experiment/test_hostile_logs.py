"""test_hostile_logs -- bytes made to break the reader: only CollectorErrors leave it, in bounded time and memory"""

from __future__ import annotations

import os
import random
import struct
import tracemalloc
import zlib
from collections import Counter

import msgpack
import pytest
from log_sources import read_fed, read_file
from writer import definitions, frame, initialize, leb128, open_slot, overlapping_headers, record, records_slot, samples, small_log

from collector.errors import CollectorError
from collector.experiment import frames
from collector.experiment.event_text import event_to_json, event_to_line
from collector.experiment.log_reader import EventReader
from collector.experiment.open_slots import decode_slot
from collector.experiment.samples import PcSampleBlock
from collector.experiment.stacks import MAX_DEPTH, MAX_FRAMES_OF_RECORD, decode_stacks, iter_differences
from collector.format import FIELDS, Kind

_INPUT_COUNT = 1_000_000 if os.environ.get("COLLECTOR_TEST_THOROUGH") else 50_000  # the last new pair of lines is reached by the 35,000th
_MEMORY_BYTES = 75 << 20


def _payloads() -> list[bytes]:
    kinds = [record(kind, 5, 6) for kind in FIELDS if kind is not Kind.PCSAMPLE]
    stacks = [((0x401200, 0x401010), 0), ((0x7F0000001234, 0x401300, 0x401010), 1)]
    blocks = [samples(2000, 77, [(1, 2, 0, 0), (300, 1, 70000, 1), (2, 3, 0, 0)], stacks)]
    return [*kinds, *blocks * 12, initialize()]


def _mutate(rng: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.randrange(1, 4)):
        place = rng.randrange(len(changed) + 1)
        choice = rng.random()
        if choice < 0.5:
            changed[place : place + 1] = bytes([rng.choice((0, 0x7F, 0x80, 0xC1, 0xDF, 0xFF, rng.randrange(256)))])
        elif choice < 0.7:
            changed[place:place] = rng.choice((b"\xdd\xff\xff\xff\xff", b"\xcf" + b"\xff" * 8, b"\xc6\0\0\xff\xff", b"\x91" * 9))
        elif choice < 0.85:
            del changed[place : place + rng.randrange(1, 20)]
        else:
            changed += data[place:]
    return bytes(changed)


def test_mutated_records_in_sound_frames():
    """The payload's CRC is right, so that all that decodes records sees the mutation."""
    rng = random.Random(3)
    payloads = _payloads()
    for _ in range(_INPUT_COUNT):
        reader = EventReader()
        reader.feed(frame(_mutate(rng, rng.choice(payloads)), 0))
        try:
            for event in reader.records():
                if isinstance(event, PcSampleBlock):
                    for sample in zip(range(50), event.iter_samples()):
                        assert sample[1].stack is not None
        except CollectorError:
            pass


def test_mutated_logs():
    rng = random.Random(4)
    log = bytes(small_log().data)
    for _ in range(_INPUT_COUNT // 20):
        try:
            read_fed(_mutate(rng, log))
        except CollectorError:
            pass


def test_whatever_is_read_can_be_printed():
    rng = random.Random(5)
    payloads = _payloads()
    for _ in range(4000):
        try:
            for event in zip(range(20), read_fed(frame(_mutate(rng, rng.choice(payloads)), 0))):
                assert "\n" not in event_to_line(event[1]) and "\n" not in event_to_json(event[1])
        except CollectorError:
            pass


@pytest.mark.parametrize("size", [*range(24), (1 << 20) - 1, 1 << 20, (1 << 20) + 1, *range((1 << 32) - 24, 1 << 32)])
def test_lengths_that_lie(size):
    """Headers whose CRC holds, but whose length is nothing a frame can have, or more than there is."""
    head = struct.pack(">BIB4sI", 0xC9, size, 0x50, b"\xc1cev", 0)
    head += struct.pack(">II", zlib.crc32(head), 0)
    good = frame(record(Kind.USERDATA, 1, 0, data=b"good"), 3)
    for data in (head, head + good, head + bytes(100) + good, head[:size]):
        for events in (read_fed(data), read_file(data, 7)):
            assert [event.data for event in events if event.kind is Kind.USERDATA] == [b"good"] * (good in data)


@pytest.mark.parametrize("claimed", [1 << 10, 100_000, 900_000])
def test_headers_that_overlap_are_not_checksummed_again_and_again(claimed, monkeypatch):
    """Work is counted: the bytes that went through a checksum, for logs of which each is twice as long."""
    work = Counter()

    def counted(size):
        def crc32(data):
            work[size] += len(data)
            return zlib.crc32(data)

        return crc32

    for size in (1 << 19, 1 << 20, 1 << 21):
        monkeypatch.setattr(frames, "crc32", counted(size))
        data = overlapping_headers(size, claimed) + frame(record(Kind.USERDATA, 1, 0, data=b"good"), size)
        for events in (read_fed(data), read_file(data)):
            assert [event.data for event in events if event.kind is Kind.USERDATA] == [b"good"]
        assert work[size] < 2 * ((16 << 20) + 20 * len(data))
    assert work[1 << 21] - work[1 << 20] < 2.1 * (work[1 << 20] - work[1 << 19]) + (1 << 20)


@pytest.mark.parametrize("size", range(24))
def test_nothing_but_a_few_bytes(size):
    for filler in (b"\0", b"\xc1", b"\xc9", b"\xff"):
        read_fed(filler * size)
    read_fed(b"\xc9\0\0\0\x10\x50\xc1cev\xc1cev\xc1cev\xc1"[:size])


def _bombs() -> dict[str, bytes]:
    nested_arrays = b"\xdc\xff\xff" * 1000
    return {
        "arrays in arrays": nested_arrays,
        "arrays of all that there is": b"\xdd\0\x0f\xe0\0" * 500 + bytes(1_045_000),
        "arrays of 2^32": b"\xdd\xff\xff\xff\xff" * 900,
        "maps in maps": b"\x81\x01" * 2000,
        "maps of 2^32": b"\xdf\xff\xff\xff\xff" * 900,
        "a list as key": b"\x93\x0e\x01\x81\x91\x01\x01",
        "a timestamp that is none": b"\xc7\x05\xff12345",
        "tiny records": msgpack.packb([14, 0, 0]) * 50_000,
        "strings that are no text": msgpack.packb([38, 0, 0, 1]) + b"\x95\x26\x00\x00\x01\xa4\xff\xfe\xfd\xfc",
        "many samples of nothing": record(
            Kind.PCSAMPLE, 0, 0, source=1, count=65536, unit_ns=2**64 - 1, times=[2**64 - 1, b""],
            values=[[2**64 - 1, b""], [0, b""]], stacks=[2**63, b""], stack_count=2**64 - 1, definitions=b"",
        ),
        "numbers without an end": record(
            Kind.PCSAMPLE, 0, 0, source=1, count=1, unit_ns=1, times=[0, b""], values=[[0, b""]] * 2, stacks=[0, b""],
            stack_count=1, definitions=b"\xff" * 1_000_000,
        ),
    }


@pytest.mark.parametrize("name", _bombs())
def test_bombs_stay_small(name):
    data = frame(_bombs()[name], 0) + frame(record(Kind.USERDATA, 1, 0, data=b"good"), 1)
    tracemalloc.start()
    try:
        reader = EventReader()
        reader.feed(data)
        last = None
        for last in reader.finish():
            pass
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert last is not None and last.kind is Kind.USERDATA and last.data == b"good"
    assert peak < _MEMORY_BYTES


def test_stacks_that_repeat_themselves_are_cut_at_the_limit():
    """A few bytes that say "60,000 frames, each the first child of the one below", again and again."""
    deep = leb128(0) + leb128(60_000) + b"\x01" + leb128(59_998 << 4)
    again = leb128(59_999 << 3) + leb128(59_999) + leb128(59_998 << 4)
    table = decode_stacks(deep + again * 50_000, 1 << 32)
    assert len(table) == MAX_FRAMES_OF_RECORD // 60_000
    assert len(table.parents) == len(table.addresses) <= MAX_FRAMES_OF_RECORD + 1
    too_deep = leb128(0) + leb128(MAX_DEPTH + 1) + b"\x01" + leb128((MAX_DEPTH - 1) << 4)
    assert len(decode_stacks(too_deep, 1)) == 0


def test_garbage_without_end_is_not_kept():
    reader = EventReader()
    rng = random.Random(1)
    tracemalloc.start()
    try:
        for _ in range(100):
            reader.feed(rng.randbytes(1 << 20))
            assert reader.read() is None
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 << 20
    reader.feed(frame(record(Kind.USERDATA, 1, 0, data=b"good"), 0))
    damage, good = reader
    assert (damage.offset, damage.length, good.data) == (0, 100 << 20, b"good")


def test_mutated_stack_definitions():
    rng = random.Random(6)
    stacks = [(tuple(rng.randrange(1 << 47) for _ in range(rng.randrange(30))), rng.randrange(8)) for _ in range(20)]
    good = definitions(stacks)
    assert [(s.addresses, s.end) for s in map(decode_stacks(good, 20).stack, range(20))] == stacks
    for _ in range(5000):
        mutated, count = _mutate(rng, good), rng.choice((0, 20, 2**64))
        table = decode_stacks(mutated, count)
        assert _joined(iter_differences(mutated, count)) == [(s.addresses, s.end) for s in map(table.stack, range(len(table)))]
        assert len(table.nodes) == len(table.ends) and len(table.parents) == len(table.addresses)
        assert all(parent < node for node, parent in enumerate(table.parents) if node)
        assert all(node < len(table.parents) for node in table.nodes)


def _joined(differences):
    """The stacks that differences tell, leaf first."""
    callers, stacks = [], []
    for kept, added, leaf, end in differences:
        assert kept <= len(callers)
        callers = callers[:kept] + added
        stacks.append((() if leaf is None else (leaf, *reversed(callers)), end))
    return stacks


def test_mutated_open_slots():
    rng = random.Random(7)
    slot = open_slot(5, 6, [(1, 2, 3, 0, definitions([((5, 6), 0)])), (1, 2, 3, 0, b"")])
    for _ in range(1000):
        damaged = bytearray(slot)
        for _ in range(rng.randrange(1, 5)):
            damaged[rng.randrange(120)] = rng.randrange(256)
        block = next((found for found in decode_slot(bytes(damaged[: rng.choice((64, 90, 120, 65536))])) if found.kind is Kind.PCSAMPLE), None)
        assert not isinstance(block, PcSampleBlock) or len(list(block.iter_samples())) == block.count <= 2


def test_mutated_records_of_open_slots():
    rng = random.Random(8)
    payload = b"".join(record(Kind.METRIC, 5, source=2, value=[1, None, 0.5]) for _ in range(4))
    for _ in range(1000):
        assert all(event.kind in Kind for event in decode_slot(records_slot(5, _mutate(rng, payload))))
