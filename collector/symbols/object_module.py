"""object_module -- relocatable files (.o) as they lay in memory, made into images like any other

A relocatable file has no addresses: its sections begin at 0, and its debug information holds blanks that a linker
would fill in. Here every section gets the elf address that docs/format.md gives it (MAPPINGCHANGE), symbols are moved with
their sections, and the blanks of the debug and unwind sections are filled in. What comes out is read as an executable.
Source: System V gABI chapter 4; the processor supplements of x86-64 and AArch64 for the relocations.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass, replace

from collector.errors import DamagedImageError, SymbolError
from collector.regular_file import read_regular
from collector.symbols.elf_image import ElfImage
from collector.symbols.terms import Layout

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QQq")
_ET_REL, _ET_EXEC = 1, 2
_SHT_SYMTAB, _SHT_RELA, _SHT_NOBITS = 2, 4, 8
_SHF_ALLOC, _SHF_EXECINSTR, _SHF_COMPRESSED = 0x2, 0x4, 0x800
_SHN_LORESERVE = 0xFF00
_LARGEST_FILE_BYTES = 1 << 30
_LARGEST_SECTION_BYTES = 1 << 30
# By machine and type: bytes to fill in, and whether the value is relative to the place.
_RELOCATIONS = {
    62: {1: (8, False), 10: (4, False), 11: (4, False), 2: (4, True), 24: (8, True)},  # x86-64
    183: {257: (8, False), 258: (4, False), 260: (8, True), 261: (4, True)},  # AArch64
}


@dataclass(frozen=True, slots=True)
class _Section:
    name: int
    kind: int
    flags: int
    elf_address: int
    file_offset: int
    size_bytes: int
    link: int
    info: int
    alignment: int
    entry_bytes: int

    @property
    def is_code(self) -> bool:
        return self.flags & (_SHF_ALLOC | _SHF_EXECINSTR) == _SHF_ALLOC | _SHF_EXECINSTR and self.size_bytes > 0


def open_module(path: str, layout: Layout) -> ElfImage:
    """The module at `path` in the space of its elf addresses. Raises SymbolError."""
    image = ElfImage(path)
    if layout == "image" or not image.is_relocatable:
        return image
    image.close()
    try:
        data = read_regular(path, _LARGEST_FILE_BYTES, may_follow=True)
    except OSError as error:
        raise SymbolError(f"{path} cannot be read: {error.strerror}.") from error
    return ElfImage.from_bytes(path, place_object(path, data, layout))


def place_object(path: str, data: bytes, layout: Layout) -> bytes:
    """The relocatable file `data` as an executable whose sections have addresses. Raises DamagedImageError."""
    placed = bytearray(data)
    try:
        header = list(_HEADER.unpack_from(placed))
        sections = [_Section(*_SECTION.unpack_from(placed, header[6] + index * _SECTION.size)) for index in range(header[12])]
        sections = [_unpacked(placed, section) for section in sections]
        sections = _addressed(sections, layout)
        _move_symbols(placed, sections)
        for section in sections:
            if section.kind == _SHT_RELA and section.info < len(sections):
                _fill_in(placed, header[2], sections, section)
        for index, section in enumerate(sections):
            _SECTION.pack_into(placed, header[6] + index * _SECTION.size, *(getattr(section, name) for name in _Section.__slots__))
        header[1] = _ET_EXEC
        _HEADER.pack_into(placed, 0, *header)
    except (struct.error, IndexError, zlib.error, OverflowError) as error:
        raise DamagedImageError(f"{path} is not a sound object file: {error}.") from error
    return bytes(placed)


def _addressed(sections: list[_Section], layout: Layout) -> list[_Section]:
    if any(section.is_code and section.elf_address for section in sections):
        return sections  # it says itself where it is, as just-in-time compilers have it for debuggers
    if layout == "file":
        return [replace(section, elf_address=section.file_offset) if section.flags & _SHF_ALLOC else section for section in sections]
    start = next((section.file_offset for section in sections if section.is_code), 0)
    position = 0
    addressed = []
    for section in sections:
        if section.is_code and section.kind != _SHT_NOBITS:
            alignment = max(1, section.alignment)
            position = (position + alignment - 1) // alignment * alignment
            section = replace(section, elf_address=start + position)
            position += section.size_bytes
        addressed.append(section)
    return addressed


def _unpacked(placed: bytearray, section: _Section) -> _Section:
    """A section that was compressed, behind the end of the file as it was."""
    if not section.flags & _SHF_COMPRESSED:
        return section
    algorithm, size_bytes = struct.unpack_from("<I4xQ", placed, section.file_offset)
    if algorithm != 1:
        return section  # whoever reads it will say so
    packed = placed[section.file_offset + 24 : section.file_offset + section.size_bytes]
    data = zlib.decompressobj().decompress(bytes(packed), min(size_bytes, _LARGEST_SECTION_BYTES) or 1)
    moved = replace(section, flags=section.flags & ~_SHF_COMPRESSED, file_offset=len(placed), size_bytes=len(data))
    placed += data
    return moved


def _move_symbols(placed: bytearray, sections: list[_Section]) -> None:
    for table in sections:
        if table.kind != _SHT_SYMTAB:
            continue
        for at in range(table.file_offset, table.file_offset + table.size_bytes // _SYMBOL.size * _SYMBOL.size, _SYMBOL.size):
            name, info, other, index, value, size = _SYMBOL.unpack_from(placed, at)
            if 0 < index < min(_SHN_LORESERVE, len(sections)):
                value = value + sections[index].elf_address & (1 << 64) - 1
                _SYMBOL.pack_into(placed, at, name, info, other, index, value, size)


def _fill_in(placed: bytearray, machine: int, sections: list[_Section], relocations: _Section) -> None:
    """The relocations of a section that describes code; those of the code itself are not needed to name it."""
    target, symbols = sections[relocations.info], sections[relocations.link]
    known = _RELOCATIONS.get(machine, {})
    if target.flags & _SHF_EXECINSTR or target.kind == _SHT_NOBITS or target.flags & _SHF_COMPRESSED:
        return
    data = bytes(placed[relocations.file_offset : relocations.file_offset + relocations.size_bytes])
    for offset, info, addend in _RELOCATION.iter_unpack(data[: len(data) // _RELOCATION.size * _RELOCATION.size]):
        size_bytes, is_relative = known.get(info & 0xFFFFFFFF, (0, False))
        if size_bytes == 0 or offset + size_bytes > target.size_bytes:
            continue
        value = _SYMBOL.unpack_from(placed, symbols.file_offset + (info >> 32) * _SYMBOL.size)[4] + addend
        if is_relative:
            value -= target.elf_address + offset
        at = target.file_offset + offset
        if at + size_bytes > len(placed):
            raise IndexError("a section reaches past its end")
        placed[at : at + size_bytes] = (value & (1 << 8 * size_bytes) - 1).to_bytes(size_bytes, "little")
