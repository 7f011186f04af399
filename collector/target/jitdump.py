"""jitdump -- functions, their code and lines, as a just-in-time compiler dumped them to jit-PID.dump

The file is written while the program runs; if that was killed, it ends anywhere. What is damaged ends the reading, not
the report. Times are those of CLOCK_MONOTONIC, as ours are, unless the header says that the compiler took the processor's.
Source: tools/perf/Documentation/jitdump-specification.txt of the Linux kernel.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from collector.experiment.events import MappingChange
from collector.format import MapAction, MapKind
from collector.regular_file import read_regular
from collector.target.address_space import Mapping
from collector.target.perf_map import split_name

_MAGIC = 0x4A695444
_HEADER = struct.Struct("IIIIIIQQ")
_PREFIX = struct.Struct("IIQ")
_LOAD = struct.Struct("IIQQQQ")
_MOVE = struct.Struct("IIQQQQQ")
_DEBUG = struct.Struct("QQ")
_ENTRY = struct.Struct("QII")
_LINE = struct.Struct("<ii")
_CODE_LOAD, _CODE_MOVE, _CODE_DEBUG_INFO, _CODE_CLOSE = range(4)
_HAS_PROCESSOR_TIME = 1
_LARGEST_FILE_BYTES = 1 << 29  # the recorder copies no larger ones
_LONGEST_FUNCTION_BYTES = 1 << 30
# perf once put the code behind an ELF header without saying so in the lines; some compilers still add its size to make up for it.
_ELF_HEADER_BYTES = 0x40
_PADDING_BYTES = 8  # at the end of a record

_Entry = tuple[int, int, str]
"""Address, line, file."""


@dataclass(frozen=True, slots=True)
class JitDump:
    """What came and went, in the order of the file. `is_timed`: the times are those of the experiment."""

    changes: tuple[MappingChange, ...]
    is_timed: bool

    def untimed(self) -> Iterator[Mapping]:
        """The functions without their times, the last of each range."""
        for change in self.changes:
            if change.action == MapAction.INSERT and change.start is not None and change.end is not None:
                yield Mapping(
                    MapKind.DYNAMIC_FUNCTION, change.start, change.end, change.start, 0, "", b"", 0, None, change.name, change.alias,
                    change.source, change.lines or b"", change.code or b"",
                )


@dataclass(slots=True)
class _Function:
    """A function as it was loaded."""

    time: int
    start: int
    code: bytes
    size: int
    name: str
    entries: list[_Entry]


def read_jitdump(path: str) -> JitDump:
    """The functions of a jitdump. OSError if it cannot be read, ValueError if it is none."""
    data = read_regular(path, _LARGEST_FILE_BYTES)
    order = {_MAGIC.to_bytes(4, "little"): "<", _MAGIC.to_bytes(4, "big"): ">"}.get(data[:4])
    if order is None or len(data) < _HEADER.size:
        raise ValueError("it is no jitdump")
    _, _, header_bytes, *_, flags = struct.unpack_from(order + _HEADER.format, data)
    records = list(_iter_records(data, header_bytes, order))
    shift = _shift_of_lines(record for record in records if isinstance(record, _Function))
    changes = chain.from_iterable(_changes_of(record, shift) for record in records)
    return JitDump(tuple(changes), not flags & _HAS_PROCESSOR_TIME)


def _iter_records(data: bytes, position: int, order: str) -> Iterator[_Function | tuple[MappingChange, ...]]:
    """Functions, and what became of them. Lines stand before the function they belong to."""
    lines: dict[int, bytes] = {}
    loaded: dict[int, _Function] = {}
    while position + _PREFIX.size <= len(data):
        kind, size, time = struct.unpack_from(order + _PREFIX.format, data, position)
        body, position = data[position + _PREFIX.size : position + size], position + size
        if size < _PREFIX.size or position > len(data) or kind == _CODE_CLOSE:
            return
        try:
            if kind == _CODE_DEBUG_INFO:
                lines[struct.unpack_from(order + _DEBUG.format, body)[0]] = body
            elif kind == _CODE_LOAD:
                function = _read_function(body, order, time)
                loaded[function.start] = function
                if function.start in lines:
                    function.entries = _read_lines(lines.pop(function.start), order, function)
                yield function
            elif kind == _CODE_MOVE:
                _, _, _, old, new, _, _ = struct.unpack_from(order + _MOVE.format, body)
                function = loaded.pop(old)
                yield (_deletion(time, old, function.size),)
                entries = [(address - old + new, line, file) for address, line, file in function.entries]
                loaded[new] = _Function(time, new, function.code, function.size, function.name, entries)
                yield loaded[new]
        except (struct.error, KeyError, ValueError):
            continue


def _read_function(body: bytes, order: str, time: int) -> _Function:
    _, _, _, address, size, _ = struct.unpack_from(order + _LOAD.format, body)
    end = body.index(b"\0", _LOAD.size)
    name = body[_LOAD.size : end].decode("utf-8", "surrogateescape")
    if not 0 < size < _LONGEST_FUNCTION_BYTES or address + size > 1 << 64:
        raise ValueError("no function is that large")
    return _Function(time, address, body[end + 1 : end + 1 + size], size, name, [])


def _read_lines(body: bytes, order: str, function: _Function) -> list[_Entry]:
    """The lines of a function; none if they make no sense."""
    _, count = struct.unpack_from(order + _DEBUG.format, body)
    try:
        entries = _read_entries(body, order, count)
    except (struct.error, ValueError):
        entries = []
    if entries and all(_is_within(function, address) for address, _, _ in entries):
        return entries
    return _read_equal_entries(body, order, count, function)


def _read_entries(body: bytes, order: str, count: int) -> list[_Entry]:
    position, file = _DEBUG.size, ""
    entries = []
    for _ in range(count):
        place, line, _ = struct.unpack_from(order + _ENTRY.format, body, position)
        end = body.index(b"\0", position + _ENTRY.size)
        name = body[position + _ENTRY.size : end]
        file = file if name == b"\xff" else name.decode("utf-8", "surrogateescape")
        entries.append((place, line, file))
        position = end + 1
    return entries


def _read_equal_entries(body: bytes, order: str, count: int, function: _Function) -> list[_Entry]:
    """V8 up to 11 writes freed memory for the name of a script, zeros and all, but as long as the name is: all entries have one size."""
    source = split_name(function.name)[1]
    longest = (len(body) - _DEBUG.size) // count if count else 0
    if source is None:
        return []
    for size in range(longest, max(_ENTRY.size, longest - _PADDING_BYTES), -1):
        found = [struct.unpack_from(order + _ENTRY.format, body, _DEBUG.size + number * size) for number in range(count)]
        if all(_is_within(function, address) for address, _, _ in found):
            return [(address, line, source) for address, line, _ in found]
    return []


def _is_within(function: _Function, address: int) -> bool:
    return 0 <= address - function.start <= function.size + _ELF_HEADER_BYTES


def _shift_of_lines(functions: Iterable[_Function]) -> int:
    """By how much all addresses of lines are too high: they are if some lie behind their function, and none where it begins."""
    is_behind = False
    for function in functions:
        for address, _, _ in function.entries:
            if address - function.start < _ELF_HEADER_BYTES:
                return 0
            is_behind |= address - function.start >= function.size
    return _ELF_HEADER_BYTES if is_behind else 0


def _changes_of(record: _Function | tuple[MappingChange, ...], shift: int) -> Iterable[MappingChange]:
    return record if isinstance(record, tuple) else (_insertion(record, shift),)


def _insertion(function: _Function, shift: int) -> MappingChange:
    name, source, _ = split_name(function.name)
    if function.entries and source is None:
        source = function.entries[0][2]
    offsets: dict[int, int] = {}
    for address, line, file in function.entries:
        offset = address - shift - function.start
        # Lines of other files are of what was inlined: they count for the line it was inlined at.
        if file == source and 0 <= offset < function.size and line < 1 << 31:
            offsets[offset] = line
    table = b"".join(_LINE.pack(offset, offsets[offset]) for offset in sorted(offsets))
    return MappingChange(
        time=function.time, action=MapAction.INSERT, map_kind=MapKind.DYNAMIC_FUNCTION, start=function.start, end=function.start + function.size,
        bias=function.start, name=name, alias=None if name == function.name else function.name, source=source, lines=table, code=function.code,
    )


def _deletion(time: int, start: int, size: int) -> MappingChange:
    return MappingChange(
        time=time, action=MapAction.DELETE, map_kind=MapKind.DYNAMIC_FUNCTION, start=start, end=start + size
    )
