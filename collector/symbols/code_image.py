"""code_image -- a small ELF file of some code and the names it may refer to, so that a disassembler reads nothing that we did not write

Source: System V gABI chapter 4.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

from collector.errors import SymbolError

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_MACHINES = {"x86_64": 62, "aarch64": 183}
_NAMES = b"\0.text\0.symtab\0.strtab\0"
_ET_EXEC, _PROGBITS, _SYMTAB, _STRTAB, _ALLOC_EXECUTE = 2, 1, 2, 3, 6
_GLOBAL_FUNCTION, _GLOBAL_OBJECT, _SHN_ABS = 0x12, 0x11, 0xFFF1
_HIGHEST = (1 << 64) - 1


def code_image(code: bytes, start: int, machine: str, names: Mapping[int, str]) -> bytes:
    """An executable that holds `code` at `start`; `names` are those of addresses anywhere. SymbolError for an unknown machine."""
    if machine not in _MACHINES:
        raise SymbolError(f"code of a machine {machine or 'of an unknown kind'} cannot be disassembled.")
    symbols, strings = [bytes(_SYMBOL.size)], bytearray(_NAMES)
    for address, name in names.items():
        is_inside = start <= address < start + len(code)
        kind, section = (_GLOBAL_FUNCTION, 1) if is_inside else (_GLOBAL_OBJECT, _SHN_ABS)
        symbols.append(_SYMBOL.pack(len(strings), kind, 0, section, address & _HIGHEST, 0))
        strings += _printable(name).encode() + b"\0"
    table = b"".join(symbols)
    code_at = _HEADER.size
    table_at = code_at + len(code) + 7 & ~7
    strings_at = table_at + len(table)
    sections_at = strings_at + len(strings) + 7 & ~7
    headers = (
        (0,) * 10,
        (1, _PROGBITS, _ALLOC_EXECUTE, start, code_at, len(code), 0, 0, 1, 0),
        (7, _SYMTAB, 0, 0, table_at, len(table), 3, 1, 8, _SYMBOL.size),
        (15, _STRTAB, 0, 0, strings_at, len(strings), 0, 0, 1, 0),
    )
    header = _HEADER.pack(b"\x7fELF\x02\x01\x01".ljust(16, b"\0"), _ET_EXEC, _MACHINES[machine], 1, start, 0, sections_at, 0, _HEADER.size, 0, 0,
                          _SECTION.size, len(headers), 3)
    body = (header + code).ljust(table_at, b"\0") + table + strings
    return body.ljust(sections_at, b"\0") + b"".join(_SECTION.pack(*fields) for fields in headers)


def _printable(name: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in name)
