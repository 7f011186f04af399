"""experiment_decode -- the experiment's format read by the plainest means, from docs/format.md alone"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import msgpack

SLOT_BYTES = 65536


class Frame(NamedTuple):
    offset: int
    sequence: int
    records: list[list[Any]]


class Sample(NamedTuple):
    thread: int
    time_ns: int
    user: int
    system: int
    stack: tuple[int, ...]
    """From the root to the leaf."""
    end: int


def records(payload: bytes) -> list[list[Any]]:
    unpacker = msgpack.Unpacker(raw=False, unicode_errors="surrogateescape", max_buffer_size=1 << 21)
    unpacker.feed(payload)
    return list(unpacker)


def good_frame(data: bytes, at: int) -> bytes | None:
    """The payload of the frame at `at`, None if there is no good one."""
    header = data[at : at + 22]
    if len(header) < 22 or header[0] != 0xC9 or header[5:10] != b"\x50\xc1cev" or struct.unpack(">I", header[14:18])[0] != zlib.crc32(header[:14]):
        return None
    length = struct.unpack(">I", header[1:5])[0]
    payload = data[at + 22 : at + 6 + length]
    return payload if struct.unpack(">I", header[18:22])[0] == zlib.crc32(payload) else None


def frames(data: bytes, *, may_be_cut: bool = False) -> Iterator[Frame]:
    """All frames. What is neither frame nor zero is an error, or, in the log of a killed process, passed over."""
    at = 0
    while at < len(data):
        if data[at] == 0:
            at += len(data[at:]) - len(data[at:].lstrip(b"\0"))
            continue
        payload = good_frame(data, at)
        if payload is not None:
            yield Frame(at, struct.unpack(">I", data[at + 10 : at + 14])[0], records(payload))
            at += 22 + len(payload)
            continue
        assert may_be_cut, f"neither frame nor zero at {at}"
        marker = data.find(b"\x50\xc1cev", at + 6)
        at = marker - 5 if marker >= 0 else len(data)


def _number(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def stacks(definitions: bytes) -> list[tuple[tuple[int, ...], int]]:
    """(addresses from the root, end) of each stack defined."""
    at, stack, found = 0, [], []
    children: dict[int, list[int]] = {}
    while at < len(definitions):
        first, at = _number(definitions, at)
        add, at = _number(definitions, at)
        del stack[len(stack) - (first >> 3) :]
        wanted = len(stack) + add
        while len(stack) < wanted:
            token, at = _number(definitions, at)
            places = [] if token & 1 else [token >> 1 & 7] + [0] * (token >> 4)
            parent = stack[-1] if stack else 0
            if token & 1:
                zigzag = token >> 2
                base = children[parent][0] if token & 2 else parent
                stack.append((base + ((zigzag >> 1) ^ -(zigzag & 1))) % (1 << 64))
                children[parent] = [*(children[parent][:6] if token & 2 else []), stack[-1]]
            for place in places:
                known = children[stack[-1] if stack else 0]
                stack.append(known[place])
                known.insert(max(0, place - 1), known.pop(place))
        assert len(stack) == wanted
        found.append((tuple(stack), first & 7))
    return found


def _column(column: list[Any], count: int) -> list[int]:
    base, data = column
    width, rest = divmod(len(data), count)
    assert rest == 0 and width in (0, 1, 2, 4, 8)
    return [base + int.from_bytes(data[i * width : (i + 1) * width], "little") for i in range(count)]


def samples(record: list[Any]) -> list[Sample]:
    """The samples of a PCSAMPLE record."""
    _, time_ns, thread, _, count, unit_ns, times, values, indexes, stack_count, definitions = record
    times, user, system, indexes = (_column(column, count) for column in (times, *values, indexes))
    known = stacks(definitions)
    assert len(known) == stack_count
    result, passed = [], 0
    for i in range(count):
        passed += times[i]
        result.append(Sample(thread, time_ns + unit_ns * passed, user[i], system[i], *known[indexes[i]]))
    return result


def _slot(slot: bytes) -> tuple[tuple[int, int], list[Sample]] | None:
    magic, state, value_count, thread, _, unit_ns, time_ns, *commits = struct.unpack_from("<8sHHIIIQIIII", slot)
    if magic != b"COLOPEN1" or state != 1:
        return None
    assert value_count == 2
    held = [size for size, crc in (commits[:2], commits[2:]) if crc == zlib.crc32(slot[8:32] + slot[64 : 64 + size])]
    rows, definitions, at = [], b"", 64
    end = 64 + max(held, default=0)
    while at < end:
        *row, size = struct.unpack_from("<IIIHH", slot, at)
        definitions += slot[at + 16 : at + 16 + size]
        rows.append(row)
        at += 16 + size
    assert at == end
    known, passed, result = stacks(definitions), 0, []
    for delta, user, system, index in rows:
        passed += delta
        result.append(Sample(thread, time_ns + unit_ns * passed, user, system, *known[index]))
    return (thread, time_ns), result


def open_samples(data: bytes) -> dict[tuple[int, int], list[Sample]]:
    """The samples of every slot that holds an open frame, by the frame's thread and time."""
    slots = (_slot(data[at : at + SLOT_BYTES].ljust(SLOT_BYTES, b"\0")) for at in range(0, len(data), SLOT_BYTES))
    return dict(filter(None, slots))


def is_untruncated(path: Path) -> bool:
    """Was this log not brought to its end? Then it has its greatest length, and its last bytes are zero."""
    size = path.stat().st_size
    with open(path, "rb") as file:
        file.seek(max(size - 64, 0))
        return size >= 2 * SLOT_BYTES and size % SLOT_BYTES == 0 and not any(file.read())


def _read_part(file: BinaryIO, start: int, end: int) -> bytes:
    """Up to the last page that is on the disk. Zeros at its end stay: a frame may end with some."""
    data = bytearray()
    while True:
        try:
            at = os.lseek(file.fileno(), start + len(data), os.SEEK_DATA)
        except OSError:
            return bytes(data)
        if at >= end:
            return bytes(data)
        hole = min(os.lseek(file.fileno(), at, os.SEEK_HOLE), end)
        data.extend(bytes(at - start - len(data)))
        data.extend(os.pread(file.fileno(), hole - at, at))


def read_log(path: Path) -> tuple[bytes, bytes]:
    """The frames of a log, and its slots if it is untruncated."""
    if not is_untruncated(path):
        return path.read_bytes(), b""
    size = path.stat().st_size
    area = size - max(size // 16 // SLOT_BYTES, 1) * SLOT_BYTES
    with open(path, "rb", buffering=0) as file:
        return _read_part(file, 0, area), _read_part(file, area, size)


def all_samples(directory: Path) -> list[Sample]:
    """Every sample of an experiment with one log, those in open frames included, each once."""
    (log,) = directory.glob("*.log")
    found, seen = [], set()
    data, slots = read_log(log)
    for frame in frames(data, may_be_cut=True):
        for record in frame.records:
            if record[0] == 5:
                seen.add((record[2], record[1]))
                found.extend(samples(record))
    for name, more in open_samples(slots).items():
        if name not in seen:
            found.extend(more)
    return found
