"""symbolizer -- from an address in a module to function, source file and line

The one entry point of this package, and the one place that knows "return address minus one".
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from collector.symbols.archive import Archive, place_of_module
from collector.symbols.cache import SymbolCache
from collector.symbols.demangle import demangle_many, without_underscore
from collector.symbols.function_table import NO_FUNCTION, FunctionRange
from collector.symbols.inline_table import InlinedCall
from collector.symbols.module_symbols import DELETED, ModuleSymbols, has_file
from collector.symbols.pieces import whole_name
from collector.symbols.recorded_file import is_replaced
from collector.symbols.spin_waits import WAITS, is_openmp_runtime, waits
from collector.symbols.terms import Layout, Progress, SourceLine
from collector.target.address_space import RecordedFile

if TYPE_CHECKING:
    from collector.symbols.module_files import NeededFile

_Place = tuple["str | int | None", ...]  # an inlined function, its declaration, and a line in it
LocationKind = Literal["symbol", "frame", "inlined", "unknown"]


class Location(NamedTuple):
    """What is known about one elf address of one module.

    `kind` says where the name comes from: a symbol; the unwind entry that covers a function
    without a symbol (`module+0xSTART`, the elf address where it starts); debug information, which tells
    what was inlined; or nothing at all (`module+0xADDRESS`). `raw_name` is the name as the linker knows it, of a
    piece (`f.cold`) that of the whole function. `file` and `line` belong to the instruction, `function_file` and
    `function_line` to the function's definition.
    """

    function: str
    raw_name: str
    module: str
    file: str | None
    line: int | None
    function_file: str | None
    function_line: int | None
    function_start: int | None
    kind: LocationKind


def lookup_address(address: int, is_exact: bool) -> int:
    """The address inside the instruction that a stack entry means.

    An exact one (the leaf, and the frame that a signal interrupted) is a program counter.
    Any other is a return address: it points behind the call, which may be the last
    instruction of its function or line, so one less is looked up.
    """
    return address if is_exact or address == 0 else address - 1


def lookup_addresses(addresses: Iterable[int], are_exact: Iterable[int | bool]) -> list[int]:
    """The same of many stack entries."""
    return [address if is_exact or address == 0 else address - 1 for address, is_exact in zip(addresses, are_exact)]


class Symbolizer:
    """Names addresses, module by module; what it cannot name it shows as `module+0x...`.

    Bad files never raise: `warnings` has a sentence for each module that was expected and
    could not be used; `nameless` the module of those that leave one without names. Not to be shared between threads.
    """

    def __init__(self, *, cache_dir: str | os.PathLike[str] | None = None,
                 debug_dirs: Iterable[str] = (), has_inlines: bool = True, has_pieces: bool = False,
                 is_fetching: bool = False, progress: Progress | None = None) -> None:
        """Without `has_inlines` an inlined call is part of the function around it; with `has_pieces` pieces of
        functions keep their own names.

        `cache_dir` stands in for the user's cache directory, `debug_dirs` come before
        /usr/lib/debug. If `is_fetching`, debug files that are not here are asked for with debuginfod.
        `progress(done, total, text)` is called during long work."""
        self._complaints: list[str] = []
        self._cache = SymbolCache(cache_dir)
        self._debug_dirs = tuple(os.path.abspath(directory) for directory in debug_dirs)
        self._has_pieces = has_pieces
        self._is_fetching = is_fetching
        self._progress = progress
        self.has_inlines = has_inlines
        self._archives: list[Archive] = []
        self._modules: dict[tuple[str, bytes | None, Layout, RecordedFile | None], ModuleSymbols] = {}
        self._locations: dict[ModuleSymbols, dict[int, tuple[Location, ...]]] = {}
        self._chains: dict[ModuleSymbols, dict[int, tuple[Location, ...]]] = {}

    def add_archive(self, experiment: str) -> None:
        """Read modules and debug files from the archive of an experiment, where it has them, rather than where they were. SymbolError if it is
        not to be used.
        """
        self._archives += filter(None, (Archive(experiment),))

    def locate(self, path: str, build_id: bytes | None, elf_address: int) -> Location:
        """The location of an address inside an instruction (see `lookup_address`).

        `path` and `build_id` are the module's as recorded; None accepts the file as it is now.
        """
        return self.locate_many(path, build_id, (elf_address,))[elf_address]

    def locate_many(self, path: str, build_id: bytes | None, elf_addresses: Iterable[int],
                    layout: Layout = "image", file: RecordedFile | None = None) -> dict[int, Location]:
        """{elf address: location} of many addresses; opens each file and unit only once.

        `layout` matters for relocatable files only: see `object_module`. `file` is what a module without a build id was when it was
        recorded; another file at its path is not used.
        """
        located = self._locate(self._module(path, build_id, layout, file), elf_addresses)
        return {address: chain[0] for address, chain in located.items()}

    def locate_chains(self, path: str, build_id: bytes | None, elf_addresses: Iterable[int],
                      layout: Layout = "image", file: RecordedFile | None = None) -> dict[int, tuple[Location, ...]]:
        """{elf address: locations}: the function's, and after it those of the calls that were inlined into each other, caller first.

        Arguments are those of `locate_many`. The line of all but the last is that of the inlined call.
        """
        module = self._module(path, build_id, layout, file)
        if not (self.has_inlines and module.has_units):
            return self._locate(module, elf_addresses)
        known = self._chains[module]
        with module.kept_open():
            located = self._locate(module, elf_addresses)
            missing = sorted(located.keys() - known.keys() if known else located)
            found = module.find_inlined(missing) if missing else {}
        if missing:
            known.update((address, located[address]) for address in missing)
            known.update(_chains(located, found))
            self._note_complaints(module)
        return {address: known[address] for address in located}

    def elf_address_of_offset(self, path: str, build_id: bytes | None, file_offset: int) -> int:
        """The elf address of a byte of the module's file, for mappings give file offsets.

        Where the file is unknown it is `file_offset` itself, so that `module+0x...` still tells
        one place from another.
        """
        return self._module(path, build_id).elf_address_of_offset(file_offset)

    @property
    def nameless(self) -> dict[str, str]:
        """{a sentence: the module that it says to be shown without names}"""
        return {sentence: module.name for module in self._modules.values() if (sentence := module.nameless)}

    @property
    def warnings(self) -> list[str]:
        """A sentence for each module without names, and for what else was expected and could not be used."""
        return [*self.nameless, *self._complaints]

    def digests_of(self, paths: Iterable[str]) -> dict[str, str]:
        """MD5 sums of source files as they were compiled, in hexadecimal, of those for which compilers gave one."""
        from collector.symbols.unit_index import note_digests

        digests: dict[str, str] = {}
        for module in self._modules.values():
            note_digests(digests, module.digests)
        return {path: digests[path] for path in sorted(paths) if digests.get(path)}

    @property
    def looked_at(self) -> set[str]:
        """Every file whose appearance or change would alter what was said so far."""
        return {path for module in self._modules.values() for path in module.looked_at}

    def code_of(self, path: str, build_id: bytes | None, elf_addresses: Iterable[int],
                layout: Layout = "image", file: RecordedFile | None = None) -> list[tuple[int, bytes]]:
        """[(start, bytes)] of the functions that the addresses lie in, in elf addresses; bytes are missing where the file is."""
        module = self._module(path, build_id, layout, file)
        return [(start, module.code_bytes(start, end)) for start, end in module.code_ranges_of(elf_addresses)]

    def names_in_code(self, path: str, build_id: bytes | None, layout: Layout = "image", file: RecordedFile | None = None) -> dict[int, str]:
        """{elf address: raw name} of a module's functions and variables."""
        return self._module(path, build_id, layout, file).names_in_code()

    def python_methods(self, path: str, build_id: bytes | None, layout: Layout = "image", file: RecordedFile | None = None) -> dict[int, str]:
        """{elf address where it begins: name} of the functions in a CPython interpreter that Python programs can call: `list.sort`."""
        return self._module(path, build_id, layout, file).python_methods()

    def needed_files(self, path: str, build_id: bytes | None, elf_addresses: Iterable[int],
                     layout: Layout = "image", file: RecordedFile | None = None) -> list[NeededFile]:
        """The files that these addresses are named from, the module's own first; nothing if it never had one. SymbolError if that is not here,
        or is not the one that was recorded.
        """
        return self._module(path, build_id, layout, file).needed_files(elf_addresses) if has_file(path) else []

    def _module(self, path: str, build_id: bytes | None, layout: Layout = "image", file: RecordedFile | None = None) -> ModuleSymbols:
        module = self._modules.get((path, build_id, layout, file))
        if module is None:
            if self._progress is not None:
                self._progress(0, 1, f"symbols of {os.path.basename(path)}")
            archived, debug_dirs = self._find_archived(path, build_id, file)
            module = ModuleSymbols(path, build_id, self._cache, debug_dirs, layout, file, self._is_fetching, archived)
            self._modules[path, build_id, layout, file] = module
            self._locations[module] = {}
            self._chains[module] = {}
            self._note_complaints(module)
            self._cache.trim()
        return module

    def _find_archived(self, path: str, build_id: bytes | None, file: RecordedFile | None) -> tuple[str, tuple[str, ...]]:
        """Where a module is read, if not at its path, and where its debug files are looked for."""
        place = place_of_module(path.removesuffix(DELETED), build_id)
        for archive in self._archives:
            archived = archive.find(place)
            if archived and (build_id or file is None or not is_replaced(archived, file)):
                return archived, (archive.debug_directory, *self._debug_dirs)
        return "", self._debug_dirs

    def _note_complaints(self, module: ModuleSymbols) -> None:
        self._complaints += [complaint for complaint in module.complaints if complaint not in self._complaints]

    def _locate(self, module: ModuleSymbols, elf_addresses: Iterable[int]) -> dict[int, tuple[Location, ...]]:
        known = self._locations[module]
        wanted = elf_addresses if isinstance(elf_addresses, list) else list(elf_addresses)
        missing = [address for address in wanted if address not in known] if known else wanted
        if missing:
            if module.has_units:
                missing = sorted(set(missing))
            with module.kept_open():
                located = self._locate_new(module, missing)
            self._note_complaints(module)
            if not known:
                self._locations[module] = located
                return located
            known.update(located)
        return {address: known[address] for address in wanted}

    def _locate_new(self, module: ModuleSymbols, addresses: Sequence[int]) -> dict[int, tuple[Location, ...]]:
        """Addresses of one function and line share one location: a profile has many more addresses than functions."""
        numbers = module.function_numbers(addresses)
        functions = module.functions_of(numbers)
        module.read_ahead(addresses, {function.function_start for function in functions.values()}, self.has_inlines)
        wholes = {number: module.whole_of(function) for number, function in functions.items()}
        lines, entries = module.find_lines(addresses, {whole.function_start for whole in wholes.values()}, self._progress)
        raw_names = {number: function.name if self._has_pieces else whole_name(wholes[number].name) for number, function in functions.items()}
        if is_openmp_runtime(module.name):
            raw_names |= {number: _waiting_name(module, functions[number]) for number, name in raw_names.items() if not name}
        names = demangle_many(set(raw_names.values()))

        def chain_of(number: int, line: SourceLine | None) -> tuple[Location, ...]:
            function = functions.get(number)
            if function is None:
                return ()
            raw_name = raw_names[number]
            return (_known(module.name, function, raw_name, names[raw_name], line, entries.get(wholes[number].function_start)),)

        located = dict(zip(addresses, _shared_chains(numbers, list(map(lines.get, addresses)) if lines else None, chain_of)))
        if NO_FUNCTION in numbers:
            for address, number in zip(addresses, numbers):
                if number == NO_FUNCTION:
                    located[address] = (_unknown(module.name, address, lines.get(address)),)
        return located


