"""log_outline -- what a log says at its beginning and in between, and when it was paused, found by skipping from frame to frame"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Collection, Iterable, Iterator

import msgpack

from collector.format import FIELDS, FRAME_HEADER_BYTES, FRAME_MAX_BYTES, FRAME_SYNC, Kind, PauseCause
from collector.named_tuple import NamedTuple
from collector.regular_file import open_binary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

RawRecord: TypeAlias = "list[Any]"
"""Kind, time, thread and the fields of the kind as msgpack gave them: nothing but the length has been checked."""

LENGTH_FROM = 6
"""A frame's length counts from this byte on; the sync mark is there."""

_HEADER = struct.Struct(">BIB4sIII")
_ARRAY_16 = 0xDC
_KIND_BYTES = 4  # the head of the array, and the kind, which is a single byte


_MOST_NAMED = 3


def tell_empty(paths: Collection[str]) -> list[str]:
    """A sentence on processes' logs without a byte, if there are any: each begins as soon as it is made."""
    first, *others = list(paths)[:_MOST_NAMED] or [""]
    if len(paths) <= 1:
        return [f"{first} is empty: it was cut, or its process was killed as it began"] if paths else []
    more = f" and {len(paths) - _MOST_NAMED:,} more" if len(paths) > _MOST_NAMED else ""
    names = ", ".join([first, *map(os.path.basename, others)])
    return [f"{len(paths):,} logs are empty ({names}{more}): they were cut, or their processes were killed as they began"]


def iter_raw_records(data: bytes, offset: int) -> Iterator[RawRecord]:
    """Give the records of whole, undamaged frames from `offset` on, until something else comes."""
    while 0 <= offset <= len(data) - FRAME_HEADER_BYTES:
        _, length, _, sync, _, header_crc, payload_crc = _HEADER.unpack_from(data, offset)
        end = offset + LENGTH_FROM + length
        payload = data[offset + FRAME_HEADER_BYTES : end]
        if sync != FRAME_SYNC or end > len(data) or zlib.crc32(data[offset : offset + 14]) != header_crc or zlib.crc32(payload) != payload_crc:
            return
        unpacker = msgpack.Unpacker(max_buffer_size=max(1, len(payload)), unicode_errors="surrogateescape")
        unpacker.feed(payload)
        while True:
            try:
                record = unpacker.unpack()
            except msgpack.OutOfData:
                break
            except Exception:  # hostile bytes make msgpack raise at least six unrelated classes
                return
            if not isinstance(record, list) or len(record) < 3:
                return
            yield record
        offset = end


def iter_frames_of(path: str, kinds: Collection[int]) -> Iterator[RawRecord]:
    """Give the records of those frames whose first record is of one of these kinds; of all others only the header is read.

    Ends where there is no frame. OSError if the log cannot be read.
    """
    with open_binary(path) as file:
        descriptor, offset = file.fileno(), 0
        while len(head := os.pread(descriptor, FRAME_HEADER_BYTES + _KIND_BYTES, offset)) >= FRAME_HEADER_BYTES + 2:
            _, length, _, sync, _, _, _ = _HEADER.unpack_from(head)
            if sync != FRAME_SYNC or not FRAME_HEADER_BYTES - LENGTH_FROM <= length <= FRAME_MAX_BYTES:
                return
            if _kind(head[FRAME_HEADER_BYTES:]) in kinds:
                yield from iter_raw_records(os.pread(descriptor, LENGTH_FROM + length, offset), 0)
            offset += LENGTH_FROM + length


def _kind(start: bytes) -> int:
    return start[-1] if start[0] == _ARRAY_16 else start[1]


_HEAD_BYTES = 1 << 20
_BEGINNING = [name for name, _, _ in FIELDS[Kind.INITIALIZE]]
_NOTED_KINDS = frozenset({Kind.PROCFORK, Kind.PMCALLOCATE, Kind.PAUSE, Kind.RESUME})


class DeclaredClock(NamedTuple):
    """A clock as a log defines it: PMCALLOCATE's fields of the same names."""

    name: str
    period_ns: int
    effective_period_ns: int
    detail: str = ""


PauseSpan = tuple[str, int, int | None]
"""Cause (PauseCause in lower case), start and end in ns of CLOCK_MONOTONIC; no end if recording never went on."""


