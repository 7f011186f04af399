"""naming -- places in the code while a profile is read, and their names at its end

A *place* is an address in the file it came from, and whether it is exact (a leaf) or a return address. Places are
numbered as they are met; at the end each module's places are named in one go.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from collector.load.call_paths import HIDDEN
from collector.profile.model import Code, Frame, Function, Module
from collector.symbols.demangle import short_name
from collector.symbols.symbolizer import Location, Symbolizer, lookup_address
from collector.symbols.terms import Layout

RECORDER_MODULE: Final = "libcollector.so"


class CodePlace(NamedTuple):
    """An address in a module's file; `copy` is where to read the file if it is not to be found at its path.

    `layout` is how the program laid out a file that it mapped itself.
    """

    path: str
    build_id: bytes
    elf_address: int
    is_leaf: bool
    copy: str | None = None
    layout: Layout = "image"


@dataclass(frozen=True, slots=True)
class NamedPlace:
    """A place in code that no file holds; its name came with it."""

    function: str
    module: str
    alias: str | None = None
    file: str | None = None
    line: int | None = None
    function_line: int | None = None
    address: int = 0
    kind: str = "dynamic"
    code: int = -1


UNMAPPED: Final = NamedPlace("(no module)", "(no module)", kind="unknown")
ANONYMOUS: Final = NamedPlace("(anonymous code)", "(anonymous code)", kind="unknown")
NOT_SAMPLED: Final = NamedPlace("(not sampled)", "(not sampled)", kind="unknown")
LOST_STACK: Final = NamedPlace("(stack lost)", "(stack lost)", kind="unknown")

Place = CodePlace | NamedPlace


class PlaceTable:
    """All places of a profile by number, and what becomes of them."""

    def __init__(self, symbolizer: Symbolizer) -> None:
        self._symbolizer = symbolizer
        self._numbers: dict[Place, int] = {}
        self._modules: dict[Module, int] = {}
        self._functions: dict[tuple[str, str, int, str | None], int] = {}
        self._function_rows: list[Function] = []
        self.codes: list[Code] = []
        """The code of dynamic functions, by the number in their places."""

    def number(self, place: Place) -> int:
        """The number of a place; HIDDEN if it is the recorder's own code."""
        if isinstance(place, CodePlace) and place.path.endswith(RECORDER_MODULE) and os.path.basename(place.path) == RECORDER_MODULE:
            return HIDDEN
        return self._numbers.setdefault(place, len(self._numbers))

    def name_all(
        self, progress: Callable[[int, int, str], None] | None = None
    ) -> tuple[tuple[Module, ...], tuple[Function, ...], tuple[Frame, ...]]:
        """Modules, functions and frames; frame i is place i."""
        frames: list[Frame | None] = [None] * len(self._numbers)
        by_module: dict[tuple[str, bytes, str | None, Layout], list[tuple[int, CodePlace]]] = defaultdict(list)
        for place, number in self._numbers.items():
            if isinstance(place, CodePlace):
                by_module[place.path, place.build_id, place.copy, place.layout].append((number, place))
            else:
                frames[number] = self._name(place)
        for done, ((path, build_id, copy, layout), places) in enumerate(by_module.items()):
            if progress is not None:
                progress(done, len(by_module), f"naming {os.path.basename(path)}")
            for number, frame in self._locate(path, build_id, copy, layout, places):
                frames[number] = frame
        named = tuple(frame for frame in frames if frame is not None)
        return tuple(self._modules), tuple(self._function_rows), named

    def _locate(
        self, path: str, build_id: bytes, copy: str | None, layout: Layout, places: list[tuple[int, CodePlace]]
    ) -> Iterator[tuple[int, Frame]]:
        module = self._number_module(Module(os.path.basename(path) or path, path, build_id.hex(), copy, layout))
        addresses = {number: lookup_address(place.elf_address, place.is_leaf) for number, place in places}
        located = self._symbolizer.locate_many(copy or path, build_id or None, addresses.values(), layout)
        for number, place in places:
            where = located[addresses[number]]
            function = self._functions.get((where.function, where.raw_name, module, where.function_file))
            if function is None:
                function = self._number_function(_function_of(where, module))
            kind = "unknown" if where.kind == "unknown" else "native"
            yield number, Frame(function, where.file, where.line, place.elf_address, kind)

    def _name(self, place: NamedPlace) -> Frame:
        module = self._number_module(Module(place.module, ""))
        function = self._number_function(
            Function(place.function, place.function, place.function, module, place.file, place.function_line, place.alias)
        )
        return Frame(function, place.file, place.line, place.address, place.kind, place.code)

    def _number_module(self, module: Module) -> int:
        return self._modules.setdefault(module, len(self._modules))

    def _number_function(self, function: Function) -> int:
        """The same name in the same file of the same module is the same function, whatever the line."""
        key = (function.name, function.raw_name, function.module, function.file)
        number = self._functions.get(key)
        if number is None:
            number = self._functions[key] = len(self._function_rows)
            self._function_rows.append(function)
        return number


def _function_of(where: Location, module: int) -> Function:
    return Function(
        where.function, short_name(where.function), where.raw_name, module, where.function_file, where.function_line
    )
