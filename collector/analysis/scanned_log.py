"""scanned_log -- the records of a log whose frames the analysis in C has found: the same events and notices as EventReader gives"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from collector.experiment.events import Event
from collector.experiment.log_reader import EventReader, make_unpacker
from collector.experiment.origin import Origin
from collector.experiment.samples import SampleHead
from collector.format import DropCause, Kind

_FRAME, _RECORDS, _SAMPLES, _DAMAGE, _MISSING, _TRUNCATED = range(6)

_CAUSES = {_DAMAGE: DropCause.DAMAGE, _MISSING: DropCause.MISSING_FRAMES, _TRUNCATED: DropCause.TRUNCATED}
_NOWHERE = 1 << 64

Item = tuple[int, int, int, int]
"""Kind, offset, length, value: col_item of libcollector_c/analysis/seam.h."""


class ScannedLog(EventReader):
    """A log of which `items` say what it holds, in its order; `data` are the bytes of all records but those of samples, of which `heads` tell."""

    def __init__(self, origin: Origin, items: Iterator[Item], heads: Sequence[tuple[int, ...]], data: bytes, settled: int, skipped: frozenset[Kind]) -> None:
        super().__init__(origin=origin)
        self.skipped = skipped
        self._items = items
        self._heads = heads
        self._data = data
        self._settled = settled
        self._before = 0
        self._position = _NOWHERE

    @property
    def offset(self) -> int:
        """Byte offset in the log before which everything was read."""
        return self._settled

    def read_all(self) -> list[Event | SampleHead]:
        """All of it, with the notices that only the end can tell."""
        frame_end = 0
        is_broken = False  # the frame stopped being msgpack: what is behind that is damage, samples too
        for kind, offset, length, value in self._items:
            if kind == _FRAME:
                frame_end = offset + length
                is_broken = False
                self._values_before = None
            elif kind == _RECORDS:
                is_broken = is_broken or not self._take_run(value, value + length, offset - value, frame_end)
            elif kind == _SAMPLES:
                self._take_head(value, is_broken)
            else:
                self._lose(_CAUSES[kind], offset, length, value or 1)
        self._note_unknown_kinds()
        records = list(self._pending)
        self._pending.clear()
        return records  # type: ignore[return-value]

    def _take_run(self, start: int, end: int, moved: int, frame_end: int) -> bool:
        """Take the records in a part of the data, which stand so much further on in the log; False if they stop being msgpack."""
        if start != self._position:
            self._begin_at(start)
        unpack, tell, before, take = self._unpacker.unpack, self._unpacker.tell, self._before, self._take
        while (position := self._position) < end:
            try:
                values = unpack()
                self._position = before + tell()
            except Exception:  # hostile bytes make msgpack raise at least six unrelated classes
                self._position = _NOWHERE
            if self._position > end:  # a record that is cut off goes on into the next run
                self._position = _NOWHERE
                self._lose(DropCause.DAMAGE, position + moved, frame_end - position - moved)
                return False
            take(values, position + moved, self._position - position)
        return True

    def _begin_at(self, start: int) -> None:
        """Unpack from there on: all that is left, as most logs are many runs of a few records."""
        self._unpacker = make_unpacker(len(self._data))
        self._unpacker.feed(self._data[start:])
        self._before = self._position = start

    def _take_head(self, number: int, is_broken: bool) -> None:
        numbers = self._heads[number]
        head = SampleHead.of(numbers, numbers[5], self.declared_of(numbers[3]), is_broken)
        if not is_broken:
            self._last_time = head.time
        self._serial += 0 if is_broken else head.sample_count
        self._pending.append(head)  # type: ignore[arg-type]
