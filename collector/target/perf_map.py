"""perf_map -- the functions of a just-in-time compiler, as it lists them in /tmp/perf-PID.map

A line is `START SIZE NAME`, both numbers hexadecimal; nothing says when a function was there. Some compilers put the source
into the name, and these are taken apart: `JS:*fib /src/a.js:3:13` (V8), `py::fib:/src/a.py` (CPython), `TRACE_5::a.lua:3` (LuaJIT).
Source: tools/perf/Documentation/jit-interface.txt of the Linux kernel.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collector.format import MapKind
from collector.regular_file import open_binary
from collector.target.address_space import Mapping

_LINE = re.compile(rb"(?:0[xX])?([0-9a-fA-F]{1,16})\s+(?:0[xX])?([0-9a-fA-F]{1,16})\s+(\S.*)")
# V8: a kind, a mark for how far it was optimised (`o` before it: in the middle of a loop), the name (none: anonymous), the place. ICs and stubs have none.
_V8 = re.compile(
    r"(?:JS|LazyCompile|Function|Script|Eval|RegExp):(o?[~^*+]'?|['`-]?)(.*?) ?((?:file://)?(?:/|(?:node|ext|https?):|[A-Za-z]:\\|\[eval|evalmachine)[^ ].*?)"
    r"(?::(\d+))?(?::(\d+))?"
)
_PYTHON = re.compile(r"py::(.+):([^:]*)")
_LUAJIT = re.compile(r"(TRACE_\d+)::(.+):(\d{1,9})")
_HIGHEST = 1 << 64
_LONGEST_LINE_BYTES = 1 << 16
_LONGEST_NAME = 1 << 12  # that is taken apart: the patterns try more than once


def read_perf_map(path: str) -> list[Mapping]:
    """The functions of a perf map in the order of the file; lines that make no sense are passed over. OSError if it cannot be read."""
    with open_binary(path) as file:
        return list(_iter_functions(iter(lambda: file.readline(_LONGEST_LINE_BYTES), b"")))


def _iter_functions(lines: Iterator[bytes]) -> Iterator[Mapping]:
    for line in lines:
        match = _LINE.match(line.rstrip())
        if match is None:
            continue
        start, size = int(match[1], 16), int(match[2], 16)
        if size and start + size <= _HIGHEST:
            yield _function(start, start + size, match[3].decode("utf-8", "surrogateescape"))


def _function(start: int, end: int, text: str) -> Mapping:
    name, source, line = split_name(text)
    table = b"" if line is None else (0).to_bytes(4, "little") + line.to_bytes(4, "little")
    alias = None if name == text else text
    return Mapping(MapKind.DYNAMIC_FUNCTION, start, end, start, 0, "", b"", 0, None, name, alias, source, table)


def split_name(text: str) -> tuple[str, str | None, int | None]:
    """Name, source file and line of a function, as far as its compiler's way to name it is known."""
    if len(text) > _LONGEST_NAME:
        return text, None, None
    match = _V8.fullmatch(text)
    if match:
        line = int(match[4]) if match[4] and int(match[4]) < 1 << 31 else None
        return match[2] or "(anonymous)", match[3].removeprefix("file://"), line
    match = _PYTHON.fullmatch(text)
    if match:
        return match[1], match[2], None
    match = _LUAJIT.fullmatch(text)
    if match:
        return match[1], match[2], int(match[3])
    return text, None, None
