"""writer -- a small log writer for tests, made from docs/format.md and collector/format.py; knows nothing of the C one"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgpack

from collector.format import FIELDS, OPEN_HEADER_BYTES, OPEN_MAGIC, OPEN_SLOT_BYTES, OPEN_TAIL_BYTES, Kind

DEFAULTS = {"uint": 0, "int": 0, "str": "", "bin": b"", "array of str": [], "uint or float or array": 0}


def frame(payload: bytes, sequence: int) -> bytes:
    """One frame."""
    head = struct.pack(">BIB4sI", 0xC9, 16 + len(payload), 0x50, b"\xc1cev", sequence)
    head += struct.pack(">I", zlib.crc32(head))
    return head + struct.pack(">I", zlib.crc32(payload)) + payload


def record(kind: Kind, time: int = 0, thread: int = 0, **fields: object) -> bytes:
    """One record; fields that are not given get a default of their type."""
    names = [name for name, _, _ in FIELDS[kind]]
    assert not set(fields) - set(names), set(fields) - set(names)
    values = [fields.get(name, DEFAULTS.get(type_name)) for name, type_name, _ in FIELDS[kind]]
    return msgpack.packb([int(kind), time, thread, *values], unicode_errors="surrogateescape")


def column(values: Sequence[int]) -> list[object]:
    """The narrowest column of these values."""
    if not values:
        return [0, b""]
    base = min(values)
    spread = max(values) - base
    width = next(w for w in (0, 1, 2, 4, 8) if spread < 1 << (8 * w))
    return [base, b"".join((value - base).to_bytes(width, "little") for value in values)]


def leb128(number: int) -> bytes:
    """Unsigned LEB128."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def definitions(stacks: Iterable[tuple[Sequence[int], int]]) -> bytes:
    """The stacks, each as (addresses leaf first, end), as differences."""
    out = bytearray()
    before: list[int] = []
    children: dict[int, list[int]] = {}
    for addresses, end in stacks:
        path = list(reversed(addresses))
        same = 0
        while same < min(len(path), len(before)) and path[same] == before[same]:
            same += 1
        tokens: list[int] = []
        for parent, address in zip([0, *path][same:], path[same:]):
            known = children.setdefault(parent, [])
            if address not in known:
                difference = (address - (known[0] if known else parent) + (1 << 63)) % (1 << 64) - (1 << 63)
                tokens.append((difference << 1 if difference >= 0 else (-difference << 1) - 1) << 2 | (3 if known else 1))
                known[6:] = [address]
            elif (place := known.index(address)) == 0 and tokens and tokens[-1] % 2 == 0:
                tokens[-1] += 16
            else:
                tokens.append(place << 1)
                known.insert(max(0, place - 1), known.pop(place))
        out += b"".join(map(leb128, [(len(before) - same) << 3 | end, len(path) - same, *tokens]))
        before = path
    return bytes(out)


def samples(
    time: int,
    thread: int,
    rows: Sequence[tuple[int, ...]],
    stacks: Sequence[tuple[Sequence[int], int]] = (((0x401000,), 0),),
    *,
    source: int = 1,
    unit_ns: int = 1000,
) -> bytes:
    """A PCSAMPLE record; a row is (time delta, user, system, stack index), or has other values in place of these."""
    columns = [column(values) for values in zip(*rows)] if rows else [[0, b""]] * 4
    return record(
        Kind.PCSAMPLE, time, thread,
        source=source, count=len(rows), unit_ns=unit_ns, times=columns[0], values=columns[1:-1],
        stacks=columns[-1], stack_count=len(stacks), definitions=definitions(stacks),
    )


def initialize(time: int = 1000, pid: int = 77, image: int = 0, **fields: object) -> bytes:
    """An INITIALIZE record of this version."""
    given = {"version_major": 1, "version_minor": 0, "wall_ns": 10**18, "pid": pid, "ppid": 1, "image": image,
             "host": "here", "executable": "/bin/prog", "arguments": ["prog", "-x"], "page_bytes": 4096, "start_ticks": None, "pid_namespace": None,
             "rank": None, "local_rank": None, **fields}
    return record(Kind.INITIALIZE, time, 0, **given)


