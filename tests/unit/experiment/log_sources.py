"""log_sources -- logs that need no file, and what a test wants to know of what was read"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields

from collector.experiment.events import AnyEvent, DropNotify
from collector.experiment.log_reader import EventReader
from collector.experiment.samples import PcSample


class MemorySource:
    """A file in memory; it may grow, and gives at most `read_bytes` at a time."""

    can_rewind = True

    def __init__(self, data: bytes | bytearray = b"", read_bytes: int = 1 << 20) -> None:
        self.data = bytearray(data)
        self._read_bytes = read_bytes

    def read(self, offset: int) -> bytes:
        """As LogSource."""
        return bytes(self.data[offset : offset + self._read_bytes])

    def close(self) -> None:
        """Nothing is held."""


def read_fed(data: bytes | bytearray, piece: int | None = None) -> list[AnyEvent]:
    """All events of a log that is fed in pieces, and what can be said at its end."""
    reader = EventReader()
    found = []
    for start in range(0, len(data), piece or max(len(data), 1)):
        reader.feed(data[start : start + (piece or len(data))])
        found += reader
    return found + list(reader.finish())


def read_file(data: bytes | bytearray, read_bytes: int = 1 << 20) -> list[AnyEvent]:
    """All events of a log in a file, and what can be said at its end."""
    reader = EventReader(MemorySource(data, read_bytes))
    return [*reader, *reader.finish()]


def content(event: AnyEvent) -> tuple[object, ...]:
    """An event without its place in the log."""
    if isinstance(event, PcSample):
        return (event.kind, event.time, event.thread, event.user_ns, event.system_ns, event.stack, event.source)
    names = [field.name for field in fields(event) if field.name not in ("log_offset", "serial", "origin")]
    return (event.kind, *(getattr(event, name) for name in names))


def split_notices(events: Iterable[AnyEvent]) -> tuple[list[AnyEvent], list[DropNotify]]:
    """The events that were written, and the notices that the reader made."""
    written, notices = [], []
    for event in events:
        (notices if isinstance(event, DropNotify) and event.offset is not None else written).append(event)
    return written, notices
