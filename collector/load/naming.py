"""naming -- the names of all addresses that occur: each module's are looked up in one go

A *space* is what an address counts in: a module's file, or the memory of one process image.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice, repeat
from operator import attrgetter
from typing import Final, NamedTuple, Protocol

from collector.analysis.seam import Entry, EntryColumns
from collector.format import PREEMPTED, WAIT_UNSEEN
from collector.profile.model import METHOD, REGION, REGION_MARK, Code, Frame, Function, Module, identity_of
from collector.symbols.demangle import short_name
from collector.symbols.symbolizer import Location, lookup_addresses
from collector.symbols.terms import CANCELLABLE_CALLS, Layout
from collector.target.address_space import RecordedFile

_KINDS: Final = {"unknown": "unknown", "inlined": "inlined"}
_COLLECTING: Final = "gc_collect_main"
RECORDER_MODULE: Final = "libcollector.so"
_STARTS: Final = frozenset(
    ("_start", "__libc_start_main", "__libc_start_main_impl", "__libc_start_call_main", "libc_start_main_stage2",
     "start_thread", "clone", "__clone", "clone3", "__clone3")
)  # fmt: skip
"""Functions of the C library that call a program's or a thread's first function."""


class ModuleKey(NamedTuple):
    """A module's file; `copy` is where to read it if it is not to be found at its path.

    `layout` is how the program laid out a file that it mapped itself. `file` is what it was, if it has no build id. With `hides_start` what
    starts programs and threads is not shown.
    """

    path: str
    build_id: bytes
    copy: str | None = None
    layout: Layout = "image"
    file: RecordedFile | None = None
    hides_start: bool = False

    @property
    def is_recorder(self) -> bool:
        """Whether it is the recorder's own code, which no report shows."""
        return os.path.basename(self.path) == RECORDER_MODULE


class CodePlace(NamedTuple):
    """An address in a module's file."""

    module: ModuleKey
    elf_address: int
    is_leaf: bool


@dataclass(frozen=True, slots=True)
class NamedPlace:
    """A place in code that no file holds; its name came with it. `raw_name`, if it has one, tells it from others of that name in its file.

    Imported code has the `path` and `build_id` of its module; `file` is that of the line, `definition` that of the function.
    """

    function: str
    module: str
    alias: str | None = None
    file: str | None = None
    line: int | None = None
    function_line: int | None = None
    address: int = 0
    kind: str = "dynamic"
    code: int = -1
    raw_name: str = ""
    path: str = ""
    build_id: str = ""
    definition: str | None = None


class InlinedPlaces(NamedTuple):
    """A place in code that no file holds, in functions that were inlined into each other: the caller first."""

    places: tuple[NamedPlace, ...]


class RegionPlace(NamedTuple):
    """A parallel region, by the place of the call that opened it."""

    opener: CodePlace | NamedPlace | InlinedPlaces


UNMAPPED: Final = NamedPlace("(no module)", "(no module)", kind="unknown")
LEFT_OUT: Final = NamedPlace("(frames left out)", "(frames left out)", kind="unknown")
ANONYMOUS: Final = NamedPlace("(anonymous code)", "(anonymous code)", kind="unknown")
NOT_SAMPLED: Final = NamedPlace("(not sampled)", "(not sampled)", kind="unknown")
STAND_INS: Final = {
    PREEMPTED: NamedPlace("(preempted)", "(preempted)", kind="unknown"),
    WAIT_UNSEEN: NamedPlace("(wait not seen)", "(wait not seen)", kind="unknown"),
}
"""What stands for stacks of waits that nobody has, by address."""
LOST_STACK: Final = NamedPlace("(stack lost)", "(stack lost)", kind="unknown")

Place = CodePlace | NamedPlace | InlinedPlaces | RegionPlace


class Memory(Protocol):
    """What an address of one process image means."""

    def turning_points(self, address: int, is_leaf: bool) -> list[int]:
        """When it changes its meaning, rising; nothing if it never does."""

    def place_at(self, address: int, is_leaf: bool, time_ns: int) -> Place | None:
        """What it is at a moment; None if no report shows it."""


class Names(Protocol):
    """What addresses of modules are called; see `symbols.symbolizer.Symbolizer`."""

    @property
    def has_inlines(self) -> bool:
        """Whether calls that were inlined have locations of their own."""

    @property
    def nameless(self) -> dict[str, str]:
        """{a sentence: the module that it says to be shown without names}"""

    @property
    def warnings(self) -> list[str]:
        """Sentences about what was expected and could not be used."""

    def add_archive(self, experiment: str) -> None:
        """Prefer what the experiment has in its archive."""

    def locate_chains(
        self, path: str, build_id: bytes | None, elf_addresses: Iterable[int], layout: Layout = "image", file: RecordedFile | None = None
    ) -> dict[int, tuple[Location, ...]]:
        """{elf address: locations}, the caller first."""

    def python_methods(self, path: str, build_id: bytes | None, layout: Layout = "image", file: RecordedFile | None = None) -> dict[int, str]:
        """{elf address where it begins: name} of what Python programs can call."""

    def digests_of(self, paths: Iterable[str]) -> dict[str, str]:
        """MD5 sums of source files as they were compiled."""


