"""pypy_log -- the loops and bridges of PyPy's compiler, as PYPYLOG=jit-backend-addr lists them

    Loop 1 (collatz;/src/a.py:4-6~#4 LOAD_FAST) has address 0x7f10 to 0x7f90 (bootstrap 0x7f00)
           function: 0x7f00
                end: 0x7fe0

The first line says what it is, those below where it lies: from `function` (a bridge: `jump target`) to `end`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collector.format import MapKind
from collector.regular_file import open_binary
from collector.target.address_space import Mapping

_HEAD = re.compile(r"(?:Loop \d+ \((.*)\)|bridge out of Guard 0x[0-9a-f]+) has address 0x[0-9a-f]+ to 0x[0-9a-f]+")
_PLACE = re.compile(r" *(function|jump target|end): 0x([0-9a-f]{1,16})\n?")
_NAME = re.compile(r"(.+);(.+):(\d+)-(\d+)~#\d+ \w+")
_LONGEST_LINE_BYTES = 1 << 12


def read_pypy_log(path: str) -> list[Mapping]:
    """The compiled code in the order of the file; lines that make no sense are passed over. OSError if it cannot be read."""
    with open_binary(path) as file:
        return list(_iter_code(line.decode("utf-8", "surrogateescape") for line in iter(lambda: file.readline(_LONGEST_LINE_BYTES), b"")))


def _iter_code(lines: Iterator[str]) -> Iterator[Mapping]:
    text, start = "", 0
    for line in lines:
        head = _HEAD.match(line)
        if head is not None:
            text, start = head[1] or "(bridge)", 0
            continue
        place = _PLACE.fullmatch(line)
        if place is None:
            continue
        address = int(place[2], 16)
        if place[1] != "end":
            start = address
        elif text and 0 < start < address:
            yield _code(start, address, text)
            text = ""


def _code(start: int, end: int, text: str) -> Mapping:
    match = _NAME.fullmatch(text)
    if match is None:
        return Mapping(MapKind.DYNAMIC_FUNCTION, start, end, start, 0, "", b"", 0, None, text)
    table = (0).to_bytes(4, "little") + min(int(match[4]), (1 << 31) - 1).to_bytes(4, "little")
    return Mapping(MapKind.DYNAMIC_FUNCTION, start, end, start, 0, "", b"", 0, None, match[1], text, match[2], table)
