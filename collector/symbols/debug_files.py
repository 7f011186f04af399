"""debug_files -- where the symbols and line tables of a stripped module lie

Looked for, in this order: the build id below each debug directory and in debuginfod's local
cache, then the name in .gnu_debuglink beside the module, in its .debug folder and in each
debug directory, there first under the module's own folder, then the symbols packed into .gnu_debugdata (MiniDebugInfo). A file counts only
if its build id is the module's own; a linked one must have the right checksum as well. Nothing
is fetched from a network here; `debuginfod` does that where it is asked to.
Source: the GDB manual, sections "Separate Debug Files" and "MiniDebugInfo".
"""

from __future__ import annotations

import lzma
import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from collector.errors import SymbolError
from collector.regular_file import open_binary
from collector.symbols.archive import build_id_path
from collector.symbols.debuginfod import cache_directory
from collector.symbols.elf_image import SHT_NOBITS, ElfImage

SYSTEM_DEBUG_DIRECTORY = "/usr/lib/debug"
_LARGEST_MINI_DEBUG_BYTES = 1 << 28
_CHECKSUM_STEP_BYTES = 1 << 20


@dataclass(slots=True)
class DebugFiles:
    """What was found for one module, open; `close` gives the files back.

    `looked_at` lists every path whose appearance or change would alter the answer, and
    `complaints` says in a sentence each why a file that was there is not used.
    """

    separate: ElfImage | None = None
    mini: ElfImage | None = None
    looked_at: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def images(self) -> list[ElfImage]:
        """The images that add symbols to the module's own."""
        return [image for image in (self.separate, self.mini) if image is not None]

    def close(self) -> None:
        """Close what was opened."""
        for image in self.images():
            image.close()


def find_debug_files(image: ElfImage, debug_dirs: tuple[str, ...] = ()) -> DebugFiles:
    """The separate debug file and the packed symbols of `image`; never raises for a bad candidate."""
    found = DebugFiles()
    if has_line_tables(image) and image.section(".symtab") is not None:
        return found
    for path, checksum in _iter_candidates(image, (*debug_dirs, SYSTEM_DEBUG_DIRECTORY)):
        if path in found.looked_at:
            continue
        found.looked_at.append(path)
        if not os.path.isfile(path) or _is_same_file(path, image.path):
            continue
        try:
            found.separate = _open_matching(path, image, checksum)
            break
        except SymbolError as error:
            found.complaints.append(str(error))
    if image.section(".symtab") is None and found.separate is None:
        found.mini = _open_mini(image, found.complaints)
    return found


def has_line_tables(image: ElfImage) -> bool:
    """Whether the image itself holds DWARF line tables, plain or compressed."""
    sections = (image.section(".debug_line"), image.section(".zdebug_line"))
    return any(section is not None and section.kind != SHT_NOBITS and section.size_bytes for section in sections)


def _iter_candidates(image: ElfImage, directories: tuple[str, ...]) -> Iterator[tuple[str, int | None]]:
    """(path, checksum it must have or None)."""
    if image.build_id:
        for directory in directories:
            yield build_id_path(directory, image.build_id), None
        yield os.path.join(cache_directory(), image.build_id.hex(), "debuginfo"), None
    name, checksum = _debug_link(image)
    if name and os.path.isabs(image.path):
        here = os.path.dirname(os.path.realpath(image.path))
        yield os.path.join(here, name), checksum
        yield os.path.join(here, ".debug", name), checksum
        for directory in directories:
            yield os.path.join(directory, here.lstrip("/"), name), checksum
            yield os.path.join(directory, name), checksum


def _debug_link(image: ElfImage) -> tuple[str, int]:
    """The name in .gnu_debuglink and the CRC-32 beside it; an empty name where there is none."""
    data = image.data(image.section(".gnu_debuglink"))
    end = data.find(b"\0")
    checksum_at = end + 4 & ~3
    name = data[:max(end, 0)].decode("utf-8", "surrogateescape")
    if not name or "/" in name or checksum_at + 4 > len(data):
        return "", 0
    return name, int.from_bytes(data[checksum_at:checksum_at + 4], "little")


def _is_same_file(path: str, other: str) -> bool:
    try:
        return os.path.samefile(path, other)
    except OSError:
        return False


def _open_matching(path: str, image: ElfImage, checksum: int | None) -> ElfImage:
    """The debug file at `path`; SymbolError when it is not that of `image`."""
    candidate = ElfImage(path)
    try:
        if candidate.build_id != image.build_id:
            raise SymbolError(f"{path} is not used: its build id is not that of {image.path}.")
        if checksum is not None and _crc32_of_file(path) != checksum:
            raise SymbolError(f"{path} is not used: its checksum is not the one that {image.path} names.")
    except SymbolError:
        candidate.close()
        raise
    return candidate


def _crc32_of_file(path: str) -> int:
    checksum = 0
    try:
        with open_binary(path, may_follow=True) as stream:
            while piece := stream.read(_CHECKSUM_STEP_BYTES):
                checksum = zlib.crc32(piece, checksum)
    except OSError as error:
        raise SymbolError(f"{path} cannot be read: {error.strerror}.") from error
    return checksum


def _open_mini(image: ElfImage, complaints: list[str]) -> ElfImage | None:
    packed = image.data(image.section(".gnu_debugdata"))
    if not packed:
        return None
    try:
        data = lzma.LZMADecompressor(memlimit=_LARGEST_MINI_DEBUG_BYTES).decompress(packed, _LARGEST_MINI_DEBUG_BYTES)
        mini = ElfImage.from_bytes(image.path + "(.gnu_debugdata)", data)
    except (lzma.LZMAError, EOFError, SymbolError) as error:
        complaints.append(f"The packed symbols of {image.path} are not used: {error}")
        return None
    if mini.build_id not in (None, image.build_id):
        complaints.append(f"The packed symbols of {image.path} are not used: they carry another build id.")
        return None
    return mini


def find_supplement(image: ElfImage, debug_dirs: tuple[str, ...] = ()) -> ElfImage | None:
    """The file that `dwz` moved shared strings to (.gnu_debugaltlink), open, or None."""
    data = image.data(image.section(".gnu_debugaltlink"))
    end = data.find(b"\0")
    if end <= 0:
        return None
    name, build_id = data[:end].decode("utf-8", "surrogateescape"), data[end + 1:]
    candidates = [str(Path(os.path.realpath(image.path)).parent / name)]
    if build_id:
        candidates += [build_id_path(directory, build_id) for directory in (*debug_dirs, SYSTEM_DEBUG_DIRECTORY)]
    for path in candidates:
        try:
            supplement = ElfImage(path)
        except SymbolError:
            continue
        if supplement.build_id == build_id:
            return supplement
        supplement.close()
    return None
