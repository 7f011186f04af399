"""open_frames -- what a process left in its open frames when it was killed, and how it comes into the log

A thread's newest samples lie in a slot at the end of the log until their frame is full, and so do the newest values of metrics. After a kill they are
still there: `MissingRecords` finds those that the log has no frames of, `recover` moves them there.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from io import FileIO

from collector.errors import ExperimentError
from collector.experiment.directory import LogFile, open_directory
from collector.experiment.events import AnyRecord, PmcAllocate
from collector.experiment.frames import encode_frame
from collector.experiment.liveness import is_alive
from collector.experiment.log_reader import EventReader, pack_record
from collector.experiment.log_source import PathSource, is_untruncated
from collector.experiment.open_slots import OpenRecord, read_open_records
from collector.experiment.origin import Origin
from collector.experiment.records import MetricRecord, split_metric
from collector.experiment.samples import PcSampleBlock, SampleHead
from collector.format import FIELDS
from collector.regular_file import open_regular

_SHARED_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Recovery:
    """What `recover` did: samples and frames moved into logs, and the processes that it left alone because they live."""

    sample_count: int
    frame_count: int
    alive: tuple[Origin, ...]


class MissingRecords:
    """The records in a log's open frames that were not seen in the log itself."""

    def __init__(self, source: str | int, origin: Origin | None) -> None:
        found = read_open_records(source, origin)
        self._records = {_name(record): record for record in found}

    def see(self, records: Iterable[AnyRecord | SampleHead]) -> None:
        """The log has these: a slot that is among them was written just before the kill."""
        if self._records:
            for record in records:
                for one in split_metric(record) if isinstance(record, MetricRecord) else (record,):
                    self._records.pop(_name(one), None)

    def after(self, reader: EventReader) -> list[OpenRecord]:
        """The others, in order of time, numbered as if they stood behind what the reader has read."""
        numbered: list[OpenRecord] = []
        serial = reader.event_count + 1
        for record in sorted(self._records.values(), key=lambda record: (record.time, record.thread)):
            placed = replace(record, serial=serial, log_offset=reader.offset)
            if isinstance(placed, PmcAllocate):
                reader.note_source(placed)
            numbered.append(replace(placed, declared=reader.declared_of(placed.source)) if isinstance(placed, PcSampleBlock) else placed)
            serial += _event_count(record)
        return numbered


def _name(record: AnyRecord | SampleHead) -> tuple[object, ...]:
    """By what a record of an open frame is known in the log."""
    return record.kind, record.thread, record.time, getattr(record, "source", None)


def _event_count(record: OpenRecord) -> int:
    return record.count if isinstance(record, PcSampleBlock) else 1


def read_missing(log: LogFile) -> tuple[EventReader, list[OpenRecord]]:
    """Read a log to its end; that reader, and the records of its open frames that it lacks."""
    missing = MissingRecords(log.path, log.origin)
    reader = EventReader(PathSource(log.path), origin=log.origin)
    missing.see(reader.records())
    for _ in reader.finish():
        pass
    return reader, missing.after(reader)


def recover(path: str | os.PathLike[str], liveness: Callable[[LogFile], bool] = is_alive) -> Recovery:
    """Move the open frames of an experiment to the frames of its logs, and cut the logs to their length.

    Processes for which `liveness` says True are left alone. May be called again, also after it was interrupted.
    Raises ExperimentError if the experiment cannot be read or written.
    """
    recovered: list[OpenRecord] = []
    alive = []
    for log in open_directory(path).all_logs:
        if not is_untruncated(log.path):
            continue
        if liveness(log):
            alive.append(log.origin)
        else:
            recovered += _recover_log(log)
    samples = sum(record.count for record in recovered if isinstance(record, PcSampleBlock))
    return Recovery(samples, len(recovered), tuple(alive))


def _recover_log(log: LogFile) -> list[OpenRecord]:
    reader, records = read_missing(log)
    first = reader.next_sequence
    data = b"".join(encode_frame(first + number, payload) for number, payload in enumerate(_payloads(records)))
    try:
        with os.fdopen(open_regular(log.path, is_writable=True), "r+b", buffering=0) as file:
            _write_whole(file, reader.offset, data)
            file.truncate(reader.offset + len(data))
    except OSError as error:
        raise ExperimentError(f"the open frames of {log.path} cannot be moved to its frames: {error.strerror}") from error
    return records


def _write_whole(file: FileIO, offset: int, data: bytes) -> None:
    """Write the data, or leave zeros: half a frame in front of the open frames would be damage."""
    done = 0
    try:
        while done < len(data):
            done += os.pwrite(file.fileno(), data[done:], offset + done)
    except OSError:
        os.pwrite(file.fileno(), bytes(done), offset)
        raise


def _payloads(records: Iterable[OpenRecord]) -> Iterator[bytes]:
    """A frame for each block of samples; other records, which are small and many, share theirs."""
    shared = b""
    for record in records:
        packed = _pack(record)
        if isinstance(record, PcSampleBlock):
            yield packed
        elif len(shared) + len(packed) > _SHARED_BYTES and shared:
            yield shared
            shared = packed
        else:
            shared += packed
    if shared:
        yield shared


def _pack(record: OpenRecord) -> bytes:
    head = [int(record.kind), record.time, record.thread]
    if not isinstance(record, PcSampleBlock):
        return pack_record([*head, *(getattr(record, name) for name, _, _ in FIELDS[record.kind])])
    return pack_block(record)


def pack_block(record: PcSampleBlock) -> bytes:
    """The bytes of a record of samples."""
    values = [column.pack() for column in record.values]
    return pack_record(
        [
            int(record.kind), record.time, record.thread, record.source, record.count, record.unit_ns,
            record.times.pack(), values, record.stacks.pack(), record.stack_count, record.definitions,
        ]
    )