class NameTable:
    """The modules, functions and frames of a profile."""

    def __init__(self, symbolizer: Names) -> None:
        self._symbolizer = symbolizer
        self._spaces: list[ModuleKey | Memory] = []
        self._module_spaces: dict[ModuleKey, int] = {}
        self.known_modules: dict[tuple[object, ...], tuple[int, bool]] = {}
        """For who finds modules: by what it tells them by, the space of each, and whether it is the recorder's own code."""
        self._modules: dict[Module, int] = {}
        self._functions: dict[tuple[str, str, int, str | None], int] = {}
        self._function_rows: list[Function] = []
        self._frames: list[Frame] = []
        self._places: dict[Place, Sequence[int]] = {}
        self._folded: set[ModuleKey] = set()
        self.codes: list[Code] = []
        """The code of dynamic functions, by the number in their places."""

    @property
    def modules(self) -> tuple[Module, ...]:
        """All modules."""
        return tuple(self._modules)

    @property
    def functions(self) -> tuple[Function, ...]:
        """All functions."""
        return tuple(self._function_rows)

    @property
    def frames(self) -> tuple[Frame, ...]:
        """All frames."""
        return tuple(self._frames)

    @property
    def source_paths(self) -> set[str]:
        """The source files of all functions and frames."""
        paths = {function.file for function in self._function_rows}.union(map(attrgetter("file"), self._frames))
        return {path for path in paths if path}

    def module_space(self, key: ModuleKey) -> int:
        """The space of a module, the same for all processes."""
        space = self._module_spaces.get(key)
        if space is None:
            space = self._module_spaces[key] = len(self._spaces)
            self._spaces.append(key)
        return space

    def fold(self, key: ModuleKey) -> None:
        """Show of a module, which is a Python interpreter, only what Python programs call."""
        self._folded.add(key)

    def memory_space(self, memory: Memory) -> int:
        """A space for what is known of one process image only."""
        self._spaces.append(memory)
        return len(self._spaces) - 1

    def memory_of(self, entry: Entry) -> Memory | None:
        """The process image that an entry belongs to; None if it belongs to a module."""
        space = self._spaces[entry.space]
        return None if isinstance(space, ModuleKey) else space

    def name_modules(self, entries: Sequence[Entry], progress: Callable[[int, int, str], None] | None = None) -> list[Sequence[int]]:
        """The frames of each entry, caller first; none of those that belong to no module but to the memory of a process."""
        columns = EntryColumns.of(entries)
        frames: list[Sequence[int]] = [()] * len(columns)
        by_module: dict[int, list[int]] = defaultdict(list)
        for number, space in enumerate(columns.spaces):
            by_module[space].append(number)
        for done, (space, numbers) in enumerate(by_module.items()):
            key = self._spaces[space]
            if not isinstance(key, ModuleKey):
                continue
            if progress is not None:
                progress(done, len(by_module), f"naming {os.path.basename(key.path)}")
            addresses, are_leaves = (list(map(column.__getitem__, numbers)) for column in (columns.addresses, columns.are_leaves))
            for number, found in zip(numbers, self._locate(key, addresses, are_leaves)):
                frames[number] = found
        return frames

    def name_place(self, place: Place) -> Sequence[int]:
        """The frames of a place, caller first."""
        frames = self._places.get(place)
        if frames is None:
            if isinstance(place, NamedPlace):
                frames = self._name_inlined((place,))
            elif isinstance(place, RegionPlace):
                frames = self._name_region(place.opener)
            elif isinstance(place, InlinedPlaces):
                frames = self._name_inlined(place.places if self._symbolizer.has_inlines else place.places[:1])
            else:
                (frames,) = self._locate(place.module, [place.elf_address], [place.is_leaf])
            self._places[place] = frames
        return frames

    def _locate(self, key: ModuleKey, addresses: Sequence[int], are_leaves: Sequence[int]) -> Iterable[Sequence[int]]:
        """Make frames of each address."""
        path, build_id, copy, layout, file, hides_start = key
        module = self._number_module(Module(os.path.basename(path) or path, path, build_id.hex(), copy, layout, file))
        wanted = lookup_addresses(addresses, are_leaves)
        located = self._symbolizer.locate_chains(copy or path, build_id or None, wanted, layout, file)
        if key in self._folded:
            located = self._fold(located, self._symbolizer.python_methods(copy or path, build_id or None, layout, file))
        chains = list(map(located.__getitem__, wanted))
        if hides_start:
            chains = [() if not is_leaf and chain and chain[0].function in _STARTS else chain for is_leaf, chain in zip(are_leaves, chains)]
        identities = list(map(id, chains))
        distinct = dict(zip(identities, chains))  # many addresses share one
        heads = {
            number: [(self._function_at(where, module), where.file, where.line, self._kind_of(where, key)) for where in chain]
            for number, chain in distinct.items()
            if not chain or chain[0].raw_name not in CANCELLABLE_CALLS
        }
        first, new = len(self._frames), tuple.__new__  # which checks nothing
        if len(heads) == len(distinct) and all(len(head) == 1 for head in heads.values()):  # the most common by far
            functions, sources, lines, kinds = (
                _column({number: head[0][place] for number, head in heads.items()}, identities) for place in range(4)
            )
            self._frames += map(new, repeat(Frame), zip(functions, sources, lines, addresses, kinds, repeat(-1)))
            return zip(range(first, len(self._frames)))
        rows = [heads.get(number, ()) for number in identities]
        ends = list(accumulate(map(len, rows), initial=first))
        self._frames += [
            new(Frame, (function, source, line, address, kind, -1)) for address, head in zip(addresses, rows) for function, source, line, kind in head
        ]
        return map(range, ends, islice(ends, 1, None))

    def _fold(self, located: dict[int, tuple[Location, ...]], methods: dict[int, str]) -> dict[int, tuple[Location, ...]]:
        """What lies in a method is its function, without what is inlined there; all else is nothing."""
        names = {start: methods.get(start, "") for start in {chain[0].function_start for chain in located.values() if chain} if start is not None}
        shared: dict[Location, tuple[Location, ...]] = {}

        def folded(outer: Location) -> tuple[Location, ...]:
            name = "garbage collection" if outer.raw_name == _COLLECTING else names.get(outer.function_start or -1, "")
            return (outer._replace(function=name),) if name else ()

        for chain in filter(None, located.values()):
            if chain[0] not in shared:
                shared[chain[0]] = folded(chain[0])
        return {address: shared[chain[0]] if chain else () for address, chain in located.items()}

    def _kind_of(self, where: Location, key: ModuleKey) -> str:
        return METHOD if key in self._folded and where.raw_name != _COLLECTING else _KINDS.get(where.kind, "native")

    def _function_at(self, where: Location, module: int) -> int:
        key = where.function, identity_of(where.raw_name), module, where.function_file
        number = self._functions.get(key)
        return self._add_function(key, _function_of(where, module)) if number is None else number

    def _name_region(self, opener: Place) -> Sequence[int]:
        """A region has the name and the line of the innermost function at the call that opened it."""
        callers = self.name_place(opener)
        if not callers:
            return callers
        caller = self._frames[callers[-1]]
        function = self._function_rows[caller.function]
        named = function._replace(name=function.name + REGION_MARK, short_name=function.short_name + REGION_MARK, raw_name=function.raw_name + REGION_MARK)
        self._frames.append(caller._replace(function=self._number_function(named), kind=REGION))
        return range(len(self._frames) - 1, len(self._frames))

    def _name_inlined(self, places: Sequence[NamedPlace]) -> Sequence[int]:
        first = len(self._frames)
        self._frames += map(self._name, places)
        return range(first, len(self._frames))

    def _name(self, place: NamedPlace) -> Frame:
        is_imported = bool(place.path)
        layout = "imported" if is_imported and not place.build_id else "image"
        module = self._number_module(Module(place.module, place.path, place.build_id, layout=layout))
        shown = short_name(place.function) if is_imported else place.function
        file = place.definition if is_imported else place.file
        function = self._number_function(
            Function(place.function, shown, place.raw_name or place.function, module, file, place.function_line, place.alias)
        )
        return Frame(function, place.file, place.line, place.address, place.kind, place.code)

    def _number_module(self, module: Module) -> int:
        return self._modules.setdefault(module, len(self._modules))

    def _number_function(self, function: Function) -> int:
        """The same name in the same file of the same module is the same function, whatever the line."""
        key = function.identity
        number = self._functions.get(key)
        return self._add_function(key, function) if number is None else number

    def _add_function(self, key: tuple[str, str, int, str | None], function: Function) -> int:
        number = self._functions[key] = len(self._function_rows)
        self._function_rows.append(function)
        return number


def _column(values: Mapping[int, object], keys: Iterable[int]) -> Iterable[object]:
    """The value of each key; without end if all values are one."""
    distinct = set(values.values())
    return repeat(distinct.pop()) if len(distinct) == 1 else map(values.__getitem__, keys)


def _function_of(where: Location, module: int) -> Function:
    return Function(
        where.function, short_name(where.function), where.raw_name, module, where.function_file, where.function_line
    )
