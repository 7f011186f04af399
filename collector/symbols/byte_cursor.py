"""byte_cursor -- numbers and strings of DWARF, taken one after the other from bytes

Every read past the end raises DamagedImageError: the one way in which damaged DWARF shows.
"""

from __future__ import annotations

import struct

from collector.errors import DamagedImageError

_FIXED = {1: struct.Struct("<B"), 2: struct.Struct("<H"), 4: struct.Struct("<I"), 8: struct.Struct("<Q")}


class ByteCursor:
    """A position in `data` that moves on with each read."""

    __slots__ = ("data", "position")

    def __init__(self, data: bytes, position: int = 0) -> None:
        self.data = data
        self.position = position

    def fixed(self, size_bytes: int) -> int:
        """An unsigned little-endian number of 1, 2, 3, 4 or 8 bytes."""
        if size_bytes == 3:
            return int.from_bytes(self.block(3), "little")
        value: int
        try:
            (value,) = _FIXED[size_bytes].unpack_from(self.data, self.position)
        except (struct.error, KeyError) as error:
            raise DamagedImageError("DWARF data ends in the middle of a number.") from error
        self.position += size_bytes
        return value

    def uleb(self) -> int:
        """An unsigned LEB128 number (DWARF 5, section 7.6)."""
        result = shift = 0
        try:
            while True:
                byte = self.data[self.position]
                self.position += 1
                result |= (byte & 0x7F) << shift
                if byte < 0x80:
                    return result
                shift += 7
                if shift > 70:
                    raise DamagedImageError("DWARF data holds a number of more than 64 bits.")
        except IndexError as error:
            raise DamagedImageError("DWARF data ends in the middle of a number.") from error

    def sleb(self) -> int:
        """A signed LEB128 number (DWARF 5, section 7.6)."""
        start = self.position
        value = self.uleb()
        bits = 7 * (self.position - start)
        return value - (1 << bits) if value >> (bits - 1) & 1 else value

    def block(self, size_bytes: int) -> bytes:
        """The next `size_bytes` bytes."""
        piece = self.data[self.position:self.position + size_bytes]
        if len(piece) != size_bytes:
            raise DamagedImageError("DWARF data ends in the middle of a block.")
        self.position += size_bytes
        return piece

    def string(self) -> str:
        """A NUL-terminated string; bytes that are no UTF-8 are shown as \\xNN."""
        end = self.data.find(b"\0", self.position)
        if end < 0:
            raise DamagedImageError("DWARF data ends in the middle of a string.")
        text = self.data[self.position:end].decode("utf-8", "backslashreplace")
        self.position = end + 1
        return text
