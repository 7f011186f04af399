"""log_records -- all that is known of one log: its records, its losses, and the open frames of a process that was killed"""

from __future__ import annotations

from collections.abc import Iterator

from collector.experiment.directory import LogFile
from collector.experiment.events import AnyRecord
from collector.experiment.liveness import is_alive
from collector.experiment.log_reader import EventReader
from collector.experiment.log_source import READ_BYTES, PathSource
from collector.experiment.open_frames import MissingRecords


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
