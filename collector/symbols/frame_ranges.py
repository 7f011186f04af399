"""frame_ranges -- where functions begin and end, as .eh_frame tells even of stripped code

Compilers describe every function in .eh_frame so that exceptions can pass through it, and no
strip removes that. Each FDE covers one contiguous piece of one function. All are read in one
walk over the section: the search table of .eh_frame_hdr has the beginnings only, and without
the ends the code behind the last described function would go by that function's name.
Source: Linux Standard Base 5.0, chapter 10.6 (.eh_frame, .eh_frame_hdr, pointer encodings).
"""

from __future__ import annotations

import struct

from collector.errors import DamagedImageError
from collector.symbols.byte_cursor import ByteCursor
from collector.symbols.elf_image import ElfImage

_ENTRY = struct.Struct("<IIiI")  # length, distance to the CIE, start relative to itself, byte count
_PCREL_SDATA4 = 0x1B
_OMITTED = 0xFF
_LONGEST_AUGMENTATION = 16
_SIZES = {0x0: 8, 0x2: 2, 0x3: 4, 0x4: 8, 0xA: 2, 0xB: 4, 0xC: 8}
_WHOLE_WITHOUT_SECTIONS = 1 << 28


def read_frame_ranges(image: ElfImage) -> list[tuple[int, int]]:
    """[(start, end)] in elf addresses, ascending, not overlapping; empty where nothing is described."""
    data, elf_address = find_frames(image)
    ranges = sorted(_walk(data, elf_address))
    inside: list[tuple[int, int]] = []
    for index, (start, end) in enumerate(ranges):
        if index + 1 < len(ranges):
            end = min(end, ranges[index + 1][0])
        if start < end:
            inside.append((start, end))
    return inside


def find_frames(image: ElfImage) -> tuple[bytes, int]:
    """The bytes of .eh_frame, and where they are loaded; nothing where an image has none."""
    section = image.section(".eh_frame")
    if section is not None:
        return image.data(section), section.elf_address
    header_address = image.frame_header_address
    if header_address is None:
        return b"", 0
    header = image.bytes_at(header_address, 8)
    if len(header) < 8 or header[0] != 1 or header[1] != _PCREL_SDATA4:
        return b"", 0
    elf_address = header_address + 4 + struct.unpack_from("<i", header, 4)[0]
    return image.bytes_at(elf_address, _WHOLE_WITHOUT_SECTIONS), elf_address


def _walk(data: bytes, elf_address: int) -> list[tuple[int, int]]:
    """Every FDE's range, in the order of the section; what follows a damaged entry is left out."""
    ranges: list[tuple[int, int]] = []
    encodings: dict[int, int] = {}
    position, last = 0, len(data) - _ENTRY.size
    while position <= last:
        length, distance, start, size = _ENTRY.unpack_from(data, position)
        if length == 0:  # a terminator; linkers leave some in the middle
            position += 4
            continue
        if length == 0xFFFFFFFF:  # 64-bit entries: nobody writes them
            break
        if distance:
            cie = position + 4 - distance
            encoding = encodings.get(cie)
            if encoding is None:
                encoding = encodings[cie] = _pointer_encoding(data, cie)
            if encoding == _PCREL_SDATA4:
                start += elf_address + position + 8
                ranges.append((start, start + size))
            elif encoding != _OMITTED:
                ranges += _decode_range(data, position + 8, elf_address, encoding)
        position += 4 + length
    return ranges


def _decode_range(data: bytes, position: int, elf_address: int, encoding: int) -> list[tuple[int, int]]:
    size_bytes = _SIZES.get(encoding & 0x0F)
    if size_bytes is None or encoding & 0x70 not in (0x00, 0x10) or position + 2 * size_bytes > len(data):
        return []
    raw = data[position:position + 2 * size_bytes]
    start = int.from_bytes(raw[:size_bytes], "little", signed=bool(encoding & 0x08))
    if encoding & 0x70 == 0x10:
        start += elf_address + position
    start &= (1 << 64) - 1
    return [(start, start + int.from_bytes(raw[size_bytes:], "little"))]


def _pointer_encoding(data: bytes, position: int) -> int:
    """How FDEs of the CIE at `position` write addresses; _OMITTED when that cannot be told."""
    if not 0 <= position <= len(data) - 9:
        return _OMITTED
    if data.find(b"\0", position + 9, position + 9 + _LONGEST_AUGMENTATION) < 0:
        return _OMITTED
    cursor = ByteCursor(data, position + 8)
    try:
        version = cursor.fixed(1)
        augmentation = cursor.string()
        cursor.uleb()
        cursor.sleb()
        cursor.fixed(1) if version == 1 else cursor.uleb()
        if not augmentation.startswith("z"):
            return 0x00 if not augmentation else _OMITTED
        cursor.uleb()
        for letter in augmentation[1:]:
            if letter == "R":
                return cursor.fixed(1)
            if letter == "L":
                cursor.fixed(1)
            elif letter == "P":
                size_bytes = _SIZES.get(cursor.fixed(1) & 0x0F)
                if size_bytes is None:
                    return _OMITTED
                cursor.block(size_bytes)
            elif letter not in "SBG":
                return _OMITTED
    except DamagedImageError:
        return _OMITTED
    return 0x00
