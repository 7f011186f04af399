"""model -- what the file of another profiler says, before it is an experiment: locations, stacks, threads with samples"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from collector.format import StackEnd
from collector.units import format_count, plural

NO_MODULE: Final = "(module not given)"
UNKNOWN: Final = "[unknown]"
MOST_ID: Final = (1 << 31) - 1
MOST_COUNTED: Final = 1 << 22
"""Counts of samples become so many samples at most; of more, each count is one."""
_KERNEL_FROM: Final = 1 << 63


class ImportedModule(NamedTuple):
    """A file of code, as the profile calls it; `build_id` is empty where it has none."""

    path: str = NO_MODULE
    build_id: bytes = b""


class ImportedFunction(NamedTuple):
    """A function; `file` and `line` are those of its definition."""

    name: str
    file: str | None = None
    line: int | None = None


class ImportedLine(NamedTuple):
    """A line of a function; its file may be another than the function's."""

    function: ImportedFunction
    file: str | None = None
    line: int | None = None


class ImportedLocation(NamedTuple):
    """What a frame of a stack stands for: a line, after it those of the calls that were inlined there, the caller first.

    Without lines it is an address that somebody else has to name.
    """

    module: ImportedModule
    address: int | None
    lines: tuple[ImportedLine, ...]

    @property
    def is_kernel(self) -> bool:
        """Whether the address is one of the kernel's."""
        return self.address is not None and self.address >= _KERNEL_FROM


class ImportedMapping(NamedTuple):
    """Where a module lay in memory, for locations without lines."""

    module: ImportedModule
    start: int
    end: int
    file_offset: int


@dataclass(slots=True)
class ImportedThread:
    """A thread's samples: times in nanoseconds, values in the unit of the profile, numbers of stacks."""

    tid: int
    name: str
    times: array[int] = field(default_factory=lambda: array("Q"))
    values: array[int] = field(default_factory=lambda: array("Q"))
    stacks: array[int] = field(default_factory=lambda: array("I"))

    def add(self, time_ns: int, value: int, stack: int) -> None:
        """Take a sample in."""
        self.times.append(time_ns)
        self.values.append(value)
        self.stacks.append(stack)

    def add_several(self, value: int, count: int, stack: int) -> None:
        """Take in so many samples without a time, which share a value."""
        share, more = divmod(value, count)
        self.times.extend(array("Q", [0]) * count)
        self.values.extend(array("Q", [share + 1]) * more + array("Q", [share]) * (count - more))
        self.stacks.extend(array("I", [stack]) * count)


@dataclass(slots=True)
class ImportedProcess:
    """A process; several threads may have one number, one after the other."""

    pid: int
    executable: str = ""
    threads: list[ImportedThread] = field(default_factory=list)


@dataclass(slots=True)
class ImportedMachine:
    """Where the profile was made, as far as it says so."""

    host: str | None = None
    name: str | None = None
    kernel: str | None = None
    cpu_count: int | None = None


@dataclass(slots=True)
class ImportedValue:
    """What a sample's value is: its name, its unit, and the nanoseconds that one of it is shown as."""

    name: str
    unit: str
    unit_ns: int
    is_time: bool
    period_ns: int = 0


@dataclass(slots=True)
class ImportedProfile:
    """One profile. Stacks run from the root to the leaf; `ends` are those of the unfinished ones. Where it `has_sums` a sample is the sum of nobody knows how
    many.
    """

    format: str
    value: ImportedValue
    locations: list[ImportedLocation] = field(default_factory=list)
    stacks: list[tuple[int, ...]] = field(default_factory=list)
    ends: dict[int, StackEnd] = field(default_factory=dict)
    processes: list[ImportedProcess] = field(default_factory=list)
    mappings: list[ImportedMapping] = field(default_factory=list)
    machine: ImportedMachine = field(default_factory=ImportedMachine)
    command: Sequence[str] = ()
    wall_ns: int = 0
    start_ns: int = 0
    end_ns: int = 0
    has_times: bool = False
    has_sums: bool = False
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def contents(self) -> str:
        """How much it holds, in words."""
        one = "stack" if self.has_sums else "sample"
        count = plural(self.sample_count, one) + ("" if self.value.name == "samples" else f" of {self.value.name}")
        return count if self.value.is_time or self.value.unit == "samples" else f"{count}, {format_count(self.total)} {self.value.unit} in all"

    @property
    def total(self) -> int:
        """All values together."""
        return sum(sum(thread.values) for process in self.processes for thread in process.threads)

    @property
    def sample_count(self) -> int:
        """How many samples there are."""
        return sum(len(thread.values) for process in self.processes for thread in process.threads)


class ImportedStacks:
    """Numbers for locations and stacks that occur again and again."""

    def __init__(self) -> None:
        self._locations: dict[ImportedLocation, int] = {}
        self._stacks: dict[tuple[int, ...], int] = {}

    def location(self, location: ImportedLocation) -> int:
        """The number of a location."""
        return self._locations.setdefault(location, len(self._locations))

    def stack(self, locations: tuple[int, ...]) -> int:
        """The number of a stack, the root first."""
        return self._stacks.setdefault(locations, len(self._stacks))

    @property
    def locations(self) -> list[ImportedLocation]:
        """All locations by number."""
        return list(self._locations)

    @property
    def stacks(self) -> list[tuple[int, ...]]:
        """All stacks by number."""
        return list(self._stacks)
