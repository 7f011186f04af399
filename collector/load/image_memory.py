"""image_memory -- what the addresses of one process image mean, as its address space changes"""

from __future__ import annotations

import os
from operator import attrgetter

from collector.analysis.seam import AddressSpan
from collector.format import FRAMES_LEFT_OUT, REGIONS, WATCHED_CODE, MapKind
from collector.load.imported_code import imported_place
from collector.load.java_code import java_place
from collector.load.log_facts import LogFacts
from collector.load.naming import ANONYMOUS, LEFT_OUT, STAND_INS, UNMAPPED, CodePlace, InlinedPlaces, ModuleKey, NamedPlace, NameTable, Place, RegionPlace
from collector.load.python_code import INTERPRETER, folded_mappings, is_c_library, is_trampoline, python_place
from collector.profile.model import Code
from collector.symbols.symbolizer import lookup_address
from collector.symbols.terms import Layout
from collector.target.address_space import AddressSpace, Mapping
from collector.target.dynamic_code import first_line, line_at

_DYNAMIC_MODULE_NAME = "(dynamic code)"
_MODULE_FIELDS = attrgetter("file_offset", "path", "build_id", "copy", "file")


class ImageMemory:
    """The memory of one process image; see `naming.Memory`. `objects_path` is where the experiment keeps copies of code, if it does.

    `watched` is the code that stacks of waits have.

    Frames of an interpreter's own code are shown only with `has_interpreter_frames`.
    """

    def __init__(
        self, names: NameTable, facts: LogFacts, objects_path: str | None, has_interpreter_frames: bool = False, watched: AddressSpace | None = None
    ) -> None:
        self._names = names
        self._space = facts.space
        self._watched = watched or AddressSpace()
        self._objects_path = objects_path
        self._directory = (facts.initialize.directory or "") if facts.initialize else ""
        folded = [] if has_interpreter_frames else folded_mappings(facts.interpreter, facts.space)
        self._folds = bool(folded)
        for mapping in folded:
            names.fold(self._module_of(mapping))
        self._codes: dict[tuple[int, int, int], int] = {}
        self.own_space = names.memory_space(self)
        """Where addresses count that do not belong to the same module for ever."""

    def segments(self) -> list[AddressSpan]:
        """The ranges of addresses that always belong to one module."""
        found = []
        known = self._names.known_modules
        for start, end, mapping in self._space.iter_sole():
            if mapping.path and mapping.kind != MapKind.IMPORTED_CODE:
                told = (self._folds, self._objects_path, mapping.kind == MapKind.DYNAMIC_MODULE, *_MODULE_FIELDS(mapping))
                module = known.get(told)
                if module is None:
                    key = self._module_of(mapping)
                    module = known[told] = self._names.module_space(key), key.is_recorder
                found.append(AddressSpan(start, end, mapping.bias, *module))
        return found

    def turning_points(self, address: int, is_leaf: bool) -> list[int]:
        """See `naming.Memory`."""
        if address in REGIONS and not is_leaf:
            return self.turning_points(address - REGIONS.start, False)
        wanted = lookup_address(address, is_leaf)
        space = self._space_at(wanted)
        history = space.history(wanted)
        return [] if all(_is_lasting(life) for life in history) and len(history) < 2 else space.turning_points(wanted)

    def place_at(self, address: int, is_leaf: bool, time_ns: int) -> Place | None:
        """See `naming.Memory`."""
        if address in REGIONS and not is_leaf:
            opener = self.place_at(address - REGIONS.start, False, time_ns)
            return RegionPlace(UNMAPPED if opener is None or isinstance(opener, RegionPlace) else opener)
        wanted = lookup_address(address, is_leaf)
        place = self._place(self._space_at(wanted).find(wanted, time_ns), address, is_leaf)
        return None if self._is_hidden(place) else place

    def _space_at(self, address: int) -> AddressSpace:
        return self._watched if address in WATCHED_CODE else self._space

    def _is_hidden(self, place: Place) -> bool:
        if isinstance(place, CodePlace):
            return place.module.is_recorder
        if isinstance(place, (InlinedPlaces, RegionPlace)):
            return False
        return is_trampoline(place) if self._folds else place.function == INTERPRETER  # which stands for what is folded

    def _place(self, mapping: Mapping | None, address: int, is_leaf: bool) -> Place:
        if mapping is None:
            return LEFT_OUT if address == FRAMES_LEFT_OUT and not is_leaf else STAND_INS.get(address, UNMAPPED)
        if mapping.kind == MapKind.DYNAMIC_FUNCTION:
            return self._dynamic_place(mapping, address, is_leaf)
        if mapping.kind == MapKind.PYTHON_CODE:
            return python_place(mapping, lookup_address(address, is_leaf), self._directory)
        if mapping.kind == MapKind.JAVA_METHOD:
            return java_place(mapping, lookup_address(address, is_leaf))
        if mapping.kind == MapKind.IMPORTED_CODE:
            return imported_place(self._space, mapping, lookup_address(address, is_leaf))
        if mapping.kind == MapKind.ANONYMOUS or not mapping.path:
            return ANONYMOUS
        return CodePlace(self._module_of(mapping), mapping.elf_address(address), is_leaf)

    def _module_of(self, mapping: Mapping) -> ModuleKey:
        layout: Layout = "image"
        if mapping.kind == MapKind.DYNAMIC_MODULE:
            layout = "sections" if mapping.file_offset else "file"
        copy = self._copy(mapping) if mapping.copy else None
        return ModuleKey(mapping.path, mapping.build_id, copy, layout, mapping.file, self._folds and is_c_library(mapping.path))

    def _copy(self, mapping: Mapping) -> str | None:
        """The experiment's copy of a module; a link out of the experiment is none."""
        if not mapping.copy or self._objects_path is None:
            return None
        path = os.path.join(self._objects_path, os.path.basename(mapping.copy))
        return None if os.path.islink(path) else path

    def _dynamic_place(self, function: Mapping, address: int, is_leaf: bool) -> NamedPlace:
        """A function that the program made and named itself."""
        wanted = lookup_address(address, is_leaf)
        has_lines = function.source is not None
        return NamedPlace(
            function.name or f"(dynamic)+{function.start:#x}",
            _DYNAMIC_MODULE_NAME,
            function.alias,
            function.source,
            line_at(function, wanted) if has_lines else None,
            first_line(function) if has_lines else None,
            address,
            code=self._number_code(function),
        )

    def _number_code(self, function: Mapping) -> int:
        key = function.start, function.end, function.born
        number = self._codes.get(key)
        if number is None:
            number = self._codes[key] = len(self._names.codes)
            self._names.codes.append(Code(function.start, function.end, function.code, function.lines))
        return number


def _is_lasting(life: Mapping) -> bool:
    """Whether it never went, and counts for the time before it was told of as well."""
    return life.died is None and (life.kind != MapKind.DYNAMIC_FUNCTION or not life.born)
