"""merge -- the records of a log with what its end tells, and all events of an experiment, ordered by time, without holding more than what overlaps

Within a log, records lie in the order in which their frames were closed, and a frame of samples begins up to a second before it is
closed. So each log is read twice. The first time only the earliest time of each frame is kept, and from these, back to front, the
*horizon* of each frame: nothing in it or behind it is earlier. The second time a frame is loaded when its horizon is due; until then
none of its events can be. What is in memory at any time are the frames that overlap that time.
"""

from __future__ import annotations

import heapq
import os
from array import array
from collections.abc import Iterable, Iterator
from itertools import chain, count

from collector.experiment.directory import ExperimentDirectory, LogFile, open_directory
from collector.experiment.events import AnyEvent, AnyRecord, Event, Message
from collector.experiment.liveness import is_alive
from collector.experiment.log_reader import EventReader
from collector.experiment.log_source import READ_BYTES, PathSource
from collector.experiment.open_frames import MissingRecords
from collector.experiment.origin import Origin, parse_log_name
from collector.experiment.samples import PcSample, PcSampleBlock

_READ_BYTES = 1 << 16  # small, because every log of the experiment may be in the middle of a read
_MAX_TIME = (1 << 64) - 1
_WARNING = 1


def events(source: str | os.PathLike[str] | int, *, strict: bool = False) -> Iterator[AnyEvent]:
    """The events of an experiment, a single log, or an open descriptor.

    source: an experiment's directory: all its events, ordered by time across threads and processes (equal times: by process
    and place in the log). A log file or a descriptor: the events of that log in its own order.
    strict: for a log or descriptor: raise DamagedExperimentError where something is missing, instead of telling it as an event.
    Raises ExperimentNotFoundError or ExperimentError with one sentence.
    """
    if isinstance(source, int):
        return _read_to_its_end(source, strict)
    if os.path.isdir(source) or not os.path.exists(source):
        directory = open_directory(source)
        return chain(complaints_of(directory), merge_events(directory.all_logs))
    origin = parse_log_name(os.path.basename(source))
    if strict or origin is None:
        return _read_to_its_end(os.path.realpath(source), strict, origin)
    return expand(iter_records(LogFile(os.path.realpath(source), origin)))


def _read_to_its_end(source: str | int, strict: bool, origin: Origin | None = None) -> Iterator[AnyEvent]:
    """A log of which nobody can say whether its process runs: all that is there now, the open frames among it."""
    reader = EventReader(source, strict=strict, origin=origin)
    missing = MissingRecords(source, reader.origin)
    for record in reader.records():
        missing.see((record,))
        yield from expand((record,))
    yield from reader.finish()
    yield from expand(missing.after(reader))


def complaints_of(directory: ExperimentDirectory) -> Iterator[Message]:
    """What is left out of an experiment, as events: nobody who reads them is to believe that they are all."""
    return (Message(0, 0, severity=_WARNING, text=text, count=1) for text in directory.complaints)


def expand(records: Iterable[AnyRecord]) -> Iterator[AnyEvent]:
    """Samples one by one instead of in blocks."""
    for record in records:
        if isinstance(record, PcSampleBlock):
            yield from record.iter_samples()
        else:
            yield record


def merge_events(logs: Iterable[LogFile]) -> Iterator[AnyEvent]:
    """The events of these logs, ordered by time. Streaming: memory is proportional to the frames that overlap."""
    return _flow(_Merge(logs))


class _Merge:
    """A heap of streams, each with the time of its next event; a log's next frame is a stream whose time is its horizon."""

    def __init__(self, logs: Iterable[LogFile]) -> None:
        self._numbers = count()
        self.heap: list[tuple[int, int, int, _Stream]] = []
        for rank, log in enumerate(logs):
            horizons = _horizons(log)
            if horizons:
                self.push(horizons[0], rank, _Cursor(log, rank, horizons))

    def push(self, time: int, rank: int, stream: _Stream) -> None:
        """Put a stream back, due at `time`."""
        heapq.heappush(self.heap, (time, rank, next(self._numbers), stream))

    def load(self, cursor: _Cursor) -> None:
        """The horizon of the cursor's frame is due: its records become streams."""
        for record in cursor.next_records():
            self.push(record.time, cursor.rank, record)
        if (horizon := cursor.horizon) is not None:
            self.push(horizon, cursor.rank, cursor)


class _Cursor:
    """A log on its second reading."""

    def __init__(self, log: LogFile, rank: int, horizons: array[int]) -> None:
        self.rank = rank
        self._groups = iter_record_groups(log, _READ_BYTES)
        self._horizons = horizons
        self._next = 0

    @property
    def horizon(self) -> int | None:
        """Before this time nothing more comes from this log; None behind its last frame."""
        return self._horizons[self._next] if self._next < len(self._horizons) else None

    def next_records(self) -> list[AnyRecord]:
        """The records of the next frame."""
        self._next += 1
        return next(self._groups, [])


_Stream = _Cursor | Event | PcSampleBlock | tuple[PcSample, Iterator[PcSample]]


def _horizons(log: LogFile) -> array[int]:
    """Of each frame of the log, the earliest time in it or behind it."""
    earliest = array("Q", (min(min(record.time for record in group), _MAX_TIME) for group in iter_record_groups(log)))
    for place in range(len(earliest) - 2, -1, -1):
        earliest[place] = min(earliest[place], earliest[place + 1])
    return earliest


def _flow(merge: _Merge) -> Iterator[AnyEvent]:
    heap = merge.heap
    while heap:
        time, rank, _, stream = heapq.heappop(heap)
        if isinstance(stream, _Cursor):
            merge.load(stream)
        elif isinstance(stream, PcSampleBlock):
            samples = stream.iter_samples()
            first = next(samples, None)
            if first is not None:
                merge.push(first.time, rank, (first, samples))
        elif isinstance(stream, tuple):
            yield from _run(merge, rank, *stream)
        else:
            yield stream


def _run(merge: _Merge, rank: int, first: PcSample, samples: Iterator[PcSample]) -> Iterator[PcSample]:
    """The samples of a stream until another stream is due."""
    limit = _MAX_TIME << 64
    if merge.heap:
        due, due_rank = merge.heap[0][:2]
        limit = due if rank <= due_rank else due - 1
    for sample in chain((first,), samples):
        if sample.time > limit and sample is not first:
            merge.push(sample.time, rank, (sample, samples))
            return
        yield sample


def iter_records(log: LogFile) -> Iterator[AnyRecord]:
    """The records of a log, in the order of the log, samples as blocks."""
    for group in iter_record_groups(log):
        yield from group


def iter_record_groups(log: LogFile, read_bytes: int = READ_BYTES) -> Iterator[list[AnyRecord]]:
    """The same, one list per frame. The last lists are what only the end can tell: cut frames, and open ones.

    Of a log that is still being written, what is complete now.
    """
    alive = is_alive(log)
    reader = EventReader(PathSource(log.path, read_bytes), origin=log.origin, is_live=alive)
    missing = None if alive else MissingRecords(log.path, log.origin)
    while (group := reader.next_frame_records()) is not None:
        if missing:
            missing.see(group)
        yield group
    if missing:
        last = list(reader.finish_records())
        if last:
            yield last
        for record in missing.after(reader):
            yield [record]
