"""native_modules -- the functions of libcollector_analysis that read modules (libcollector_c/dwarf and elf), if it is there"""

from __future__ import annotations

from array import array
from functools import cache
from mmap import mmap
from typing import Any

try:
    import ctypes
except ImportError:  # a Python built without libffi
    ctypes = None  # type: ignore[assignment]

from collector import native_library
from collector.errors import DamagedImageError

if ctypes is not None:
    SIZE, POINTER = ctypes.c_size_t, ctypes.c_void_p

    class Bytes(ctypes.Structure):
        """A section."""

        _fields_ = [("start", ctypes.c_char_p), ("size", SIZE)]

    class Attribute(ctypes.Structure):
        """An attribute of an abbreviation."""

        _fields_ = [("name", ctypes.c_uint16), ("form", ctypes.c_uint16), ("bytes", ctypes.c_int8 * 2), ("constant", ctypes.c_int64)]

    class Inlines(ctypes.Structure):
        """The inlined calls of a unit."""

        _fields_ = [
            ("starts", POINTER), ("nodes", POINTER), ("start_count", SIZE), ("parents", POINTER), ("functions", POINTER),
            ("call_files", POINTER), ("call_lines", POINTER), ("node_count", SIZE), ("names", POINTER), ("name_bytes", SIZE),
            ("declared_units", POINTER), ("declared_files", POINTER), ("declared_lines", POINTER), ("function_count", SIZE),
            ("missing", POINTER), ("missing_count", SIZE),
        ]

    class LineProgram(ctypes.Structure):
        """A line program, and what its header says."""

        _fields_ = [
            ("bytes", POINTER), ("size", SIZE), ("operand_counts", ctypes.c_char_p), ("minimum_bytes", ctypes.c_uint8),
            ("line_base", ctypes.c_int8), ("line_range", ctypes.c_uint8), ("opcode_base", ctypes.c_uint8),
        ]

    class LineRows(ctypes.Structure):
        """What a line program made."""

        _fields_ = [
            ("addresses", POINTER), ("files", POINTER), ("lines", POINTER), ("row_count", SIZE), ("ends", POINTER), ("sequence_count", SIZE),
        ]

    class SymbolTable(ctypes.Structure):
        """A symbol table."""

        _fields_ = [("entries", Bytes), ("strings", Bytes), ("room", ctypes.c_uint64)]

    class FunctionNames(ctypes.Structure):
        """What symbol tables say."""

        _fields_ = [
            ("symbol_count", SIZE), ("pieces", POINTER), ("piece_bytes", SIZE), ("alias_starts", POINTER), ("alias_count", SIZE),
            ("aliases", POINTER), ("alias_bytes", SIZE),
        ]

    class FunctionStubs(ctypes.Structure):
        """Stubs of the procedure linkage table."""

        _fields_ = [("starts", POINTER), ("sizes", POINTER), ("count", SIZE), ("names", ctypes.c_char_p), ("name_bytes", SIZE)]

    class FunctionPieces(ctypes.Structure):
        """A table of functions."""

        _fields_ = [
            ("starts", POINTER), ("ends", POINTER), ("function_starts", POINTER), ("name_offsets", POINTER), ("count", SIZE),
            ("names", POINTER), ("name_bytes", SIZE),
        ]

    _PROTOTYPES = {
        "col_dwarf_open": (POINTER, POINTER, POINTER, ctypes.c_uint64),
        "col_dwarf_set_split": (None, POINTER, *[ctypes.c_uint64] * 4),
        "col_dwarf_hold": (ctypes.c_int, POINTER, POINTER, SIZE),
        "col_dwarf_inlines": (ctypes.c_int, POINTER, ctypes.c_uint64, ctypes.POINTER(Inlines)),
        "col_dwarf_close": (None, POINTER),
        "col_dwarf_find_abbreviation": (ctypes.c_int, POINTER, ctypes.c_uint64, ctypes.c_uint64, POINTER, SIZE, POINTER),
        "col_functions_open": (POINTER,),
        "col_functions_read": (ctypes.c_int, POINTER, POINTER, SIZE, POINTER, SIZE, ctypes.POINTER(FunctionNames)),
        "col_functions_name_at": (POINTER, POINTER, ctypes.c_uint64, ctypes.POINTER(SIZE)),
        "col_functions_lay": (ctypes.c_int, POINTER, ctypes.POINTER(FunctionStubs), POINTER, ctypes.c_uint64, ctypes.POINTER(FunctionPieces)),
        "col_functions_find": (None, POINTER, POINTER, SIZE, POINTER, SIZE, POINTER),
        "col_functions_close": (None, POINTER),
        "col_lines_open": (POINTER,),
        "col_lines_run": (ctypes.c_int, POINTER, ctypes.POINTER(LineProgram), ctypes.POINTER(LineRows)),
        "col_lines_close": (None, POINTER),
    }

_MOST_ATTRIBUTES = 64  # of one entry


@cache
def library() -> Any:
    """The library; None if it is not there."""
    if ctypes is None:
        return None
    for path in native_library.iter_paths():
        try:
            loaded = ctypes.CDLL(path)
            for name, (result, *arguments) in _PROTOTYPES.items():
                function = getattr(loaded, name)
                function.restype, function.argtypes = result, arguments
        except (OSError, AttributeError):  # not there, or of another version
            continue
        return loaded
    return None


def check(status: int, sentence: str) -> None:
    """Raise what a status says; `sentence` is for damage."""
    if status == -12:
        raise MemoryError
    if status:
        raise DamagedImageError(sentence)


def find_abbreviation(section: bytes, offset: int, code: int) -> tuple[list[tuple[int, int, int]] | None, int]:
    """[(attribute, form, implicit constant)] of an abbreviation, None if there is none, and how many bytes were read for that."""
    attributes, read_bytes = (Attribute * _MOST_ATTRIBUTES)(), ctypes.c_uint64()
    where = Bytes(section, len(section))
    count = library().col_dwarf_find_abbreviation(by_reference(where), offset, code, attributes, _MOST_ATTRIBUTES, by_reference(read_bytes))
    return [(a.name, a.form, a.constant) for a in attributes[:count]] if count >= 0 else None, read_bytes.value


def bytes_of(memory: mmap) -> Any:
    """A section that lies in memory of its own, which is to be kept as long as this."""
    section = Bytes(None, len(memory))
    section.start = ctypes.cast(ctypes.addressof(ctypes.c_char.from_buffer(memory)), ctypes.c_char_p)
    return section


def by_reference(value: object) -> Any:
    """Its address, for a call."""
    return ctypes.byref(value)  # type: ignore[arg-type]


def address_of(data: bytes) -> int:
    """Where the bytes lie, as long as they are kept."""
    return ctypes.cast(ctypes.c_char_p(data), POINTER).value or 0


def bytes_at(address: int | None, count: int) -> bytes:
    """A copy of what lies at an address."""
    return ctypes.string_at(address, count) if address and count else b""


def array_at(kind: str, address: int | None, count: int) -> array[int]:
    """A copy of the numbers at an address."""
    values = array(kind)
    values.frombytes(bytes_at(address, count * values.itemsize))
    return values
