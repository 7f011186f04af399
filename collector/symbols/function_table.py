"""function_table -- which function owns an address of a module, as disjoint ranges for bisection

Three sources are laid over each other. A symbol with a size owns exactly its bytes (the inner
one where two nest). A symbol without a size (assembly) reaches to the next symbol, the end of
its unwind entry or the end of its section, whichever comes first. What remains of an unwind
entry belongs to a function without a name, known by where it starts. Anything else belongs to
nobody: better no name than a neighbour's.

The compiler's own `frame_dummy` has neither size nor unwind entry and is the last function before the code
of the program's first object file: what that leaves without symbols, as GHC does, is not frame_dummy's.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from collector.symbols.pieces import aliases_of_wholes

if TYPE_CHECKING:
    from collector.symbols.elf_image import ElfImage
    from collector.symbols.symbol_source import Symbol

NO_FUNCTION: Final = (1 << 32) - 1
"""The number of no range."""

_FRAME_DUMMY_BYTES = 16
"""One jump of crtbegin.o and its padding."""

Range = tuple[int, int, int, str]  # start, end, start of the function, name ("" has none)


class FunctionRange(NamedTuple):
    """The piece of code around an address: [start, end) of the function that begins at `function_start`."""

    start: int
    end: int
    function_start: int
    name: str


class FunctionTable:
    """Disjoint ranges in ascending order, as arrays so that they load and bisect fast.

    `aliases` are names that pieces of functions go by and the functions themselves do not, and where those begin.
    """

    def __init__(self, starts: array[int], ends: array[int], function_starts: array[int], name_offsets: array[int], names: bytes,
                 aliases: Mapping[str, Sequence[int]]) -> None:
        self.starts = starts
        self.ends = ends
        self.function_starts = function_starts
        self.name_offsets = name_offsets
        self.names = names
        self.aliases = aliases
        self._ranges: dict[int, FunctionRange] = {}

    @classmethod
    def from_ranges(cls, ranges: Iterable[Range], aliases: Mapping[str, Sequence[int]] = MappingProxyType({})) -> FunctionTable:
        """The table of ascending disjoint `ranges`."""
        starts, ends, function_starts, name_offsets = array("Q"), array("Q"), array("Q"), array("I")
        pieces, offsets, size_bytes = [b"\0"], {"": 0}, 1
        for start, end, function_start, name in ranges:
            offset = offsets.get(name)
            if offset is None:
                piece = name.encode("utf-8", "replace") + b"\0"
                offset = offsets[name] = size_bytes
                pieces.append(piece)
                size_bytes += len(piece)
            starts.append(start)
            ends.append(end)
            function_starts.append(function_start)
            name_offsets.append(offset)
        return cls(starts, ends, function_starts, name_offsets, b"".join(pieces), aliases)

    def __len__(self) -> int:
        return len(self.starts)

    def index_of(self, elf_address: int) -> int | None:
        """The number of the range that holds `elf_address`, or None."""
        index = bisect_right(self.starts, elf_address) - 1
        return index if index >= 0 and elf_address < self.ends[index] else None

    def numbers_of(self, elf_addresses: Sequence[int]) -> Sequence[int]:
        """The same of many addresses, NO_FUNCTION in place of None."""
        from collector.symbols.native_functions import find_functions

        found = find_functions(self.starts, self.ends, elf_addresses)
        if found is not None:
            return found
        return [NO_FUNCTION if (index := self.index_of(address)) is None else index for address in elf_addresses]

    def range_at(self, index: int) -> FunctionRange:
        """The range with that number."""
        known = self._ranges.get(index)
        if known is None:
            known = self._ranges[index] = FunctionRange(self.starts[index], self.ends[index], self.function_starts[index],
                                                        self._name(self.name_offsets[index]))
        return known

    def with_names(self, names: Mapping[int, str]) -> FunctionTable:
        """The same with names for functions, by where they begin."""
        if not names:
            return self
        texts = [name.encode() + b"\0" for name in names.values()]
        offsets = dict(zip(names, accumulate(map(len, texts), initial=len(self.names))))
        named = array(self.name_offsets.typecode, (offsets.get(start, offset) for start, offset in zip(self.function_starts, self.name_offsets)))
        return FunctionTable(self.starts, self.ends, self.function_starts, named, self.names + b"".join(texts), self.aliases)

    def starts_of_name(self, name: str) -> list[int]:
        """Where the functions of that name begin: static ones of several source files may share it."""
        return [*self._starts_by_name.get(name.encode("utf-8", "replace"), ()), *self.aliases.get(name, ())]

    @cached_property
    def _starts_by_name(self) -> dict[bytes, dict[int, None]]:
        starts: dict[int, dict[int, None]] = {}
        for offset, start in zip(self.name_offsets, self.function_starts):
            starts.setdefault(offset, {})[start] = None
        names = self.names.split(b"\0")[:-1]
        offsets = accumulate((len(name) + 1 for name in names), initial=0)
        return {name: starts[offset] for name, offset in zip(names, offsets) if name and offset in starts}

    def _name(self, offset: int) -> str:
        return self.names[offset:self.names.find(b"\0", offset)].decode("utf-8", "replace")


def build_function_table(image: ElfImage, debug_images: Sequence[ElfImage] = ()) -> FunctionTable:
    """All that `image` and its separate debug files say about functions.

    `debug_images` lend their symbols only; code and unwind entries are the image's own.
    """
    from collector.symbols.native_functions import read_functions

    found = read_functions(image, debug_images)
    return FunctionTable(*found) if found is not None else build_plainly(image, debug_images)


def build_plainly(image: ElfImage, debug_images: Sequence[ElfImage]) -> FunctionTable:
    """The same without the library, which leaves odd files to this."""
    from collector.symbols.frame_ranges import read_frame_ranges
    from collector.symbols.plt_names import iter_plt_stubs
    from collector.symbols.symbol_source import Symbol, read_symbols

    frames = _clip_to_code(read_frame_ranges(image), image.code_ranges)
    symbols = _inside_code(image, read_symbols([image, *debug_images]))
    stubs = iter_plt_stubs(image, {symbol.start: symbol.name for symbol in symbols}.get)
    known = {symbol.start for symbol in symbols}
    symbols += [Symbol(start, size, name, False) for start, size, name in stubs if start not in known]
    symbols.sort(key=lambda symbol: symbol.start)
    named = _flatten(_extents(symbols, frames, image.code_ranges))
    aliases = aliases_of_wholes((symbol.name for symbol in symbols), ((symbol.start, name) for symbol in symbols for name in symbol.aliases))
    return FunctionTable.from_ranges(_fill_with_frames(named, frames), aliases)


def _inside_code(image: ElfImage, symbols: list[Symbol]) -> list[Symbol]:
    starts = [symbol.start for symbol in symbols]
    spans = [symbols[bisect_left(starts, low):bisect_left(starts, high)] for low, high in image.code_ranges]
    return [s for span in spans for s in span if not (s.is_label and s.name.startswith("$"))]  # $x and $d mark code and data on Arm


def _enclosing(ranges: Sequence[tuple[int, int]], address: int) -> tuple[int, int] | None:
    """The member of ascending disjoint `ranges` that holds `address`."""
    index = bisect_right(ranges, (address, 1 << 64)) - 1
    return ranges[index] if index >= 0 and ranges[index][0] <= address < ranges[index][1] else None


def _clip_to_code(frames: list[tuple[int, int]], code: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Unwind entries of discarded code point at address 0 or outside all sections."""
    clipped = []
    for start, end in frames:
        section = _enclosing(code, start)
        if section is not None:
            clipped.append((start, min(end, section[1])))
    return clipped


