"""module_files -- the files that a module's functions, lines and inlined calls are read from, and their places in an archive

The module itself, its debug file, what dwz moved out of either, and the .dwo files of units with samples, or the .dwp file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from collector.symbols.archive import place_of_debug_file, place_of_module, place_of_split_unit
from collector.symbols.debug_files import find_debug_files, find_supplement, has_line_tables
from collector.symbols.elf_image import ElfImage
from collector.symbols.split_units import SplitUnit


@dataclass(frozen=True, slots=True)
class NeededFile:
    """A file to be read, and its place below an archive."""

    path: str
    place: str


def needed_files(
    image: ElfImage, path: str, build_id: bytes | None, debug_dirs: tuple[str, ...], split_units: Iterable[SplitUnit]
) -> Iterator[NeededFile]:
    """What of a module is to be read besides `image`, its file, which was at `path` when it was recorded."""
    holder = image, place_of_module(path, build_id)
    debug_files = find_debug_files(image, debug_dirs)
    try:
        separate = debug_files.separate
        if separate is not None:
            place = _place_of_separate(separate, holder[1])
            yield NeededFile(separate.path, place)
            yield from _supplement(separate, debug_dirs)
            if not has_line_tables(image):
                holder = separate, place
        yield from _supplement(image, debug_dirs)
    finally:
        debug_files.close()
    for unit in split_units:
        package = holder[1].removesuffix(".debug") + ".dwp"
        yield NeededFile(unit.file, package if unit.is_packaged else place_of_split_unit(unit.path))


def _place_of_separate(separate: ElfImage, place: str) -> str:
    """Where readers find it: by its build id, or by its name beside the module."""
    if separate.build_id:
        return place_of_debug_file(separate.build_id)
    return str(PurePosixPath(place).parent / ".debug" / PurePosixPath(separate.path).name)


def _supplement(image: ElfImage, debug_dirs: tuple[str, ...]) -> Iterator[NeededFile]:
    supplement = find_supplement(image, debug_dirs)
    if supplement is not None:
        with supplement:
            yield NeededFile(supplement.path, place_of_debug_file(supplement.build_id or b""))
