"""packing -- tables of numbers and a structure of words as one compressed piece of text

What the page reads: base64 of a zlib stream of the length of a JSON document (4 bytes, little-endian), the document, and the columns. A column is
`[where it begins, how many numbers]` in the document's `columns`; its numbers of 32 bits are stored byte by byte, all lowest bytes first: so small numbers
and small differences compress to next to nothing.
"""

from __future__ import annotations

import base64
import json
import sys
import zlib
from array import array
from collections.abc import Mapping, Sequence
from typing import Any

_BYTES = 4
_WORD = next(code for code in "IL" if array(code).itemsize == _BYTES)


def pack(document: Mapping[str, Any], columns: Mapping[str, Sequence[int]]) -> str:
    """The document, and columns of numbers from 0 to 2^32-1."""
    places: dict[str, list[int]] = {}
    pieces: list[bytes] = []
    offset = 0
    for name, numbers in columns.items():
        places[name] = [offset, len(numbers)]
        pieces.append(_planes(numbers))
        offset += len(pieces[-1])
    text = json.dumps({**document, "columns": places}, ensure_ascii=True, separators=(",", ":"), allow_nan=False).encode()
    compressor = zlib.compressobj(9)
    packed = [compressor.compress(len(text).to_bytes(_BYTES, "little") + text), *map(compressor.compress, pieces), compressor.flush()]
    return base64.b64encode(b"".join(packed)).decode()


def deltas(numbers: Sequence[int]) -> list[int]:
    """Each number less the one before, modulo 2^32."""
    return [(number - before) & 0xFFFFFFFF for before, number in zip((0, *numbers), numbers)]


def _planes(numbers: Sequence[int]) -> bytes:
    column = array(_WORD, numbers)
    if sys.byteorder == "big":
        column.byteswap()
    raw = column.tobytes()
    return b"".join(raw[plane::_BYTES] for plane in range(_BYTES))
