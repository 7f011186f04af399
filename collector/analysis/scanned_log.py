"""scanned_log -- the records of a log whose frames the analysis in C has found: the events and notices that EventReader gives, but whole rows of metrics"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from collector.experiment.events import Event, Initialize, PmcAllocate
from collector.experiment.log_reader import EventReader, Unpacker, make_unpacker, unpack_values
from collector.experiment.origin import Origin
from collector.experiment.record_plans import RecordPlan, plan_of
from collector.experiment.records import MetricRecord
from collector.experiment.samples import SampleHead
from collector.format import DropCause, Kind

_FRAME, _RECORDS, _SAMPLES, _DAMAGE, _MISSING, _TRUNCATED, _SHAPED = range(7)
_NUMBERS = 3  # of a record of a known shape come behind these: which one, where its bytes are, and how many numbers it has

_CAUSES = {_DAMAGE: DropCause.DAMAGE, _MISSING: DropCause.MISSING_FRAMES, _TRUNCATED: DropCause.TRUNCATED}

Item = tuple[int, int, int, int]
"""Kind, offset, length, value: col_item of libcollector_c/analysis/seam.h."""

Plans = dict[int, RecordPlan | None]
"""By shape; None if there can be no plan."""


class FoundRecords(NamedTuple):
    """What a scan found: `items` say what the log holds, in its order; `data` are the bytes of all records but those of samples, of which `heads` tell;
    `numbers` are those of records of known shapes. Before `settled` everything was read.
    """

    items: Iterator[Item]
    heads: Sequence[tuple[int, ...]]
    data: bytes
    numbers: Sequence[int]
    settled: int


class ScannedLog(EventReader):
    """The log of an image. `plans` are those for shapes of records, which logs of one analysis share."""

    def __init__(self, origin: Origin, found: FoundRecords, plans: Plans, skipped: frozenset[Kind]) -> None:
        super().__init__(origin=origin)
        self.skipped = skipped
        self._found = found
        self._plans = plans
        self._unpacker: Unpacker | None = None

    @property
    def offset(self) -> int:
        """Byte offset in the log before which everything was read."""
        return self._found.settled

    def read_all(self) -> list[Event | SampleHead]:
        """All of it, with the notices that only the end can tell."""
        numbers, plans = self._found.numbers, self._plans
        frame_end = 0
        is_broken = False  # the frame stopped being msgpack: what is behind that is damage, samples too
        for kind, offset, length, value in self._found.items:
            if kind == _SHAPED:
                plan = plans.get(numbers[value])
                if is_broken:
                    continue
                if plan is not None:
                    self._take_planned(plan, value + _NUMBERS, offset)
                else:
                    is_broken = not self._take_shaped(value, offset, length, frame_end)
            elif kind == _FRAME:
                frame_end = offset + length
                is_broken = False
                self._values_before = None
            elif kind == _RECORDS:
                is_broken = is_broken or not self._take_run(value, offset, length, frame_end)
            elif kind == _SAMPLES:
                self._take_head(value, is_broken)
            else:
                self._lose(_CAUSES[kind], offset, length, value or 1)
        self._note_unknown_kinds()
        records = list(self._pending)
        self._pending.clear()
        return records  # type: ignore[return-value]

    def _take_run(self, start: int, offset: int, length: int, frame_end: int) -> bool:
        """Take the records in a part of the data, which stand at an offset of the log; False if they stop being msgpack."""
        if self._unpacker is None:
            self._unpacker = make_unpacker(len(self._found.data))
        is_sound = self._decode_run(self._unpacker, self._found.data[start : start + length], offset, frame_end)
        if not is_sound:
            self._unpacker = None
        return is_sound

    def _take_row(self, row: MetricRecord) -> None:
        count = len(row.values) - row.values.count(None)
        self._serial += count
        if count:
            self._pending.append(row)

    def _take_planned(self, plan: RecordPlan, first: int, offset: int) -> None:
        """Take a record of which only the numbers are to be looked at."""
        event = plan.event(self._found.numbers[first : first + plan.number_count], offset, self._serial, self.origin)
        if plan.event_class is Initialize:
            event = self._greet(event)  # type: ignore[arg-type]  # which it is
        elif plan.event_class is PmcAllocate:
            self.note_source(event)  # type: ignore[arg-type]  # which it is
        self._last_time = event.time
        self._serial += 1
        self._pending.append(event)

    def _take_shaped(self, place: int, offset: int, length: int, frame_end: int) -> bool:
        """Take a record as others are taken, and learn from it, if that was not tried before; False if it is no msgpack."""
        numbers, data = self._found.numbers, self._found.data
        shape, start, count = numbers[place : place + _NUMBERS]
        if shape not in self._plans:
            values, first = unpack_values(data[start : start + length]), place + _NUMBERS
            is_wanted = type(values) is list and values[0] not in self.skipped
            self._plans[shape] = plan_of(values, numbers[first : first + count]) if is_wanted else None
        return self._take_run(start, offset, length, frame_end)

    def _take_head(self, number: int, is_broken: bool) -> None:
        numbers = self._found.heads[number]
        head = SampleHead.of(numbers, numbers[5], self.declared_of(numbers[3]), is_broken)
        if not is_broken:
            self._last_time = head.time
        self._serial += 0 if is_broken else head.sample_count
        self._pending.append(head)  # type: ignore[arg-type]
