"""native_functions -- tables of functions, made by libcollector_analysis (libcollector_c/elf/function_table.h) where it is there"""

from __future__ import annotations

import errno
from array import array
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import collector.symbols.native_modules as native
from collector.symbols.pieces import aliases_of_wholes

if TYPE_CHECKING:
    from collector.symbols.elf_image import ElfImage

Functions = tuple["array[int]", "array[int]", "array[int]", "array[int]", bytes, dict[str, list[int]]]
"""Starts, ends, starts of functions, offsets of names, names and aliases, as FunctionTable keeps them."""

_HIGHEST = (1 << 64) - 1


def read_functions(image: ElfImage, debug_images: Sequence[ElfImage]) -> Functions | None:
    """The functions of a module; None if the library is not there, or leaves the file to the reader in Python."""
    if native.library() is None:
        return None
    reader = _Reader(image)
    try:
        return reader.read([image, *debug_images])
    finally:
        reader.close()


def find_functions(starts: array[int], ends: array[int], addresses: Sequence[int]) -> array[int] | None:
    """By address, the number of the piece [start, end) that holds it, or 2^32 - 1; None if the library is not there, or an address is none."""
    library = native.library()
    if library is None:
        return None
    try:
        asked = array("Q", addresses)
    except OverflowError:
        return None
    numbers = array("I", bytes(4 * len(asked)))
    count = min(len(starts), len(ends))
    library.col_functions_find(starts.buffer_info()[0], ends.buffer_info()[0], count, asked.buffer_info()[0], len(asked), numbers.buffer_info()[0])
    return numbers


class _Reader:
    def __init__(self, image: ElfImage) -> None:
        self._image = image
        self._library = native.library()
        self._code = array("Q", chain.from_iterable(image.code_ranges))
        self._handle = self._library.col_functions_open()
        if not self._handle:
            raise MemoryError

    def close(self) -> None:
        self._library.col_functions_close(self._handle)

    def read(self, images: list[ElfImage]) -> Functions | None:
        from collector.symbols.frame_ranges import find_frames
        from collector.symbols.plt_names import iter_plt_stubs
        from collector.symbols.symbol_source import iter_symbol_tables

        frames, address = find_frames(self._image)
        texts = list(iter_symbol_tables(images))
        tables = (native.SymbolTable * len(texts))(*[native.SymbolTable(_bytes(text.entries), _bytes(text.strings), text.room) for text in texts])
        names = native.FunctionNames()
        code = self._code.buffer_info()[0]
        status = self._library.col_functions_read(self._handle, tables, len(texts), code, len(self._code) // 2, native.by_reference(names))
        if not _is_read(status) or not 0 <= address <= _HIGHEST:
            return None
        stubs = iter_plt_stubs(self._image, self._name_at)
        if any(start > _HIGHEST for start, _, _ in stubs):
            return None
        aliases = zip(native.array_at("Q", names.alias_starts, names.alias_count), _split(names.aliases, names.alias_bytes))
        wholes = aliases_of_wholes(_split(names.pieces, names.piece_bytes), aliases)
        pieces = self._lay(stubs, frames, address)
        return (*pieces, wholes) if pieces is not None else None

    def _lay(self, stubs: list[tuple[int, int, str]], frames: bytes, address: int) -> Any:
        starts, sizes = array("Q", [start for start, _, _ in stubs]), array("Q", [size for _, size, _ in stubs])
        names = b"".join(name.encode() + b"\0" for _, _, name in stubs)
        given = native.FunctionStubs(starts.buffer_info()[0], sizes.buffer_info()[0], len(stubs), names, len(names))
        found = native.FunctionPieces()
        described = native.by_reference(_bytes(frames))
        if not _is_read(self._library.col_functions_lay(self._handle, native.by_reference(given), described, address, native.by_reference(found))):
            return None
        numbers = [native.array_at("Q", where, found.count) for where in (found.starts, found.ends, found.function_starts)]
        return *numbers, native.array_at("I", found.name_offsets, found.count), native.bytes_at(found.names, found.name_bytes)

    def _name_at(self, address: int) -> str | None:
        if not 0 <= address <= _HIGHEST:
            return None
        size = native.SIZE()
        name = self._library.col_functions_name_at(self._handle, address, native.by_reference(size))
        return native.bytes_at(name, size.value).decode() if name else None


def _is_read(status: int) -> bool:
    if status != -errno.ENOTSUP:
        native.check(status, "A table of functions cannot be read.")
    return status == 0


def _bytes(data: bytes) -> Any:
    return native.Bytes(data or None, len(data))


def _split(names: int | None, size_bytes: int) -> list[str]:
    return native.bytes_at(names, size_bytes).decode().split("\0")[:-1]