class LogOutline:
    """When a log began and how, who forked its process (None: nobody did), its clock, its pauses. OSError if it cannot be read."""

    def __init__(self, path: str, pid: int) -> None:
        self.path = path
        self.pid = pid
        self.parent_pid: int | None = None
        first = next(iter_raw_records(read_head(path), 0), [])
        self.begun = dict(zip(_BEGINNING, first[3:])) if first and first[0] == Kind.INITIALIZE else {}
        self.begin_ns: int = first[1] if first else 0
        self.before_ns: int = (self.begun.get("user_ns") or 0) + (self.begun.get("system_ns") or 0)
        self.cpu_ns = 0
        self.clock: DeclaredClock | None = None
        self._pauses: list[PauseSpan] = []
        for record in iter_frames_of(path, _NOTED_KINDS):
            self._note(record)

    def pauses_until(self, last_ns: int) -> list[PauseSpan]:
        """All spans in which nothing was recorded."""
        return merge_pauses(self._pauses, map(str, self.begun.get("options") or ()), self.begin_ns, last_ns)

    def _note(self, record: RawRecord) -> None:
        is_paused = bool(self._pauses) and self._pauses[-1][2] is None
        if record[0] == Kind.PROCFORK:
            self.parent_pid = record[3] if len(record) > 3 and isinstance(record[3], int) else 0
        elif record[0] == Kind.PMCALLOCATE and len(record) >= 9 and record[4] == "cpu":
            detail = record[9] if len(record) > 9 else ""
            self.clock = DeclaredClock(str(record[5]), record[7] or 0, record[8] or 0, str(detail or ""))  # the last one is in use
        elif record[0] == Kind.PAUSE and not is_paused:
            self._pauses.append((_cause(record), record[1], None))
        elif record[0] == Kind.RESUME and is_paused:
            self._pauses[-1] = (*self._pauses[-1][:2], record[1])


def read_beginning(path: str) -> dict[str, Any]:
    """Give the fields of the INITIALIZE that a log begins with, as they are on disk; nothing if it begins otherwise. OSError if it cannot be read."""
    first = next(iter_frames_of(path, (Kind.INITIALIZE,)), [])
    return dict(zip(_BEGINNING, first[3:])) if first and first[0] == Kind.INITIALIZE else {}


def read_clocks(path: str) -> tuple[int, int] | None:
    """When a log begins, and the wall clock then (both in ns); None if it does not say. OSError if it cannot be read."""
    first = next(iter_frames_of(path, (Kind.INITIALIZE,)), [])
    wall_ns = first[3 + _BEGINNING.index("wall_ns")] if len(first) > 3 + _BEGINNING.index("wall_ns") and first[0] == Kind.INITIALIZE else None
    return (first[1], wall_ns) if first and first[1] and wall_ns else None


def read_start_ticks(path: str) -> int | None:
    """When the process of a log began (INITIALIZE), None if that cannot be known."""
    try:
        start_ticks = read_beginning(path).get("start_ticks")
    except OSError:
        return None
    return start_ticks if isinstance(start_ticks, int) else None


def read_head(path: str) -> bytes:
    """The beginning of a log, as much as its first records can take."""
    with open_binary(path) as file:
        return file.read(_HEAD_BYTES)


def _cause(record: RawRecord) -> str:
    try:
        return PauseCause(record[3]).name.lower()
    except (IndexError, ValueError):
        return ""


def merge_pauses(pauses: Iterable[PauseSpan], options: Iterable[str], begin_ns: int, last_ns: int, shift_ns: int = 0) -> list[PauseSpan]:
    """All spans of a log, from `begin_ns` to `last_ns`, in which nothing was recorded, in order and without overlaps.

    `options` are those of INITIALIZE: a window is not told by events, but known from the start; all other times are so much later than its clock.
    """
    merged: list[PauseSpan] = []
    for cause, start_ns, end_ns in sorted([*pauses, *_outside_window(options, begin_ns, last_ns, shift_ns)], key=lambda span: span[1]):
        before_end_ns = merged[-1][2] if merged else -1
        if before_end_ns is not None and start_ns > before_end_ns:
            merged.append((cause, start_ns, end_ns))
        elif before_end_ns is not None and (end_ns is None or end_ns > before_end_ns):
            merged[-1] = (*merged[-1][:2], end_ns)
    return merged


def paused_ns(pauses: Iterable[PauseSpan], last_ns: int) -> int:
    """The time of merged pauses up to `last_ns`."""
    return sum(max(0, min(last_ns if end_ns is None else end_ns, last_ns) - start_ns) for _, start_ns, end_ns in pauses)


def _outside_window(options: Iterable[str], begin_ns: int, last_ns: int, shift_ns: int) -> list[PauseSpan]:
    values = dict(option.partition("=")[::2] for option in options)
    start_ns, end_ns = (int(text) + shift_ns if text.isdecimal() else None for text in (values.get("start", ""), values.get("end", "")))
    spans: list[PauseSpan] = []
    if start_ns is not None and start_ns > begin_ns:
        spans.append(("time", begin_ns, start_ns if start_ns < last_ns else None))
    if end_ns is not None and end_ns < last_ns:
        spans.append(("time", max(begin_ns, end_ns), None))
    return spans
