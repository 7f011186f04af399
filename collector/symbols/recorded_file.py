"""recorded_file -- whether the file at a module's path is still the one that was recorded, for modules without a build id

What is compared is in docs/format.md (MAPPINGCHANGE, text_checksum).
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

from collector.errors import SymbolError
from collector.symbols.cache import signature_of

if TYPE_CHECKING:
    from collector.symbols.elf_image import ElfImage
    from collector.target.address_space import RecordedFile

_PIECE_BYTES = 4096
_PIECES = 16


def is_replaced(path: str, recorded: RecordedFile) -> bool:
    """True if another file is there now. False for one that is gone or cannot be read: whoever wants to read it will say so."""
    size_bytes, changed_ns, checksum = recorded
    now = signature_of(path)
    if now is None or now == [size_bytes, changed_ns]:
        return False
    from collector.symbols.elf_image import ElfImage  # late: few modules lack a build id

    try:
        with ElfImage(path) as image:
            return text_checksum(image) != checksum
    except SymbolError:
        return True


def text_checksum(image: ElfImage) -> int | None:
    """The checksum of the code of an image; None if it has none."""
    segment = next((segment for segment in image.segments if segment.is_executable), None)
    if segment is None:
        return None
    size = segment.file_bytes
    if size <= _PIECES * _PIECE_BYTES:
        return crc32(image.bytes_at(segment.elf_address, size))
    checksum = 0
    for piece in range(_PIECES):
        start = segment.elf_address + (size - _PIECE_BYTES) // (_PIECES - 1) * piece
        checksum = crc32(image.bytes_at(start, _PIECE_BYTES), checksum)
    return checksum
