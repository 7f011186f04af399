"""samples -- PCSAMPLE: the samples of one thread as columns, and one sample as a value"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate, repeat
from typing import ClassVar, NamedTuple

from collector.experiment.columns import Column
from collector.experiment.origin import Origin
from collector.experiment.stacks import CallStack, StackTable, decode_stacks
from collector.format import Kind


class PcSample(NamedTuple):
    """One sample: an instruction pointer with its call stack, and the CPU time it stands for.

    `time` is in nanoseconds; `user` and `system` are in the record's unit, as they are stored: millions of samples are
    read for each one that is asked. What it has in common with the other samples of its record is in `block`, and readable here.
    """

    time: int
    thread: int
    user: int
    system: int
    stack_index: int
    serial: int
    block: PcSampleBlock

    @property
    def user_ns(self) -> int:
        """User CPU time it stands for, in nanoseconds."""
        return self.user * self.block.unit_ns

    @property
    def system_ns(self) -> int:
        """System CPU time it stands for, in nanoseconds."""
        return self.system * self.block.unit_ns

    @property
    def stack(self) -> CallStack:
        """The call stack. The stacks of a record are decoded together when the first of them is asked for."""
        return self.block.shared_stack_table().stack(self.stack_index)

    @property
    def kind(self) -> Kind:
        """Always PCSAMPLE."""
        return Kind.PCSAMPLE

    @property
    def source(self) -> int:
        """Id of the source in this log."""
        return self.block.source

    @property
    def log_offset(self) -> int:
        """Byte offset of the record that holds this sample."""
        return self.block.log_offset

    @property
    def origin(self) -> Origin | None:
        """The process image that was sampled."""
        return self.block.origin


@dataclass(frozen=True, slots=True)
class PcSampleBlock:
    """Samples of one thread as columns. `time` is in nanoseconds, the columns `times`, `user`, `system` in `unit_ns`.

    `serial` is that of the first sample; `len(block)` their number.
    """

    kind: ClassVar[Kind] = Kind.PCSAMPLE
    time: int
    thread: int
    log_offset: int
    serial: int
    origin: Origin | None
    source: int
    count: int
    unit_ns: int
    times: Column
    user: Column
    system: Column
    stacks: Column
    stack_count: int
    definitions: bytes
    _kept: list[StackTable] = field(default_factory=list, repr=False, compare=False)

    def __len__(self) -> int:
        return self.count

    def iter_times(self) -> Iterator[int]:
        """The times of the samples in nanoseconds, never falling."""
        times = accumulate(_scale(self.times, self.unit_ns), initial=self.time)
        next(times)
        return times

    @property
    def last_time(self) -> int:
        """The time of the last sample in nanoseconds."""
        return self.time + self.unit_ns * self.times.total()

    @property
    def user_ns(self) -> int:
        """User CPU time of all samples."""
        return self.user.total() * self.unit_ns

    @property
    def system_ns(self) -> int:
        """System CPU time of all samples."""
        return self.system.total() * self.unit_ns

    def stack_table(self) -> StackTable:
        """The stacks that the column `stacks` counts; decoded anew at each call."""
        return decode_stacks(self.definitions, self.stack_count)

    def shared_stack_table(self) -> StackTable:
        """The same, kept for as long as the block is."""
        if not self._kept:
            self._kept.append(self.stack_table())
        return self._kept[0]

    def iter_samples(self) -> Iterator[PcSample]:
        """The samples, one value each, in order of time."""
        rows = zip(
            self.iter_times(),
            repeat(self.thread),
            _values(self.user),
            _values(self.system),
            self.stacks.tolist(),
            range(self.serial, self.serial + self.count),
            repeat(self),
        )
        return map(tuple.__new__, repeat(PcSample), rows)


class SampleHead(NamedTuple):
    """What a record of samples says of all of them, without the samples themselves; times in nanoseconds.

    `sums` are those of its value columns. It `is_lost` if it lies behind damage in its frame.
    """

    time: int
    last_time: int
    thread: int
    source: int
    sample_count: int
    log_offset: int
    sums: tuple[int, ...]
    is_lost: bool = False

    @property
    def kind(self) -> Kind:
        """Always PCSAMPLE."""
        return Kind.PCSAMPLE

    @classmethod
    def of(cls, numbers: tuple[int, ...], log_offset: int, is_lost: bool = False) -> SampleHead:
        """From the numbers that the analysis in C gives of a record (`col_head_field`)."""
        time, last_time, thread, source, sample_count, _, *sums = numbers
        return cls(time, last_time, thread, source, sample_count, log_offset, tuple(sums), is_lost)


def _values(column: Column) -> Iterator[int] | list[int]:
    return repeat(column.base, column.count) if column.raw is None else column.tolist()


_TABLE_PAYS = 512  # samples, from which on a table of all 256 products is faster than a product for each


def _scale(column: Column, unit: int) -> Iterator[int] | list[int]:
    """The column's values times `unit`."""
    first = column.base * unit
    if column.raw is None:
        return repeat(first, column.count)
    if column.raw.itemsize > 1:
        return [first + unit * value for value in column.raw.tolist()]
    if column.count < _TABLE_PAYS:
        return [first + unit * value for value in column.raw.tobytes()]
    products = [first + unit * value for value in range(256)]
    return [products[value] for value in column.raw.tobytes()]
