"""plain -- the analysis in Python: the way without the library, and what the library is held against

Small and slow: every stack is decoded and kept.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat

from collector.analysis.placed_values import placed_values
from collector.analysis.seam import MOST_VALUE, NOBODY, AddressSpan, Entries, Entry, Expansion
from collector.experiment.columns import IntegerColumn
from collector.experiment.directory import LogFile
from collector.experiment.events import Event
from collector.experiment.merge import iter_records
from collector.experiment.samples import PcSampleBlock, SampleHead
from collector.format import SAMPLE_MAX_VALUES, StackEnd
from collector.profile.metrics import CPU_VALUES, Value
from collector.profile.plain_samples import PlainSample, PlainSamples, PlainStack
from collector.profile.samples import Samples, Scales

_LATEST = (1 << 64) - 1
_END_NAMES = {int(end): end.name.lower() for end in StackEnd}

Place = tuple[int, bool]
"""An address as it stands on a stack, and whether it is the leaf."""


@dataclass
class _Log:
    blocks: list[PcSampleBlock] = field(default_factory=list)
    threads: Sequence[int] = ()
    segments: Sequence[AddressSpan] = ()
    own_space: int = 0
    shift_ns: int = 0

    def by_thread(self) -> list[tuple[int, PcSampleBlock]]:
        blocks = self.blocks
        if self.shift_ns:
            blocks = [replace(block, time=(block.time + self.shift_ns) & _LATEST) for block in blocks]
        owned = [(thread, block) for thread, block in zip(self.threads, blocks) if thread != NOBODY]
        return sorted(owned, key=lambda pair: pair[0])

    def entry(self, place: Place) -> Entry | None:
        """The entry of an address; None if it is hidden."""
        address, is_leaf = place
        wanted = address if is_leaf or address == 0 else address - 1
        number = bisect_right(self.segments, wanted, key=lambda segment: segment.start) - 1
        if number < 0 or wanted >= self.segments[number].end:
            return Entry(address, self.own_space, is_leaf)
        segment = self.segments[number]
        return None if segment.is_hidden else Entry((address - segment.bias) & _LATEST, segment.space, is_leaf)


class PlainAnalysis:
    """See `seam.Analysis`."""

    def __init__(self) -> None:
        self._values: Sequence[Value] = CPU_VALUES
        self._logs: list[_Log] = []
        self._entries: dict[Entry, int] = {}
        self._empty_counts: Counter[int] = Counter()
        self._expansion = Expansion()

    def scan(self, log: LogFile) -> tuple[int, list[Event | SampleHead]]:
        """See `seam.Analysis`."""
        number = self.begin(log)
        return number, [self.add_block(number, record) if isinstance(record, PcSampleBlock) else record for record in iter_records(log)]

    def begin(self, log: LogFile) -> int:
        """See `seam.Analysis`."""
        self._logs.append(_Log())
        return len(self._logs) - 1

    def add_block(self, log: int, block: PcSampleBlock) -> SampleHead:
        """See `seam.Analysis`."""
        self._logs[log].blocks.append(block)
        sums_ns = [sum(_capped(column, block.unit_ns)) for column in block.values]
        padding = [0] * (SAMPLE_MAX_VALUES - len(sums_ns))
        last = min(block.last_time, _LATEST)
        return SampleHead(
            block.time, last, block.thread, block.source, block.count, block.log_offset, (*sums_ns, *padding), block.declared
        )

    def measure(self, values: Sequence[Value]) -> None:
        """See `seam.Analysis`."""
        self._values = values

    def attribute(self, log: int, threads: Sequence[int], segments: Sequence[AddressSpan], own_space: int) -> None:
        """See `seam.Analysis`."""
        known = self._logs[log]
        known.threads, known.segments, known.own_space = threads, segments, own_space

    def shift(self, log: int, shift_ns: int) -> None:
        """See `seam.Analysis`."""
        self._logs[log].shift_ns = shift_ns

    def collect(self, log: int) -> None:
        """See `seam.Analysis`."""
        callers: set[Place] = set()
        known = self._logs[log]
        for _, block in known.by_thread():
            for places, end, count in _used_stacks(block):
                callers.update(places)
                if all(known.entry(place) is None for place in places):
                    self._empty_counts[end] += count
        for place in sorted(callers):
            entry = known.entry(place)
            if entry is not None:
                self._entries.setdefault(entry, len(self._entries))

    def entries(self) -> Entries:
        """See `seam.Analysis`."""
        return Entries(list(self._entries), [self._empty_counts[end] for end in range(8)])

    def mark(self, expansion: Expansion, logs: Sequence[int]) -> bytearray:
        """See `seam.Analysis`."""
        self._expansion = expansion
        is_met = bytearray(expansion.first_meaning[-1])
        for number in logs:
            log = self._logs[number]
            for _, block in log.by_thread():
                for places, _, time_ns, _ in _iter_samples(block, self._values):
                    for place in places:
                        entry = log.entry(place)
                        if entry is not None:
                            is_met[self._meaning(self._entries[entry], time_ns)] = 1
        return is_met

    def expand(self, expansion: Expansion) -> None:
        """See `seam.Analysis`."""
        self._expansion = expansion

    def samples(self, scales: Sequence[Scales], frame_count: int, has_all_cells: bool) -> Samples:
        """See `seam.Analysis`."""
        stacks: dict[PlainStack, int] = {}
        samples = []
        for log in self._logs:
            for thread, block in log.by_thread():
                for places, end, time_ns, values in _iter_samples(block, self._values):
                    stack = self._stack(log, places, end, time_ns)
                    samples.append(PlainSample(thread, time_ns, stacks.setdefault(stack, len(stacks)), values))
        return PlainSamples(list(stacks), samples, scales, self._values)

    def _stack(self, log: _Log, places: Sequence[Place], end: int, time_ns: int) -> PlainStack:
        frames = tuple(frame for place in places for frame in self._frames(log.entry(place), time_ns))
        if frames:
            return PlainStack(frames, _END_NAMES[end])
        shown_end = end if end == StackEnd.NOT_SAMPLED else StackEnd.NO_UNWIND_INFO
        return PlainStack((self._expansion.empty_frames[end],), _END_NAMES[shown_end])

    def _frames(self, entry: Entry | None, time_ns: int) -> Sequence[int]:
        if entry is None:
            return ()
        expansion, meaning = self._expansion, self._meaning(self._entries[entry], time_ns)
        return expansion.frames[expansion.first_frame[meaning] : expansion.first_frame[meaning + 1]]

    def _meaning(self, entry: int, time_ns: int) -> int:
        first, last = self._expansion.first_meaning[entry : entry + 2]
        times = self._expansion.times
        return first + bisect_right(times, time_ns, first - entry, last - entry - 1) - (first - entry)


def _capped(column: IntegerColumn, factor: int) -> Iterator[int]:
    return (min(value * factor, MOST_VALUE) for value in column)


def _places(block: PcSampleBlock) -> list[tuple[list[Place], int]]:
    """Each stack of a record, the caller first, and how it ended."""
    table = block.stack_table()
    stacks = []
    for number in range(len(table)):
        stack = table.stack(number)
        places = [(address, False) for address in reversed(stack.addresses)]
        if places:
            places[-1] = places[-1][0], True
        stacks.append((places, int(stack.end)))
    return stacks


_LOST: tuple[list[Place], int] = [], int(StackEnd.NO_UNWIND_INFO)


def _used_stacks(block: PcSampleBlock) -> Iterator[tuple[list[Place], int, int]]:
    stacks = _places(block)
    for index, count in Counter(block.stacks).items():
        yield *(stacks[index] if index < len(stacks) else _LOST), count


def _iter_values(block: PcSampleBlock, values: Sequence[Value]) -> Iterator[tuple[int, ...]]:
    """By sample, all values that are asked for."""
    placed = placed_values(block.declared, values)
    columns: list[Iterable[int]] = [repeat(0, block.count) for _ in values]
    for column, place, is_time in zip(block.values, placed.columns, placed.are_times):
        if place is not None:
            columns[place] = _capped(column, block.unit_ns if is_time else 1)
    if placed.counted_in is not None:
        columns[placed.counted_in] = repeat(1, block.count)
    return zip(*columns)


def _iter_samples(block: PcSampleBlock, values: Sequence[Value]) -> Iterator[tuple[list[Place], int, int, tuple[int, ...]]]:
    """The samples of a record: stack, its end, time, values."""
    stacks = _places(block)
    for index, time_ns, figures in zip(block.stacks, block.iter_times(), _iter_values(block, values)):
        yield *(stacks[index] if index < len(stacks) else _LOST), min(time_ns, _LATEST), figures
