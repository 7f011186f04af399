"""protobuf -- the wire format of Protocol Buffers, read field by field (protobuf.dev/programming-guides/encoding)"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

_MOST_SHIFT: Final = 63
_MASK: Final = (1 << 64) - 1
_VARINT, _FIXED_64, _BYTES, _FIXED_32 = 0, 1, 2, 5

Field = tuple[int, "int | bytes"]
"""A field's number, and its value: a number, or the bytes of a string, a message or packed numbers."""


class WireError(ValueError):
    """The bytes are no message."""


def iter_fields(data: bytes) -> Iterator[Field]:
    """The fields of a message in their order. WireError where the bytes stop making sense."""
    place, end = 0, len(data)
    while place < end:
        key, place = _varint(data, place)
        number, wire_type = key >> 3, key & 7
        if not number:
            raise WireError("a field without a number")
        if wire_type == _VARINT:
            value, place = _varint(data, place)
            yield number, value
            continue
        if wire_type == _BYTES:
            length, place = _varint(data, place)
        elif wire_type in (_FIXED_64, _FIXED_32):
            length = 8 if wire_type == _FIXED_64 else 4
        else:
            raise WireError(f"a field of type {wire_type}")
        if length > end - place:
            raise WireError("a field that is cut off")
        piece = data[place : place + length]
        place += length
        yield number, piece if wire_type == _BYTES else int.from_bytes(piece, "little")


def numbers_of(value: int | bytes) -> list[int]:
    """The numbers of a repeated field: one, or several that are packed."""
    if isinstance(value, int):
        return [value]
    if len(value) and max(value) < 0x80:  # each is a byte
        return list(value)
    numbers, place = [], 0
    while place < len(value):
        number, place = _varint(value, place)
        numbers.append(number)
    return numbers


def signed(number: int) -> int:
    """An int64, which is written as the uint64 with the same bits."""
    return number - (1 << 64) if number >> 63 else number


def _varint(data: bytes, place: int) -> tuple[int, int]:
    """A number, and where the next field begins."""
    try:
        byte = data[place]
        if byte < 0x80:
            return byte, place + 1
        number, shift = byte & 0x7F, 7
        while True:
            place += 1
            byte = data[place]
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                return number & _MASK, place + 1
            shift += 7
            if shift > _MOST_SHIFT:
                raise WireError("a number of more than 64 bits")
    except IndexError:
        raise WireError("a number that is cut off") from None
