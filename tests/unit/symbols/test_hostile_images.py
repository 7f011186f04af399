"""test_hostile_images -- ELF files made to hurt: a few kilobytes that ask for gigabytes, or for the same work again and again

Each is read by a process of its own, whose memory and CPU time are limited: these limits end a reader that has none, they measure nothing.
"""

from __future__ import annotations

import resource
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[3]
_MEMORY_BYTES = 3 << 30
_CPU_SECONDS = 120
_CODE = 0x1000
_READER = """
import sys
from collector.symbols.symbolizer import Symbolizer
symbolizer = Symbolizer(cache_dir=sys.argv[2])
for address in range(0x1000, 0x1100, 16):
    location = symbolizer.locate(sys.argv[1], None, address)
    assert location.kind in ("symbol", "frame", "unknown")
assert all("\\n" not in warning for warning in symbolizer.warnings)
print("read")
"""


def elf(sections: list[tuple[str, int, bytes]], *, flags: int = 0, segments: bytes = b"", links: dict[str, int] | None = None) -> bytes:
    """A 64-bit file with code at 0x1000 and sections of (name, type, contents)."""
    every = [("", 0, b""), (".text", 1, bytes(0x200)), *sections]
    names = b"".join(name.encode() + b"\0" for name, _, _ in every) + b".shstrtab\0"
    every.append((".shstrtab", 3, names))
    data, headers, at_name = bytearray(bytes(64)), b"", 0
    for name, kind, contents in every:
        own = 6 if name == ".text" else flags if name.startswith(".debug") else 0
        headers += struct.pack("<IIQQQQIIQQ", at_name, kind, own, _CODE if name == ".text" else 0, len(data), len(contents),
                               (links or {}).get(name, 0), 0, 1, 24 if kind in (2, 11) else 0)
        data += contents
        at_name += len(name) + 1
    phoff = len(data)
    data += segments
    shoff = len(data)
    data += headers
    data[:64] = struct.pack("<4sBBBB8xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 0, 3, 62, 1, _CODE, phoff if segments else 0, shoff, 0, 64, 56,
                            len(segments) // 56, 64, len(every), len(every) - 1)
    return bytes(data)


def _uleb(value: int) -> bytes:
    out = bytearray()
    while True:
        value, low = value >> 7, value & 0x7F
        out.append(low | (0x80 if value else 0))
        if not value:
            return bytes(out)


def _unit(contents: bytes, abbreviations: int = 0) -> bytes:
    body = struct.pack("<HIB", 4, abbreviations, 8) + contents
    return struct.pack("<I", len(body)) + body


def _abbreviation(code: int, *pairs: tuple[int, int]) -> bytes:
    return _uleb(code) + b"\x11\0" + b"".join(map(bytes, pairs)) + b"\0\0"


_ROOT_PAIRS = ((0x11, 0x01), (0x12, 0x06), (0x10, 0x17))  # low_pc, high_pc, stmt_list


def _root(line: int = 0) -> bytes:
    return b"\x01" + struct.pack("<QII", _CODE, 0x200, line)


def many_units_of_a_long_abbreviation_table() -> bytes:
    table = b"".join(_abbreviation(2 + n, (0x03, 0x08)) for n in range(60_000)) + _abbreviation(1, *_ROOT_PAIRS) + b"\0"
    return elf([(".debug_info", 1, _unit(_root()) * 30_000), (".debug_abbrev", 1, table)])


def an_abbreviation_without_an_end() -> bytes:
    return elf([(".debug_info", 1, _unit(_root()) * 1000), (".debug_abbrev", 1, b"\x01\x11\x00" + b"\x03\x08" * 500_000)])


def units_that_share_a_list_of_ranges() -> bytes:
    table = _abbreviation(1, (0x11, 0x01), (0x55, 0x17)) + b"\0"
    ranges = struct.pack("<QQ", 0x10, 0x20) * 60_000 + bytes(16)
    return elf([(".debug_info", 1, _unit(b"\x01" + struct.pack("<QI", _CODE, 0)) * 30_000), (".debug_abbrev", 1, table), (".debug_ranges", 1, ranges)])


def units_that_share_a_list_of_nothing() -> bytes:
    table = _abbreviation(1, (0x11, 0x01), (0x55, 0x17)) + b"\0"
    ranges = struct.pack("<QQ", 0x20, 0x10) * 60_000 + bytes(16)
    return elf([(".debug_info", 1, _unit(b"\x01" + struct.pack("<QI", _CODE, 0)) * 30_000), (".debug_abbrev", 1, table), (".debug_ranges", 1, ranges)])


def _line_program(tables: bytes, program: bytes, version: int = 4) -> bytes:
    header = struct.pack("<BBBbBB", 1, 1, 1, -5, 14, 13) + bytes((0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1)) + tables
    body = struct.pack("<HI", version, len(header)) + header + program
    return struct.pack("<I", len(body)) + body


def _with_lines(lines: bytes) -> bytes:
    table = _abbreviation(1, *_ROOT_PAIRS) + b"\0"
    return elf([(".debug_info", 1, _unit(_root())), (".debug_abbrev", 1, table), (".debug_line", 1, lines)])


def files_in_a_directory_of_a_megabyte() -> bytes:
    return _with_lines(_line_program(b"d" * (1 << 20) + b"\0\0" + b"f\0\1\0\0" * 200_000 + b"\0", b""))


def a_line_program_of_enormous_advances() -> bytes:
    start = b"\0\x09\x02" + struct.pack("<Q", _CODE)
    steps = (b"\x02" + b"\xff" * 9 + b"\x01" + b"\x03" + b"\xff" * 9 + b"\0" + b"\x01") * 50_000
    return _with_lines(_line_program(b"\0f.c\0\0\0\0\0", start + steps + b"\0\1\1"))


def a_table_of_more_files_than_bytes() -> bytes:
    head = struct.pack("<BB", 8, 0)
    header = struct.pack("<BBBbBB", 1, 1, 1, -5, 14, 13) + bytes(12) + b"\0" + _uleb(1 << 62) + b"\x01\x01\x08" + _uleb(1 << 62)
    body = struct.pack("<H", 5) + head + struct.pack("<I", len(header)) + header
    return _with_lines(struct.pack("<I", len(body)) + body)


def symbols_that_share_a_name_of_megabytes() -> bytes:
    symbols = b"".join(struct.pack("<IBBHQQ", 1 + n, 0x12, 0, 1, _CODE + n % 0x200, 1) for n in range(40_000))
    return elf([(".symtab", 2, symbols), (".strtab", 3, b"\0" + b"n" * (2 << 20))], links={".symtab": 3})


def sections_that_are_the_same_bomb() -> bytes:
    packed = struct.pack("<IIQQ", 1, 0, 1 << 30, 1) + zlib.compress(bytes(1 << 27), 6)
    names = ("info", "abbrev", "line", "aranges", "ranges", "str", "line_str", "rnglists", "addr", "str_offsets")
    return elf([(f".debug_{name}", 1, packed) for name in names], flags=0x800)


def notes_without_number() -> bytes:
    notes = struct.pack("<III", 0, 0, 1) * 5000
    segment = struct.pack("<IIQQQQQQ", 4, 4, 64, 64, 64, len(notes), len(notes), 4)
    return elf([(".note", 1, notes)], segments=segment * 4000)


def more_segments_than_any_linker_makes() -> bytes:
    return elf([], segments=struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, 0x2000, 0x2000, 4096) * 60_000)


