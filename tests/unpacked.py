"""unpacked -- what the page is given, read back as the page reads it"""

from __future__ import annotations

import base64
import json
import zlib


def unpacked(text: str) -> tuple[dict, dict[str, list[int]]]:
    """The document and the columns."""
    data = zlib.decompress(base64.b64decode(text))
    length = int.from_bytes(data[:4], "little")
    document = json.loads(data[4 : 4 + length])
    columns = {}
    for name, (start, count) in document.pop("columns").items():
        planes = [data[4 + length + start + count * plane :][:count] for plane in range(4)]
        columns[name] = [int.from_bytes(bytes(digits), "little") for digits in zip(*planes)]
    return document, columns
