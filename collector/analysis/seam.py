"""seam -- what an analysis must do, whatever it is written in

An *entry* is an address that occurs on a stack: in a file (a space that several logs share) or in memory that belongs to one log, as a leaf or as
a return address. It has one meaning, or one after the other as time goes on; a meaning is a number of frames, the caller first: none
where it is the recorder's own, several where functions were inlined.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, overload

from collector.experiment.directory import LogFile
from collector.experiment.events import Event
from collector.experiment.samples import PcSampleBlock, SampleHead
from collector.profile.metrics import Value
from collector.profile.samples import Samples, Scales

NOBODY = (1 << 32) - 1
"""The thread of a record that is to be left out."""

NO_FRAME = (1 << 32) - 1
"""Stands for no stack, because there is none without frames."""

MOST_VALUE = 1 << 48
"""No sample stands for more of a value than this."""


class AddressSpan(NamedTuple):
    """Addresses of [start, end) belong to a space at all times, at `address - bias` there."""

    start: int
    end: int
    bias: int
    space: int
    is_hidden: bool


class Entry(NamedTuple):
    """An address, its space, and whether it is the interrupted instruction itself."""

    address: int
    space: int
    is_leaf: bool


class EntryColumns(Sequence[Entry]):
    """Entries as columns: there may be a hundred thousand of few functions, so that each is only made where it is wanted."""

    def __init__(self, addresses: Sequence[int], spaces: Sequence[int], are_leaves: Sequence[int]) -> None:
        self.addresses = addresses
        self.spaces = spaces
        self.are_leaves = are_leaves

    @classmethod
    def of(cls, entries: Sequence[Entry]) -> EntryColumns:
        """The same entries; those that are columns themselves."""
        return entries if isinstance(entries, EntryColumns) else cls(*map(list, zip(*entries))) if entries else cls([], [], [])

    def __len__(self) -> int:
        return len(self.addresses)

    @overload
    def __getitem__(self, number: int) -> Entry: ...
    @overload
    def __getitem__(self, number: slice) -> EntryColumns: ...
    def __getitem__(self, number: int | slice) -> Entry | EntryColumns:
        if isinstance(number, slice):
            return EntryColumns(self.addresses[number], self.spaces[number], self.are_leaves[number])
        return Entry(self.addresses[number], self.spaces[number], bool(self.are_leaves[number]))


@dataclass(frozen=True, slots=True)
class Entries:
    """All entries by number, and how many samples have stacks with nothing to show, by StackEnd."""

    entries: Sequence[Entry]
    empty_counts: Sequence[int]


@dataclass(slots=True)
class Expansion:
    """What entries mean.

    Entry e has the meanings first_meaning[e] up to first_meaning[e + 1]; the second of them begins at times[first_meaning[e] - e], and so
    on. Meaning m has the frames first_frame[m] up to first_frame[m + 1] of `frames`. `empty_frames` stand, by StackEnd, for stacks without any.
    """

    first_meaning: array[int] = field(default_factory=lambda: array("I", [0]))
    times: array[int] = field(default_factory=lambda: array("Q"))
    first_frame: array[int] = field(default_factory=lambda: array("I", [0]))
    frames: array[int] = field(default_factory=lambda: array("I"))
    empty_frames: tuple[int, ...] = (NO_FRAME,) * 8


class Analysis(Protocol):
    """Logs are numbered as they are scanned. CollectorErrors only."""

    def scan(self, log: LogFile) -> tuple[int, list[Event | SampleHead]]:
        """Read a log: its number, and all that it says, samples as the heads of their records."""

    def begin(self, log: LogFile) -> int:
        """The number of a log of which nothing is read: what there is of it comes by `add_block`."""

    def add_block(self, log: int, block: PcSampleBlock) -> SampleHead:
        """One record of samples more for a log, which stands in none of its frames."""

    def measure(self, values: Sequence[Value]) -> None:
        """What there is besides CPU time: all values that answers are to have, by name. Once, before the first log is attributed."""

    def attribute(self, log: int, threads: Sequence[int], segments: Sequence[AddressSpan], own_space: int) -> None:
        """Whose each record is, and what addresses belong to; segments rise. Addresses in none of them are of `own_space`."""

    def shift(self, log: int, shift_ns: int) -> None:
        """Add so much to the times of its samples in all that follows: its node has another clock. Heads and blocks are as they stand in the log."""

    def collect(self, log: int) -> None:
        """Find the entries of a log."""

    def entries(self) -> Entries:
        """The entries of all logs."""

    def mark(self, expansion: Expansion, logs: Sequence[int]) -> bytearray:
        """By meaning, whether it occurs in one of the logs; frames need not be known."""

    def expand(self, expansion: Expansion) -> None:
        """Take what all entries mean."""

    def samples(self, scales: Sequence[Scales], frame_count: int, has_all_cells: bool) -> Samples:
        """All samples; `scales` by thread. `has_all_cells`: nothing was hidden but by segments."""
