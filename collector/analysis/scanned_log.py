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

    @property
    def offset(self) -> int:
        """Byte offset in the log before which everything was read."""
        return self._settled

    def read_all(self) -> list[Event | SampleHead]:
        """All of it, with the notices that only the end can tell."""
        frame_end = 0
        unpacker = make_unpacker(len(self._data))
        is_broken = False  # the frame stopped being msgpack: what is behind that is damage, samples too
        for kind, offset, length, value in self._items:
            if kind == _FRAME:
                frame_end = offset + length
                is_broken = False
                self._values_before = None
            elif kind == _RECORDS:
                if not is_broken and not self._decode_run(unpacker, self._data[value : value + length], offset, frame_end):
                    is_broken, unpacker = True, make_unpacker(len(self._data))
            elif kind == _SAMPLES:
                self._take_head(value, is_broken)
            else:
                self._lose(_CAUSES[kind], offset, length, value or 1)
        self._note_unknown_kinds()
        records = list(self._pending)
        self._pending.clear()
        return records  # type: ignore[return-value]

    def _take_head(self, number: int, is_broken: bool) -> None:
        numbers = self._heads[number]
        head = SampleHead.of(numbers, numbers[5], self.declared_of(numbers[3]), is_broken)
        if not is_broken:
            self._last_time = head.time
        self._serial += 0 if is_broken else head.sample_count
        self._pending.append(head)  # type: ignore[arg-type]
