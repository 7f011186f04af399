"""samples -- PCSAMPLE: what the samples of a source stand for, those of one thread as columns, and one sample as a value"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate, repeat
from typing import ClassVar, Final, NamedTuple

from collector.experiment.columns import IntegerColumn
from collector.experiment.origin import Origin
from collector.experiment.stacks import CallStack, StackTable, decode_stacks
from collector.format import SAMPLE_MAX_VALUES, Kind

SAMPLES: Final = "samples"
"""The metric that counts samples, unless their source has another."""

_NAME = re.compile(r"[A-Za-z0-9_.:/=,-]{1,64}")
_TIME: Final = "ns"
_NO_NAMES: Final = (SAMPLES, "cpu", "wall")  # figures that are made of values


@dataclass(frozen=True, slots=True)
class SourceValues:
    """The value columns of a source's samples: their names, empty for one that is to be passed over, and their units.

    `counted_as` is the metric in which each sample counts as one.
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    counted_as: str = SAMPLES

    def factors(self, unit_ns: int) -> list[int]:
        """What the stored numbers of each column are multiplied with: those of times are in the record's unit."""
        return [unit_ns if unit == _TIME else 1 for unit in self.units]


CPU_VALUES: Final = SourceValues(("user", "system"), (_TIME, _TIME))
"""Those of a clock, and of a source whose definition is lost."""


@lru_cache(maxsize=1 << 10)
def declared_values(values: Sequence[str], counted_as: str | None) -> SourceValues:
    """What PMCALLOCATE says of a source; without values it is taken for a clock."""
    if not values:
        return CPU_VALUES
    names: list[str] = []
    units = []
    for text in values[:SAMPLE_MAX_VALUES]:
        name, _, unit = text.partition(" ")
        names.append(name if _NAME.fullmatch(name) and name not in (*_NO_NAMES, *names) else "")
        units.append(unit)
    is_known = counted_as is not None and counted_as not in (*names, *_NO_NAMES) and _NAME.fullmatch(counted_as)
    return SourceValues(tuple(names), tuple(units), counted_as if counted_as and is_known else SAMPLES)


class PcSample(NamedTuple):
    """One sample: an instruction pointer with its call stack, and the values it stands for.

    `time` is in nanoseconds; `values` are as they are stored, those of time in the record's unit: millions of samples are
    read for each one that is asked. What it has in common with the other samples of its record is in `block`, and readable here.
    """

    time: int
    thread: int
    values: tuple[int, ...]
    stack_index: int
    serial: int
    block: PcSampleBlock

    @property
    def figures(self) -> dict[str, int]:
        """The values by the names that its source gives them, those of time in nanoseconds."""
        block = self.block
        named = zip(block.declared.names, block.declared.factors(block.unit_ns), self.values)
        return {name: value * factor for name, factor, value in named if name}

    @property
    def user_ns(self) -> int:
        """User CPU time it stands for, in nanoseconds."""
        return self.figures.get("user", 0)

    @property
    def system_ns(self) -> int:
        """System CPU time it stands for, in nanoseconds."""
        return self.figures.get("system", 0)

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
    """Samples of one thread as columns. `time` is in nanoseconds, the column `times` and those of `values` that are times in `unit_ns`.

    `serial` is that of the first sample; `len(block)` their number. `declared` is what their source said of the values.
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
    times: IntegerColumn
    values: tuple[IntegerColumn, ...]
    stacks: IntegerColumn
    stack_count: int
    definitions: bytes
    declared: SourceValues = CPU_VALUES
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
    def figures(self) -> dict[str, int]:
        """The values of all samples by the names that their source gives them, those of time in nanoseconds."""
        named = zip(self.declared.names, self.declared.factors(self.unit_ns), self.values)
        return {name: column.total() * factor for name, factor, column in named if name}

    @property
    def user_ns(self) -> int:
        """User CPU time of all samples."""
        return self.figures.get("user", 0)

    @property
    def system_ns(self) -> int:
        """System CPU time of all samples."""
        return self.figures.get("system", 0)

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
            zip(*map(_values, self.values)) if self.values else repeat(()),
            self.stacks.tolist(),
            range(self.serial, self.serial + self.count),
            repeat(self),
        )
        return map(tuple.__new__, repeat(PcSample), rows)


class SampleHead(NamedTuple):
    """What a record of samples says of all of them, without the samples themselves; times in nanoseconds.

    `sums_ns` are those of its value columns, as if all were times; `declared` says which are. It `is_lost` if it lies behind
    damage in its frame.
    """

    time: int
    last_time: int
    thread: int
    source: int
    sample_count: int
    log_offset: int
    sums_ns: tuple[int, ...]
    declared: SourceValues = CPU_VALUES
    is_lost: bool = False

    @property
    def kind(self) -> Kind:
        """Always PCSAMPLE."""
        return Kind.PCSAMPLE

    @property
    def cpu_ns(self) -> int:
        """The CPU time that its samples stand for."""
        return sum(sum_ns for name, sum_ns in zip(self.declared.names, self.sums_ns) if name in CPU_VALUES.names)

    def sum_ns(self, name: str) -> int:
        """That of the column of this name; 0 if there is none."""
        return sum(sum_ns for column, sum_ns in zip(self.declared.names, self.sums_ns) if column == name)

    @classmethod
    def of(cls, numbers: tuple[int, ...], log_offset: int, declared: SourceValues, is_lost: bool = False) -> SampleHead:
        """From the numbers that the analysis in C gives of a record (`col_head_field`)."""
        time, last_time, thread, source, sample_count, _, *sums_ns = numbers
        return cls(time, last_time, thread, source, sample_count, log_offset, tuple(sums_ns), declared, is_lost)


def _values(column: IntegerColumn) -> Iterator[int] | list[int]:
    return repeat(column.base, column.count) if column.raw is None else column.tolist()


_TABLE_PAYS = 512  # samples, from which on a table of all 256 products is faster than a product for each


def _scale(column: IntegerColumn, unit: int) -> Iterator[int] | list[int]:
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