class LogBuilder:
    """Puts frames one behind the other; `spans` remembers where each lies."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.spans: list[tuple[int, int]] = []

    def add(self, *records: bytes) -> LogBuilder:
        """One frame with these records."""
        start = len(self.data)
        self.data += frame(b"".join(records), len(self.spans))
        self.spans.append((start, len(self.data)))
        return self


def small_log(frames: int = 6) -> LogBuilder:
    """A log with a bit of everything: greeting, maps, samples, metric, close."""
    log = LogBuilder()
    log.add(initialize(), record(Kind.PMCALLOCATE, 1001, 0, source=1, name="cpu", clock="sigtrap", unit="ns"))
    log.add(record(Kind.MAPPINGCHANGE, 1002, 0, action=1, start=0x400000, end=0x500000, bias=0, path="/bin/prog",
                   build_id=b"\x01" * 20))
    for number in range(frames - 3):
        stacks = [((0x401200 + number, 0x401010), 0), ((0x401208, 0x401300, 0x401010), 0)]
        log.add(samples(2000 + 5000 * number, 77 + number % 2, [(1, 2, 0, 0), (1, 1, 1, 1), (2, 3, 0, 0)], stacks))
    log.add(record(Kind.CLOSELOG, 90000, 0, reason=0, sample_count=3 * (frames - 3), frame_count=frames - 1))
    return log


def overlapping_headers(size: int, claimed: int = 900_000) -> bytes:
    """Headers without a gap, about `size` bytes of them, each of which claims a payload of `claimed` bytes; only their own CRCs hold."""
    headers = []
    for number in range(size // 22):
        head = struct.pack(">BIB4sI", 0xC9, 16 + claimed, 0x50, b"\xc1cev", number)
        headers.append(head + struct.pack(">II", zlib.crc32(head), 0))
    return b"".join(headers)


def write_untruncated(path: Path, frames: bytes, slots: bytes, slot: int = 0) -> None:
    """A log that was not brought to its end: its frames, and from slot number `slot` on its open frames."""
    slot_count = max(slot + len(slots) // OPEN_SLOT_BYTES, 1 + len(frames) // (15 * OPEN_SLOT_BYTES))
    size = 16 * slot_count * OPEN_SLOT_BYTES
    with open(path, "wb") as file:
        file.write(frames)
        file.seek(size // 16 * 15 + slot * OPEN_SLOT_BYTES)
        file.write(slots)
        file.truncate(size)


def open_slot(
    time: int,
    thread: int,
    rows: Sequence[tuple[Any, ...]],
    *,
    state: int = 1,
    source: int = 1,
    unit_ns: int = 1000,
    commits: tuple[int, int] | None = None,
    torn: Sequence[int] = (),
    pending_ns: int = 0,
) -> bytes:
    """A slot for an open frame; a row is (time delta, user, system, stack, definition), or has other values in place of these.

    commits: how many rows commit A and B cover; torn: the commits (0, 1) whose CRC is spoilt.
    """
    value_count = len(rows[0]) - 3 if rows else 0
    header = struct.pack("<8sHHIIIQ", OPEN_MAGIC, state, value_count, thread, source, unit_ns, time)
    encoded = [struct.pack(f"<I{value_count}IHH", *row[:-1], len(row[-1])) + row[-1] for row in rows]
    out = bytearray(header)
    for place, covered in enumerate(commits or (len(rows), max(len(rows) - 1, 0))):
        part = b"".join(encoded[:covered])
        checksum = zlib.crc32(header[8:] + part) ^ (0xFF if place in torn else 0)
        out += struct.pack("<II", len(part), checksum)
    out += struct.pack("<Q", pending_ns)
    out += bytes(OPEN_HEADER_BYTES - len(out)) + b"".join(encoded)
    assert len(out) <= OPEN_SLOT_BYTES - OPEN_TAIL_BYTES
    return bytes(out) + bytes(OPEN_SLOT_BYTES - len(out))


def call_slot(time: int, thread: int, text: bytes) -> bytes:
    """A slot that names a call which has not come back."""
    header = struct.pack("<8sIIIIQ", OPEN_MAGIC, 2, thread, 0, 0, time)
    return (header + bytes(OPEN_HEADER_BYTES - len(header)) + text).ljust(OPEN_SLOT_BYTES, b"\0")


def records_slot(time: int, payload: bytes, *, torn: bool = False) -> bytes:
    """A slot of an open-frames file that holds records as a frame does."""
    header = struct.pack("<8sIIIIQ", OPEN_MAGIC, 3, 0, 0, 0, time)
    commit = struct.pack("<II", len(payload), zlib.crc32(header[8:] + payload) ^ torn)
    return (header + commit.ljust(OPEN_HEADER_BYTES - len(header), b"\0") + payload).ljust(OPEN_SLOT_BYTES, b"\0")
