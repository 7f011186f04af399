"""log_reader -- the events of one log, whatever its state; the Python side of pmclog(3)

This is the only module that knows msgpack. States, offsets, serial numbers and damage reports are those of the C parser
(include/pmclog.h); the rules of damage are in docs/format.md.
"""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from enum import Enum
from itertools import chain

import msgpack
from msgpack import Unpacker as Unpacker

from collector.errors import CollectorError, DamagedExperimentError, ExperimentError, UsageError
from collector.experiment.events import AnyEvent, AnyRecord, DropNotify, Initialize, PmcAllocate
from collector.experiment.frames import FrameScanner, LogFrame, LogLoss, encode_frame
from collector.experiment.log_source import DescriptorSource, Hole, PathSource
from collector.experiment.origin import Origin, parse_log_name
from collector.experiment.records import MalformedRecordError, MetricRecord, make_event, resolve_metric, split_metric
from collector.experiment.samples import CPU_VALUES, PcSample, PcSampleBlock, SourceValues, declared_values
from collector.format import FRAME_HEADER_BYTES, FRAME_MAX_BYTES, VERSION_MAJOR, DropCause, Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collector.experiment.log_source import LogSource

_ZERO_TAIL_BYTES = 64 << 20  # on a file system without holes: so many zeros are space never written
_MAX_ARRAY_ITEMS = 1 << 16
_MAX_MAP_ITEMS = 1 << 10
_NO_SOURCE = (1 << 32) - 1


class State(Enum):
    """Why the reader gave no event, as in pmclog(3)."""

    OK = "ok"
    EOF = "eof"
    REQUIRE_DATA = "require data"
    ERROR = "error"


