"""open_slots -- what the slots at the end of an untruncated log hold (docs/format.md, "Open frames")"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from zlib import crc32

from collector.errors import ExperimentError
from collector.experiment.columns import IntegerColumn
from collector.experiment.events import AnyRecord, Message, ThrExit
from collector.experiment.log_reader import unpack_records
from collector.experiment.log_source import Hole, find_area, read_at
from collector.experiment.origin import Origin
from collector.experiment.samples import PcSampleBlock
from collector.format import OPEN_HEADER_BYTES, OPEN_MAGIC, OPEN_SLOT_BYTES, SAMPLE_MAX_VALUES
from collector.regular_file import open_regular

OpenRecord = AnyRecord
"""What a slot may hold: the samples of a thread, the name of a call that never came back, or records as they are."""

_HEADER = struct.Struct("<8sHHIIIQ")
_COMMIT = struct.Struct("<II")
_COMMITS_OFFSET = 32
_PENDING = struct.Struct("<Q")
_PENDING_OFFSET = 48
_STATE_OFFSET = 8
_STATE_FRAME, _STATE_CALL, _STATE_RECORDS = 1, 2, 3
_ERROR = 2


def read_open_records(source: str | int, origin: Origin | None = None) -> list[OpenRecord]:
    """All that the slots of a log hold, by its path or open descriptor; whether it has that as frames already is for the caller to look up."""
    return [record for slot in iter_slots(source) for record in decode_slot(slot, origin)]


def decode_slot(slot: bytes, origin: Origin | None = None) -> list[OpenRecord]:
    """The records of one slot; none if it is free, empty, or if neither of its commits holds."""
    magic, state, value_count, thread, source, unit_ns, time = _HEADER.unpack_from(slot)
    if magic != OPEN_MAGIC:
        return []
    if state == _STATE_CALL:
        return [_decode_call(slot, time, thread, origin)]
    if state == _STATE_RECORDS:
        return unpack_records(slot[OPEN_HEADER_BYTES : OPEN_HEADER_BYTES + _committed_bytes(slot)], origin)
    if state != _STATE_FRAME or value_count > SAMPLE_MAX_VALUES:
        return []
    found: list[OpenRecord] = []
    rows, definitions, stack_count = _decode_rows(slot, value_count, OPEN_HEADER_BYTES + _committed_bytes(slot))
    if rows:
        times, *values, stacks = (IntegerColumn.of(list(numbers)) for numbers in zip(*rows))
        found.append(PcSampleBlock(time, thread, 0, 0, origin, source, len(rows), unit_ns, times, tuple(values), stacks, stack_count, definitions))
    (pending_ns,) = _PENDING.unpack_from(slot, _PENDING_OFFSET)
    if pending_ns:
        found.append(ThrExit(time, thread, 0, 0, origin, is_exit=0, pending_ns=pending_ns))
    return found


def _decode_call(slot: bytes, time: int, thread: int, origin: Origin | None) -> Message:
    name = slot[OPEN_HEADER_BYTES:].partition(b"\0")[0].decode("utf-8", "surrogateescape")
    return Message(time, thread, 0, 0, origin, _ERROR, "the process ended during this call into a metric plugin", 1, name)


def _committed_bytes(slot: bytes) -> int:
    """How many bytes of rows the longer of the commits covers whose CRC holds."""
    longest = 0
    for place in (0, 1):
        length, checksum = _COMMIT.unpack_from(slot, _COMMITS_OFFSET + 8 * place)
        if length <= len(slot) - OPEN_HEADER_BYTES:
            covered = slot[_STATE_OFFSET:_COMMITS_OFFSET] + slot[OPEN_HEADER_BYTES : OPEN_HEADER_BYTES + length]
            if crc32(covered) == checksum:
                longest = max(longest, length)
    return longest


def _decode_rows(slot: bytes, value_count: int, end: int) -> tuple[list[tuple[int, ...]], bytes, int]:
    """The rows before `end` (time, values, stack), the definitions they brought, and how many these are."""
    row_format = struct.Struct(f"<I{value_count}IHH")
    rows = []
    definitions = bytearray()
    stack_count = 0
    position = OPEN_HEADER_BYTES
    while position + row_format.size <= end:
        *row, definition_bytes = row_format.unpack_from(slot, position)
        position += row_format.size
        if position + definition_bytes > end:
            break
        definitions += slot[position : position + definition_bytes]
        position += definition_bytes
        stack_count += definition_bytes > 0
        rows.append(tuple(row))
    return rows, bytes(definitions), stack_count


def iter_slots(source: str | int) -> Iterator[bytes]:
    """The slots of an untruncated log that were ever written to. Nothing if the log was cut, or is gone."""
    try:
        descriptor = os.dup(source) if isinstance(source, int) else open_regular(source)
    except FileNotFoundError:
        return
    except OSError as error:
        raise ExperimentError(f"the log {source} cannot be read: {error.strerror}") from error
    position = None
    try:
        area = find_area(descriptor)
        if area is not None:
            position = os.lseek(descriptor, 0, os.SEEK_CUR)
            yield from _iter_written_slots(descriptor, area)
    except OSError as error:
        raise ExperimentError(f"the open frames of {source} cannot be read: {error.strerror}") from error
    finally:
        if position is not None:
            os.lseek(descriptor, position, os.SEEK_SET)  # a descriptor that was passed in shares it
        os.close(descriptor)


def _iter_written_slots(descriptor: int, area: int) -> Iterator[bytes]:
    offset = area
    while True:
        data = read_at(descriptor, offset, 1)
        if data == b"" or (isinstance(data, Hole) and data.is_tail):
            return
        if isinstance(data, Hole):
            offset = data.end - (data.end - area) % OPEN_SLOT_BYTES
        slot = os.pread(descriptor, OPEN_SLOT_BYTES, offset)
        if len(slot) >= OPEN_HEADER_BYTES:
            yield slot
        offset += OPEN_SLOT_BYTES