def _extents(symbols: list[Symbol], frames: list[tuple[int, int]], code: Sequence[tuple[int, int]]) -> list[Range]:
    """[start, end) of every symbol that counts as a function; they may nest."""
    sized_end = 0
    starts_of_symbols = {symbol.start for symbol in symbols}
    kept: list[Symbol] = []
    for symbol in symbols:
        if symbol.is_label and symbol.size_bytes == 0:
            frame = _enclosing(frames, symbol.start)
            # A label inside a function that has a name of its own is a jump target, not a function.
            is_inner = frame and frame[0] < symbol.start and frame[0] in starts_of_symbols
            if symbol.start < sized_end or is_inner:
                continue
        sized_end = max(sized_end, symbol.start + symbol.size_bytes)
        kept.append(symbol)
    ranges: list[Range] = []
    frame_ends = dict(frames)
    code_start = code_end = 0
    for symbol, following in zip(kept, (*(symbol.start for symbol in kept[1:]), 1 << 64)):
        start, size_bytes, name, _, _ = symbol
        if not code_start <= start < code_end:
            code_start, code_end = _enclosing(code, start) or (start, start)
        if size_bytes:
            end = start + size_bytes
            frame_end = frame_ends.get(start, 0)
            if end < frame_end:
                end = max(end, min(frame_end, following))  # a size of hand-written code that is too small
        else:
            following = min(following, start + _FRAME_DUMMY_BYTES) if name == "frame_dummy" else following
            end = _end_without_size(start, following, frames)
        ranges.append((start, min(end, code_end), start, name))
    return ranges


def _end_without_size(start: int, following: int, frames: list[tuple[int, int]]) -> int:
    frame = _enclosing(frames, start)
    if frame:
        return min(frame[1], following)
    next_frame = bisect_left(frames, (start, 0))
    return min(following, frames[next_frame][0] if next_frame < len(frames) else following)


def _flatten(ranges: list[Range]) -> list[Range]:
    """Ascending ranges that may nest, cut so that each address is in the innermost one only."""
    flat: list[Range] = []
    open_ranges: list[Range] = []
    position = 0

    def advance(limit: int) -> None:
        nonlocal position
        while open_ranges and position < limit:
            _, end, function_start, name = open_ranges[-1]
            stop = min(end, limit)
            if stop > position:
                flat.append((position, stop, function_start, name))
                position = stop
            if end <= limit:
                open_ranges.pop()

    for current in ranges:
        advance(current[0])
        position = max(position, current[0])
        open_ranges.append(current)
    advance(1 << 64)
    return flat


def _fill_with_frames(named: list[Range], frames: list[tuple[int, int]]) -> list[Range]:
    """`named` and, between them, the nameless rest of each unwind entry."""
    filled: list[Range] = []
    index = 0
    for start, end in frames:
        while index < len(named) and named[index][1] <= start:
            filled.append(named[index])
            index += 1
        position = start
        while index < len(named) and named[index][0] < end:
            if position < named[index][0]:
                filled.append((position, named[index][0], start, ""))
            position = named[index][1]
            if position > end:
                break
            filled.append(named[index])
            index += 1
        if position < end:
            filled.append((position, end, start, ""))
    return filled + named[index:]