class EventReader:
    """The events of one log.

    source: a path, an open descriptor, or None for a stream that is given to `feed()`.
    Iterate over it, over `records()` or over `blocks()`. When that ends, `state` says why; when the file grew or more was fed,
    iterate again: it goes on where it stopped. Only CollectorErrors leave it.

    strict: any damage is a DamagedExperimentError, for good, instead of a DROPNOTIFY event.
    is_live: the log is being written, so what looks broken is waited for (see `give_up_waiting`).
    """

    def __init__(
        self,
        source: str | os.PathLike[str] | int | LogSource | None = None,
        *,
        strict: bool = False,
        is_live: bool = False,
        origin: Origin | None = None,
    ) -> None:
        self.state = State.OK
        self.origin = origin
        self.skipped: frozenset[Kind] = frozenset()
        """Records of these kinds are passed over."""
        self.unknown_kinds: Counter[int] = Counter()
        """How many records of each unknown kind were skipped."""
        self._strict = strict
        self._error: CollectorError | None = None
        self._scanner = FrameScanner(is_live=is_live)
        self._source = self._open(source)
        self._is_final = False
        self._pending: deque[AnyRecord] = deque()
        self._samples: Iterator[PcSample] = iter(())
        self._serial = 1
        self._last_time = 0
        self._values_before: MetricRecord | None = None  # the last record of several metrics in this frame
        self._declared: dict[int, SourceValues] = {}
        self._loss_counts: Counter[DropCause] = Counter()

    def _open(self, source: str | os.PathLike[str] | int | LogSource | None) -> LogSource | None:
        if isinstance(source, int):
            return DescriptorSource(source)
        if isinstance(source, (str, os.PathLike)):
            if self.origin is None:
                self.origin = parse_log_name(os.path.basename(os.fspath(source)))
            return PathSource(source, may_follow=True)
        return source

    def __enter__(self) -> EventReader:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Give back what the source holds. A descriptor that was passed in stays open."""
        if self._source is not None:
            self._source.close()

    @property
    def offset(self) -> int:
        """Byte offset in the log before which everything was read."""
        return self._scanner.settled_offset

    @property
    def next_sequence(self) -> int:
        """The sequence number that the next frame should have."""
        return self._scanner.next_sequence

    @property
    def event_count(self) -> int:
        """How many events were read, samples counted one by one."""
        return self._serial - 1

    def note_source(self, event: PmcAllocate) -> None:
        """Take in what a source declares."""
        if event.values and event.source is not None and event.source < _NO_SOURCE:
            self._declared[event.source] = declared_values(event.values, event.counted_as)

    def declared_of(self, source: int) -> SourceValues:
        """What the samples of a source stand for, by its last definition so far."""
        return self._declared.get(source, CPU_VALUES)

    @property
    def is_holding(self) -> bool:
        """True if a live log shows good frames that are held back, because something before them is not there yet."""
        return self._scanner.is_holding

    def feed(self, data: bytes | bytearray | memoryview) -> None:
        """The next bytes of a stream, in pieces of any size. Iterate before feeding more: nothing is thrown away unread."""
        if self._source is not None:
            raise UsageError("feed() is for a reader that was made without a file")
        self._scanner.feed(data)

    def read(self) -> AnyEvent | None:
        """The next event; None if there is none, and then `state` says why."""
        return next(iter(self), None)

    def __iter__(self) -> Iterator[AnyEvent]:
        """The events, samples one by one."""
        return chain.from_iterable(self._iter_runs())

    def _iter_runs(self) -> Iterator[Iterable[AnyEvent]]:
        """The events in runs, so that no Python code runs between the samples of a record. What is left of a run stays in `_samples`."""
        yield self._samples
        while (record := self._next_record()) is not None:
            if isinstance(record, PcSampleBlock):
                self._samples = record.iter_samples()
                yield self._samples
            else:
                yield (record,)

    def records(self) -> Iterator[AnyRecord]:
        """The events, but the samples of a record together as one PcSampleBlock."""
        while (record := self._next_record()) is not None:
            yield record

    def blocks(self) -> Iterator[PcSampleBlock]:
        """Only the samples, as columns."""
        for record in self.records():
            if isinstance(record, PcSampleBlock):
                yield record

    def next_frame_records(self) -> list[AnyRecord] | None:
        """All records of the next frame (or the notices of a loss); None if there is none. Not to be mixed with iteration."""
        if self._next_record_is_ready():
            records = list(self._pending)
            self._pending.clear()
            return records
        return None

    def finish(self) -> Iterator[AnyEvent]:
        """Nothing more will come: the rest of the events, and at last what is cut, and what was of unknown kind."""
        self._end()
        yield from self
        self._note_unknown_kinds()
        yield from self

    def finish_records(self) -> Iterator[AnyRecord]:
        """The same, but the samples of a record together as one PcSampleBlock."""
        self._end()
        yield from self.records()
        self._note_unknown_kinds()
        yield from self.records()

    def _end(self) -> None:
        self._is_final = True
        self._scanner.is_live = False

    def _note_unknown_kinds(self) -> None:
        total = self.unknown_kinds.total()
        if total > self._loss_counts[DropCause.UNKNOWN_KIND]:
            self._loss_counts[DropCause.UNKNOWN_KIND] = total
            self._append(self._notice(DropCause.UNKNOWN_KIND, total, self.offset, 0))

    def give_up_waiting(self) -> None:
        """What looks broken in a live log will not be mended: tell it as damage and go on."""
        self._scanner.is_live = False

    def _next_record(self) -> AnyRecord | None:
        return self._pending.popleft() if self._next_record_is_ready() else None

    def _next_record_is_ready(self) -> bool:
        """True if a record is pending. An error is raised only after all that came before it was delivered."""
        while not self._pending:
            if self._error is not None:
                self.state = State.ERROR
                raise self._error
            try:
                item = self._next_item()
                if item is None:
                    return False
                self._take_item(item)
            except CollectorError as error:
                self._error = error
        self.state = State.OK
        return True

    def _take_item(self, item: LogFrame | LogLoss) -> None:
        if isinstance(item, LogFrame):
            self._decode(item)
        else:
            self._lose(item.cause, item.offset, item.length, item.count)

    def _next_item(self) -> LogFrame | LogLoss | None:
        scanner = self._scanner
        while (item := scanner.next()) is None:
            if self._source is None:
                self.state = State.REQUIRE_DATA
                return scanner.next(is_final=True) if self._is_final else None
            data = b"" if scanner.is_holding or scanner.zero_bytes > _ZERO_TAIL_BYTES else self._source.read(scanner.end_offset)
            if data is None:
                self.state = State.REQUIRE_DATA
                return None
            if isinstance(data, Hole):
                data = self._cross(data)
                if data is None:
                    continue
            if data:
                scanner.feed(data)
                continue
            item = scanner.next(at_end=True, is_final=self._is_final)
            if item is None:
                self.state = State.EOF
                if self._source.can_rewind:
                    scanner.rewind()
            return item
        return item

    def _cross(self, hole: Hole) -> bytes | None:
        """The zeros of a hole that the scanner must see, b"" at the end, or None if it was skipped."""
        scanner = self._scanner
        if not scanner.is_blank:
            return bytes(min(hole.end - scanner.end_offset, FRAME_MAX_BYTES + FRAME_HEADER_BYTES))
        if hole.is_tail:
            return b""
        scanner.skip_to(hole.end)
        return None

    def _decode(self, frame: LogFrame) -> None:
        start = frame.offset + FRAME_HEADER_BYTES
        self._values_before = None
        self._decode_run(make_unpacker(len(frame.payload)), frame.payload, start, start + len(frame.payload))

    def _decode_run(self, unpacker: msgpack.Unpacker, payload: bytes, start: int, frame_end: int) -> bool:
        """Take records that follow one another in a frame; False if they stop being msgpack: the rest of the frame is damage, and the unpacker useless."""
        before = unpacker.tell() - start
        unpacker.feed(payload)
        offset, end = start, start + len(payload)
        while offset < end:
            try:
                values = unpacker.unpack()
            except Exception:  # hostile bytes make msgpack raise at least six unrelated classes
                self._lose(DropCause.DAMAGE, offset, frame_end - offset)
                return False
            next_offset = unpacker.tell() - before
            self._take(values, offset, next_offset - offset)
            offset = next_offset
        return True

    def _take(self, values: object, offset: int, length: int) -> None:
        if self.skipped and type(values) is list and values and type(values[0]) is int and values[0] in self.skipped:
            return
        try:
            event = make_event(values, offset, self._serial, self.origin, self._declared)
            if type(event) not in _LOOKED_AT:
                self._last_time = event.time  # type: ignore[union-attr]  # None is looked at
                self._serial += 1
                self._pending.append(event)  # type: ignore[arg-type]  # so are records of several metrics
                return
            if type(event) is MetricRecord:
                event = self._values_before = resolve_metric(event, self._values_before)
        except MalformedRecordError:
            self._values_before = None
            self._lose(DropCause.DAMAGE, offset, length)
            return
        if event is None:
            self.unknown_kinds[values[0]] += 1  # type: ignore[index]  # of what is no list, make_event said so
            return
        kind = type(event)
        if kind is MetricRecord:
            self._last_time = event.time
            self._take_row(event)  # type: ignore[arg-type]  # which it is
            return
        if kind is Initialize:
            event = self._greet(event)  # type: ignore[arg-type]  # which it is
        elif kind is PmcAllocate:
            self.note_source(event)  # type: ignore[arg-type]  # which it is
        self._last_time = event.time
        self._append(event)

    def _take_row(self, row: MetricRecord) -> None:
        metrics = split_metric(row)
        self._serial += len(metrics)
        self._pending += metrics

    def _greet(self, event: Initialize) -> Initialize:
        if event.version_major is not None and event.version_major > VERSION_MAJOR:
            raise ExperimentError(
                f"this log was written in version {event.version_major} of the format, "
                f"and this reader knows it up to version {VERSION_MAJOR}: a newer collector is needed"
            )
        if self.origin is None and event.pid is not None and event.image is not None:
            self.origin = Origin(event.pid, event.image)
        return event if event.origin == self.origin else replace(event, origin=self.origin)

    def _append(self, record: AnyRecord) -> None:
        self._serial += record.count if isinstance(record, PcSampleBlock) else 1
        self._pending.append(record)

    def _lose(self, cause: DropCause, offset: int, length: int, count: int = 1) -> None:
        if self._strict:
            what = f"{count} frames are missing" if cause is DropCause.MISSING_FRAMES else f"{length} bytes are damaged"
            raise DamagedExperimentError(f"the log {self.origin or ''} is damaged: {what} at offset {offset}".replace("  ", " "))
        self._loss_counts[cause] += count
        self._append(self._notice(cause, self._loss_counts[cause], offset, length))

    def _notice(self, cause: DropCause, count: int, offset: int, length: int) -> DropNotify:
        return DropNotify(self._last_time, 0, offset, self._serial, self.origin, cause, count, offset, length)


_LOOKED_AT = frozenset((type(None), MetricRecord, PcSampleBlock, Initialize, PmcAllocate))
"""What `make_event` gives that is not just one event more."""


def make_unpacker(payload_bytes: int) -> msgpack.Unpacker:
    """An unpacker whose limits keep hostile lengths from asking for memory."""
    return msgpack.Unpacker(
        max_buffer_size=max(payload_bytes, 1),
        max_array_len=min(payload_bytes, _MAX_ARRAY_ITEMS),  # an item takes at least a byte
        max_map_len=_MAX_MAP_ITEMS,
        unicode_errors="surrogateescape",
        strict_map_key=False,
    )


def unpack_values(record: bytes) -> object:
    """The values of a record that is not judged yet; None if it is no msgpack."""
    unpacker = make_unpacker(len(record))
    unpacker.feed(record)
    try:
        return unpacker.unpack()
    except Exception:  # hostile bytes make msgpack raise at least six unrelated classes
        return None


def unpack_records(payload: bytes, origin: Origin | None = None) -> list[AnyRecord]:
    """The records of a frame that is not in a log yet, without what contradicts the format; place and number are not theirs."""
    reader = EventReader(origin=origin)
    reader.feed(encode_frame(0, payload))
    return [record for record in reader.records() if not isinstance(record, DropNotify)]


def pack_record(values: list[object]) -> bytes:
    """The bytes of a record; the other direction, for samples that are moved into a log."""
    return msgpack.packb(values, unicode_errors="surrogateescape")