def section_names_of_megabytes() -> bytes:
    return elf([("n" * (1 << 20), 1, b"")] + [("", 1, b"")] * 20_000)


def unwind_entries_of_endless_augmentation() -> bytes:
    data = bytearray(b"z" + b"S" * (1 << 20))
    cie = len(data)
    for number in range(30_000):
        at = len(data)
        data += struct.pack("<IIII", 12, at + 4 - number * 8, 0, 0)
    return elf([(".eh_frame", 1, bytes(data[cie:]) + bytes(data[:cie]))])


_CASES: list[Callable[[], bytes]] = [
    many_units_of_a_long_abbreviation_table,
    an_abbreviation_without_an_end,
    units_that_share_a_list_of_ranges,
    units_that_share_a_list_of_nothing,
    files_in_a_directory_of_a_megabyte,
    a_line_program_of_enormous_advances,
    a_table_of_more_files_than_bytes,
    symbols_that_share_a_name_of_megabytes,
    sections_that_are_the_same_bomb,
    notes_without_number,
    more_segments_than_any_linker_makes,
    section_names_of_megabytes,
    unwind_entries_of_endless_augmentation,
]


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS))


@pytest.mark.parametrize("case", _CASES, ids=lambda case: case.__name__)
def test_bounded(case: Callable[[], bytes], tmp_path: Path) -> None:
    path = tmp_path / "hostile"
    path.write_bytes(case())
    command = [sys.executable, "-c", _READER, path, tmp_path / "cache"]
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=_limit, cwd=_ROOT)
    assert (done.returncode, done.stdout) == (0, "read\n"), done.stderr[-2000:]
