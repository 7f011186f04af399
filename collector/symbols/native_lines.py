"""native_lines -- line programs, run by libcollector_analysis (libcollector_c/dwarf/lines.h) where it is there"""

from __future__ import annotations

from array import array

import collector.symbols.native_modules as native

LineRows = tuple["array[int]", "array[int]", "array[int]"]
"""Addresses, file numbers and lines."""


def is_available() -> bool:
    """Whether the library is there."""
    return native.library() is not None


def run_line_program(
    data: bytes, program_at: int, operand_counts: tuple[int, ...], minimum_bytes: int, line_base: int, line_range: int
) -> list[LineRows]:
    """The sequences of a line program that begins at `program_at`; operand_counts are by opcode. Raises DamagedImageError."""
    library, rows = native.library(), native.LineRows()
    program = native.LineProgram(
        native.address_of(data) + program_at, len(data) - program_at, bytes(operand_counts), minimum_bytes, line_base, line_range, len(operand_counts)
    )
    reader = library.col_lines_open()
    if not reader:
        raise MemoryError
    try:
        status = library.col_lines_run(reader, native.by_reference(program), native.by_reference(rows))
        native.check(status, "DWARF data ends in the middle of a line program.")
        addresses = native.array_at("Q", rows.addresses, rows.row_count)
        files, lines = (native.array_at("I", where, rows.row_count) for where in (rows.files, rows.lines))
        ends = native.array_at("Q", rows.ends, rows.sequence_count)
    finally:
        library.col_lines_close(reader)
    return [(addresses[a:b], files[a:b], lines[a:b]) for a, b in zip((0, *ends), ends)]
