"""open_frames -- the samples of a process that was killed, found in its open frames and put where they belong

A thread's newest samples lie in a slot of PID.N.open until their frame is full (docs/format.md, "Open frames"). After a
kill they are still there: `read_open_blocks` gives them to a reader, `recover` moves them into the log.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from zlib import crc32

from collector.errors import ExperimentError
from collector.experiment.columns import Column
from collector.experiment.directory import LogFile, open_directory
from collector.experiment.liveness import is_alive
from collector.experiment.frames import encode_frame
from collector.experiment.log_reader import EventReader, pack_record
from collector.experiment.log_source import Hole, read_at
from collector.experiment.origin import Origin
from collector.experiment.samples import PcSampleBlock
from collector.format import OPEN_HEADER_BYTES, OPEN_MAGIC, OPEN_SLOT_BYTES, Kind

_HEADER = struct.Struct("<8sIIIIQ")
_COMMIT = struct.Struct("<II")
_ROW = struct.Struct("<IIIHH")
_COMMITS_OFFSET = 32
_STATE_OFFSET = 8
_IN_USE = 1


@dataclass(frozen=True, slots=True)
class Recovery:
    """What `recover` did: samples and frames moved into logs, and the processes that it left alone because they live."""

    sample_count: int
    frame_count: int
    alive: tuple[Origin, ...]


def decode_slot(slot: bytes, origin: Origin | None = None) -> PcSampleBlock | None:
    """The samples of one slot; None if it is free, empty, or if neither of its commits holds."""
    magic, state, thread, source, unit_ns, time = _HEADER.unpack_from(slot)
    if magic != OPEN_MAGIC or state != _IN_USE:
        return None
    lengths = []
    for place in (0, 1):
        length, checksum = _COMMIT.unpack_from(slot, _COMMITS_OFFSET + 8 * place)
        if length <= len(slot) - OPEN_HEADER_BYTES:
            covered = slot[_STATE_OFFSET:_COMMITS_OFFSET] + slot[OPEN_HEADER_BYTES : OPEN_HEADER_BYTES + length]
            if crc32(covered) == checksum:
                lengths.append(length)
    rows, definitions, stack_count = _decode_rows(slot, OPEN_HEADER_BYTES + max(lengths, default=0))
    if not rows:
        return None
    times, user, system, stacks = (Column.of(list(values)) for values in zip(*rows))
    return PcSampleBlock(
        time, thread, 0, 0, origin, source, len(rows), unit_ns, times, user, system, stacks, stack_count, definitions
    )


def _decode_rows(slot: bytes, end: int) -> tuple[list[tuple[int, int, int, int]], bytes, int]:
    """The rows before `end`, the definitions they brought, and how many these are."""
    rows = []
    definitions = bytearray()
    stack_count = 0
    position = OPEN_HEADER_BYTES
    while position + _ROW.size <= end:
        *row, definition_bytes = _ROW.unpack_from(slot, position)
        position += _ROW.size
        if position + definition_bytes > end:
            break
        definitions += slot[position : position + definition_bytes]
        position += definition_bytes
        stack_count += definition_bytes > 0
        rows.append((row[0], row[1], row[2], row[3]))
    return rows, bytes(definitions), stack_count


def iter_slots(path: str) -> Iterator[bytes]:
    """The slots of an open-frames file that were ever written to. Nothing if the file is gone."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    except OSError as error:
        raise ExperimentError(f"the open frames {path} cannot be read: {error.strerror}") from error
    try:
        offset = 0
        while True:
            data = read_at(descriptor, offset, 1)
            if data == b"" or (isinstance(data, Hole) and data.is_tail):
                return
            if isinstance(data, Hole):
                offset = data.end - data.end % OPEN_SLOT_BYTES
            slot = os.pread(descriptor, OPEN_SLOT_BYTES, offset)
            if len(slot) >= OPEN_HEADER_BYTES:
                yield slot
            offset += OPEN_SLOT_BYTES
    except OSError as error:
        raise ExperimentError(f"the open frames {path} cannot be read: {error.strerror}") from error
    finally:
        os.close(descriptor)


def read_open_blocks(path: str, origin: Origin | None = None) -> list[PcSampleBlock]:
    """All blocks of samples in an open-frames file; whether the log has them already is for the caller to look up."""
    blocks = (decode_slot(slot, origin) for slot in iter_slots(path))
    return [block for block in blocks if block is not None]


def recover(path: str | os.PathLike[str], liveness: Callable[[LogFile], bool] = is_alive) -> Recovery:
    """Move the open frames of an experiment into its logs, cut the logs to their length, remove the .open files.

    Processes for which `liveness` says True are left alone. May be called again, also after it was interrupted.
    Raises ExperimentError if the experiment cannot be read or written.
    """
    samples = frames = 0
    alive = []
    for log in open_directory(path).logs:
        if not os.path.exists(log.open_path):
            continue
        if liveness(log):
            alive.append(log.origin)
            continue
        blocks = _recover_log(log)
        frames += len(blocks)
        samples += sum(block.count for block in blocks)
    return Recovery(samples, frames, tuple(alive))


def missing_blocks(log: LogFile) -> list[PcSampleBlock]:
    """The open frames that the log of a process that is gone does not have, in order of time, numbered on behind it."""
    return _read_missing(log)[1]


def _read_missing(log: LogFile) -> tuple[EventReader, list[PcSampleBlock]]:
    """Read the log to its end; that reader, and the open frames that it did not see."""
    reader = EventReader(log.path, origin=log.origin)
    wanted = {(block.thread, block.time): block for block in read_open_blocks(log.open_path, log.origin)}
    for record in reader.records():
        if isinstance(record, PcSampleBlock):
            wanted.pop((record.thread, record.time), None)
    for _ in reader.finish():
        pass
    return reader, number_blocks(reader, wanted.values())


def number_blocks(reader: EventReader, blocks: Iterable[PcSampleBlock]) -> list[PcSampleBlock]:
    """Open frames as if they stood behind what the reader has read."""
    numbered = []
    serial = reader.event_count + 1
    for block in sorted(blocks, key=lambda block: (block.time, block.thread)):
        numbered.append(replace(block, serial=serial, log_offset=reader.offset))
        serial += block.count
    return numbered


def _recover_log(log: LogFile) -> list[PcSampleBlock]:
    reader, blocks = _read_missing(log)
    sequence = reader.next_sequence
    data = b"".join(encode_frame(sequence + number, _pack_block(block)) for number, block in enumerate(blocks))
    try:
        with open(log.path, "r+b") as file:
            file.truncate(reader.offset)
            file.seek(reader.offset)
            file.write(data)
        os.unlink(log.open_path)
    except OSError as error:
        raise ExperimentError(f"the open frames of {log.path} cannot be moved into it: {error.strerror}") from error
    return blocks


def _pack_block(block: PcSampleBlock) -> bytes:
    columns = [column.pack() for column in (block.times, block.user, block.system, block.stacks)]
    return pack_record(
        [int(Kind.PCSAMPLE), block.time, block.thread, block.source, block.count, block.unit_ns, *columns,
         block.stack_count, block.definitions]
    )
