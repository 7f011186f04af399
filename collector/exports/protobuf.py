"""protobuf -- the few shapes of protocol buffers that a profile needs, as bytes

The encoding: https://protobuf.dev/programming-guides/encoding.
"""

from __future__ import annotations

from collections.abc import Iterable

_LENGTH_DELIMITED = 2


def varint(value: int) -> bytes:
    """A whole number of at least 0."""
    if value < 0x80:
        return bytes((value,))
    parts = bytearray()
    while value >= 0x80:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)


def number(field: int, value: int) -> bytes:
    """A field that holds a number; nothing for 0, which is what a missing field means."""
    return varint(field << 3) + varint(value) if value else b""


def block(field: int, data: bytes) -> bytes:
    """A field that holds bytes, a string or a message."""
    return varint(field << 3 | _LENGTH_DELIMITED) + varint(len(data)) + data


def packed(field: int, values: Iterable[int]) -> bytes:
    """A field that holds many numbers."""
    return block(field, b"".join(map(varint, values)))
