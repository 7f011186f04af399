"""open_area -- where the frames of a log end while it is being written (docs/format.md, "Open frames")

A log that is being written is a sparse file of its greatest length, and the last sixteenth of it holds the open frames. It is cut to
the length of its frames at the end; the log of a killed process stays uncut until somebody moves its open frames.
"""

from __future__ import annotations

import os

from collector.format import OPEN_MAGIC, OPEN_SLOT_BYTES, OPEN_TAIL_BYTES
from collector.regular_file import open_regular


def area_offset(size: int) -> int:
    """Where the open frames begin in an uncut log of `size` bytes."""
    return size - max(size // 16 // OPEN_SLOT_BYTES, 1) * OPEN_SLOT_BYTES


def find_area(descriptor: int) -> int | None:
    """Where the open frames of a log begin; None if it was cut, or is no file. Raises OSError."""
    size = os.fstat(descriptor).st_size
    if size < 2 * OPEN_SLOT_BYTES or size % OPEN_SLOT_BYTES:
        return None
    offset = area_offset(size)
    is_uncut = not any(os.pread(descriptor, OPEN_TAIL_BYTES, size - OPEN_TAIL_BYTES)) and os.pread(
        descriptor, len(OPEN_MAGIC), offset
    ) in (OPEN_MAGIC, bytes(len(OPEN_MAGIC)))
    return offset if is_uncut else None


def is_uncut(path: str) -> bool:
    """True if a log was not brought to its end: it is being written, or its process was killed. False if there is no such file."""
    try:
        descriptor = open_regular(path)
    except OSError:
        return False
    try:
        return find_area(descriptor) is not None
    except OSError:
        return False
    finally:
        os.close(descriptor)