def _shared_chains(
    numbers: Sequence[int], lines: Sequence[SourceLine | None] | None, chain_of: Callable[[int, SourceLine | None], tuple[Location, ...]]
) -> Iterable[tuple[Location, ...]]:
    """What `chain_of` gives for the number of each function, and the line if there are lines; asked once for all that are the same."""
    if lines is None:
        by_number = {number: chain_of(number, None) for number in dict.fromkeys(numbers)}
        return map(by_number.__getitem__, numbers)
    by_line = {pair: chain_of(*pair) for pair in dict.fromkeys(zip(numbers, lines))}
    return map(by_line.__getitem__, zip(numbers, lines))


def _waiting_name(module: ModuleSymbols, function: FunctionRange) -> str:
    """Of a function without a name that waits; empty if it does not."""
    return f"{WAITS}{module.name}+{function.function_start:#x}" if waits(module.code_bytes(function.start, function.end)) else ""


def _known(module: str, function: FunctionRange, raw_name: str, shown: str, line: SourceLine | None,
           definition: SourceLine | None) -> Location:
    file, number = line or (None, None)
    definition_file, definition_number = definition or (None, None)
    if definition_file and definition_file.endswith(".go"):
        raw_name = shown = function.name  # there `main.cold` is a function like others
    shown = without_underscore(shown, definition_file)
    raw_name = raw_name or f"{module}+{function.function_start:#x}"
    return Location(shown or raw_name, raw_name, module, file, number, definition_file, definition_number,
                    function.function_start, "symbol" if function.name else "frame")


