"""module_record -- the functions of a module, read from its file and its debug files into what the cache keeps

Imported only when the cache does not know the module: most reports need nothing of what it takes to read a file.
"""

from __future__ import annotations

from array import array

from collector.errors import SymbolError
from collector.symbols.cache import Record, signature_of
from collector.symbols.cancellable_calls import may_be_glibc, name_cancellable_calls
from collector.symbols.debug_files import DebugFiles, find_debug_files, has_line_tables
from collector.symbols.elf_image import ElfImage
from collector.symbols.function_table import build_function_table
from collector.symbols.object_module import open_module
from collector.symbols.terms import VDSO_PATH, Layout
from collector.symbols.vdso import open_vdso


def open_file(path: str, layout: Layout) -> ElfImage:
    """The module at `path` in the space of its elf addresses. Raises SymbolError."""
    return open_vdso() if path == VDSO_PATH else open_module(path, layout)


def read_record(path: str, layout: Layout, build_id: bytes | None, debug_dirs: tuple[str, ...]) -> tuple[Record, list[str]]:
    """What the cache is to keep of a module, and complaints about its debug files; SymbolError when it cannot be used."""
    with open_file(path, layout) as image:
        if build_id is not None and image.build_id != build_id:
            raise SymbolError(f"{path} is not the file that was recorded, its build id differs.")
        debug_files = find_debug_files(image, debug_dirs)
        try:
            return _record_of(path, image, debug_files, debug_dirs), debug_files.complaints
        finally:
            debug_files.close()


def _record_of(path: str, image: ElfImage, debug_files: DebugFiles, debug_dirs: tuple[str, ...]) -> Record:
    table = build_function_table(image, debug_files.images())
    if may_be_glibc(path):
        table = table.with_names(name_cancellable_calls(image, table))
    holders = [i for i in (image, debug_files.separate) if i is not None and has_line_tables(i)]
    line_path = holders[0].path if holders else None
    watched = [] if path == VDSO_PATH else [path]
    header = {
        "debug_dirs": list(debug_dirs),
        "evidence": {path: signature_of(path) for path in watched + debug_files.looked_at},
        "line_path": line_path,
        "is_stripped": all(i.section(".symtab") is None for i in (image, *debug_files.images())),
        "line_source": [line_path, *(signature_of(line_path) or [])] if line_path else [],
        "segments": [[s.elf_address, s.file_offset, s.file_bytes, s.memory_bytes, s.is_executable]
                     for s in image.segments],
        "code_ranges": image.code_ranges,
        "aliases": table.aliases,
    }
    return header, {"starts": table.starts, "ends": table.ends, "function_starts": table.function_starts,
                    "name_offsets": table.name_offsets, "names": array("B", table.names)}
