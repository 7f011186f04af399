"""raw_records -- records as lists of values, straight from the frames of a log, for who needs only a few of them"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Collection, Iterator
from typing import Any

import msgpack

from collector.format import FRAME_HEADER_BYTES, FRAME_MAX_BYTES, FRAME_SYNC
from collector.regular_file import open_binary

RawRecord = list[Any]
"""Kind, time, thread and the fields of the kind as msgpack gave them: nothing but the length has been checked."""

LENGTH_FROM = 6
"""A frame's length counts from this byte on; the sync mark is there."""

_HEADER = struct.Struct(">BIB4sIII")
_ARRAY_16 = 0xDC
_KIND_BYTES = 4  # the head of the array, and the kind, which is a single byte


def iter_records(data: bytes, offset: int) -> Iterator[RawRecord]:
    """Give the records of whole, undamaged frames from `offset` on, until something else comes."""
    while 0 <= offset <= len(data) - FRAME_HEADER_BYTES:
        _, length, _, sync, _, header_crc, payload_crc = _HEADER.unpack_from(data, offset)
        end = offset + LENGTH_FROM + length
        payload = data[offset + FRAME_HEADER_BYTES : end]
        if sync != FRAME_SYNC or end > len(data) or zlib.crc32(data[offset : offset + 14]) != header_crc or zlib.crc32(payload) != payload_crc:
            return
        unpacker = msgpack.Unpacker(max_buffer_size=max(1, len(payload)), unicode_errors="surrogateescape")
        unpacker.feed(payload)
        for record in unpacker:
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
                yield from iter_records(os.pread(descriptor, LENGTH_FROM + length, offset), 0)
            offset += LENGTH_FROM + length


def _kind(start: bytes) -> int:
    return start[-1] if start[0] == _ARRAY_16 else start[1]
