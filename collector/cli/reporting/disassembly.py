"""disassembly -- the instructions of a function, from where its code is now: its file, a copy of it, or the bytes that were kept"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import replace
from typing import cast

from collector.errors import CollectorError, SymbolError
from collector.profile.instructions import CodeTimes, InstructionRow, Listing, Place, annotate, code_times
from collector.profile.model import JAVA, Module, Profile
from collector.profile.names import python_functions
from collector.profile.source_map import SourceMap, moved_path
from collector.symbols.objdump import disassemble
from collector.symbols.symbolizer import Symbolizer
from collector.symbols.terms import Layout
from collector.target.dynamic_code import line_in_table
from collector.units import format_seconds

_PIECES_SHOWN = 16


def listings_of(profile: Profile, function: int, debug_dirs: Iterable[str] = (), source_map: SourceMap | None = None) -> tuple[Listing, ...]:
    """The function's pieces of code, annotated, the busiest first. CollectorError if none of it can be had."""
    if function in python_functions(profile):
        raise CollectorError(f"{profile.functions[function].name} is a Python function: it has no instructions of its own, and its lines are in `source`")
    if any(frame.function == function and frame.kind == JAVA for frame in profile.frames):
        raise CollectorError(f"{profile.functions[function].name} is a Java method: its instructions are not recorded, and its lines are in `source`")
    pieces = code_times(profile, function)
    symbolizer = Symbolizer(has_pieces=True, debug_dirs=debug_dirs)
    for recording in profile.recordings:
        with contextlib.suppress(SymbolError):  # an archive that is not to be used: loading tells why
            symbolizer.add_archive(recording.path)
    made = [_listing_of(profile, symbolizer, function, piece) for piece in pieces[:_PIECES_SHOWN]]
    listings = tuple(listing for part in made for listing in part)
    if not any(listing.rows for listing in listings):
        raise CollectorError(f"{profile.functions[function].name} cannot be disassembled: {listings[0].note}")
    if len(pieces) > _PIECES_SHOWN:
        listings += (Listing(f"... and {len(pieces) - _PIECES_SHOWN} more places in memory where it has been", ()),)
    return tuple(_with_sources_at(listing, source_map) for listing in listings) if source_map else listings


def _with_sources_at(listing: Listing, source_map: SourceMap) -> Listing:
    return replace(listing, rows=tuple(replace(row, file=row.file and moved_path(row.file, source_map)) for row in listing.rows))


def _listing_of(profile: Profile, symbolizer: Symbolizer, function: int, times: CodeTimes) -> list[Listing]:
    try:
        if times.code >= 0:
            return [_dynamic_listing(profile, function, times)]
        return _file_listings(profile, symbolizer, function, times)
    except SymbolError as error:
        return [Listing(profile.modules[profile.functions[function].module].name, (), str(error).rstrip("."))]


def _width(profile: Profile) -> int:
    return len(profile.metrics)


def _dynamic_listing(profile: Profile, function: int, times: CodeTimes) -> Listing:
    code, known = profile.codes[times.code], profile.functions[function]
    size = code.end - code.start
    title = f"made at run time: {size:,} bytes at {code.start:x}, {format_seconds(times.own_s)} s of its own"
    if not code.data:
        return Listing(title, (), "its instructions were not kept: whoever named it did not say what they are")
    instructions = disassemble(code.data, code.start, profile.recordings[0].machine, {code.start: known.name})
    places = {a: (known.file, line_in_table(code.lines, a - code.start)) for a, _ in instructions} if code.lines and known.file else {}
    note = ""
    if len(code.data) < size:
        note = f"the first {len(code.data):,} bytes of it were kept"
        instructions = [*instructions, (code.start + len(code.data), "(not kept)")]
    return Listing(title, annotate(times, instructions, places, _width(profile)), note, times.code, code.end)


def _file_listings(profile: Profile, symbolizer: Symbolizer, function: int, times: CodeTimes) -> list[Listing]:
    known = profile.functions[function]
    module = profile.modules[known.module]
    if module.layout == "imported":
        raise SymbolError(f"it was imported, and nothing says which build of {module.path} it was")
    path, build_id = module.copy or module.path, bytes.fromhex(module.build_id) or None
    wanted = {*times.exclusive, *(address - 1 for address in times.called)} or times.idle
    ranges = symbolizer.code_of(path, build_id, wanted, _layout_of(module), module.file)
    listings = []
    for start, data in ranges:
        if data:
            rows = _file_rows(profile, module, symbolizer, times, start, data)
            symbol = symbolizer.locate_many(path, build_id, (start,), _layout_of(module), module.file)[start].raw_name
            title = f"{module.path}, from {start:x}" + (f" ({symbol})" if symbol != known.raw_name else "")
            listings.append(Listing(title, rows, end=start + len(data)))
    if not listings:
        raise SymbolError(symbolizer.warnings[0] if symbolizer.warnings else f"where it begins and ends in {module.path} is not known, or the file is not here")
    return listings


def _layout_of(module: Module) -> Layout:
    """The word that the loader wrote down; a profile, which knows nothing of symbols, keeps it as text."""
    return cast(Layout, module.layout)


def _file_rows(profile: Profile, module: Module, symbolizer: Symbolizer, times: CodeTimes, start: int, data: bytes) -> tuple[InstructionRow, ...]:
    end = start + len(data)
    path, build_id = module.copy or module.path, bytes.fromhex(module.build_id) or None
    names = symbolizer.names_in_code(path, build_id, _layout_of(module), module.file)
    instructions = disassemble(data, start, profile.recordings[0].machine, names)
    located = symbolizer.locate_many(path, build_id, (address for address, _ in instructions), _layout_of(module), module.file)
    places: dict[int, Place] = {address: (where.file, where.line) for address, where in located.items()}
    within = CodeTimes(
        times.code,
        {address: values for address, values in times.exclusive.items() if start <= address < end},
        {address: values for address, values in times.called.items() if start < address <= end},
    )
    return annotate(within, instructions, places, _width(profile))