def _chains(located: Mapping[int, tuple[Location, ...]], found: Mapping[int, tuple[InlinedCall, ...]]) -> dict[int, tuple[Location, ...]]:
    """The chains of addresses in inlined calls: those of one line of one call share theirs."""
    names = demangle_many({call.raw_name for calls in found.values() for call in calls})
    shared: dict[tuple[int, int], tuple[Location, ...]] = {}
    inner: dict[_Place, Location] = {}
    chains: dict[int, tuple[Location, ...]] = {}
    for address, calls in found.items():
        outer = located[address][0]
        key = id(outer), id(calls)
        chain = shared.get(key)
        if chain is None:
            chain = shared[key] = _chain(outer, calls, names, inner)
        chains[address] = chain
    return chains


def _chain(outer: Location, calls: tuple[InlinedCall, ...], names: Mapping[str, str], inner: dict[_Place, Location]) -> tuple[Location, ...]:
    """Each location with the line of the next call, and the last one with the line of the instruction; chains share those in `inner`."""
    places = [*((call.call_file, call.call_line) for call in calls), (outer.file, outer.line)]
    chain = [outer._replace(file=places[0][0], line=places[0][1])]
    for call, (file, line) in zip(calls, places[1:]):
        key = call.raw_name, call.file, call.line, file, line
        location = inner.get(key)
        if location is None:
            name = without_underscore(names[call.raw_name], call.file)
            location = inner[key] = Location(name, call.raw_name, outer.module, file, line, call.file, call.line, None, "inlined")
        chain.append(location)
    return tuple(chain)


def _unknown(module: str, address: int, line: SourceLine | None) -> Location:
    name = f"{module}+{address:#x}"
    file, number = line or (None, None)
    return Location(name, name, module, file, number, None, None, None, "unknown")
