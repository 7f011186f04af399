"""pmclog_build -- programs with libpmclog's sources in them, or those that read modules, under ASan and UBSan or for speed"""

from __future__ import annotations

from pathlib import Path

import compiled
from compiled import WARNINGS, find_compiler

NATIVE = compiled.NATIVE
READS_LOGS = ("checksum", "columns", "cursor", "frame_finder", "stream")
"""Of the parser what the analysis has in it, too."""


def build(session: Path, source: Path, options: list[str] | None = None, more: tuple[str, ...] = ()) -> Path:
    """The program of `source`, compiled without a warning, with the parser in it; `more` is for the program alone."""
    parts = sorted((NATIVE / "pmclog").glob("*.c"))
    return compiled.program(session, source, parts, *(compiled.SANITIZED if options is None else options), compiler=find_compiler(), more=(*WARNINGS, *more))


def build_reader(session: Path, name: str, folder: str, others: tuple[str, ...] = ("analysis/array",)) -> Path:
    """tests/c/NAME.c with the sources of libcollector_c/`folder` in it, and others, under the sanitizers."""
    parts = [*sorted((NATIVE / folder).glob("*.c")), *(NATIVE / f"{other}.c" for other in others)]
    return compiled.program(session, compiled.HERE / f"{name}.c", parts, *compiled.SANITIZED, compiler=find_compiler(), more=WARNINGS)
