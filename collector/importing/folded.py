"""folded -- stacks folded into lines, as flamegraph.pl takes them: `main;work;leaf 42`"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from collector.importing.model import (
    MOST_COUNTED,
    ImportedFunction,
    ImportedLine,
    ImportedLocation,
    ImportedModule,
    ImportedProcess,
    ImportedProfile,
    ImportedStacks,
    ImportedThread,
    ImportedValue,
)
from collector.importing.source_file import HEAD_BYTES, SourceFile, text_of

NAME: Final = "folded"
_WEIGHT: Final = re.compile(rb"\d{1,19}(?:\.\d{0,9})?")
_SAMPLE_NS: Final = 1_000_000
_MOST_DECIMALS: Final = 6
_ZERO: Final = Decimal(0)
_JUDGED_LINES: Final = 20


def is_folded(head: bytes) -> bool:
    """Whether text begins like folded stacks."""
    whole, end, cut = head.rpartition(b"\n")
    if len(head) < HEAD_BYTES:
        whole += end + cut
    elif not end:
        return b";" in head and b"\0" not in head  # a stack of thousands of frames
    lines = [line for line in whole.split(b"\n")[:_JUDGED_LINES] if line.strip() and not line.startswith(b"#")]
    return bool(lines) and sum(_split(line) is not None for line in lines) * 2 >= len(lines)


def read_folded(source: SourceFile, value_name: str | None) -> ImportedProfile:
    """The profile. ForeignProfileError if a line is none of folded stacks."""
    if value_name not in (None, "samples"):
        raise source.refuse(f"has one value, samples, and no {value_name!r}")
    table, frames = ImportedStacks(), dict[bytes, int]()
    weights: dict[int, Decimal] = {}
    number = 0
    for lines in source.pieces(b"\n"):
        for line in lines:
            number += 1
            parts = _split(line)
            if parts is None:
                if not line.strip() or line.startswith(b"#"):
                    continue
                raise source.refuse(f"is damaged: line {number} is not a stack and its weight")
            stack = table.stack(tuple([frames.get(name) or _frame(table, frames, name) for name in parts[0].split(b";")]))
            weights[stack] = weights.get(stack, _ZERO) + Decimal(text_of(parts[1]))
    decimals = max((len(f"{weight:f}".partition(".")[2]) for weight in weights.values()), default=0)
    if decimals > _MOST_DECIMALS:
        raise source.refuse(f"has weights of {decimals} decimals, which is more than the {_MOST_DECIMALS} that can be kept")
    scale = 10**decimals
    value = ImportedValue("samples", f"samples/{scale}" if decimals else "samples", _SAMPLE_NS // scale, False)
    thread = ImportedThread(1, "")
    has_sums = decimals > 0 or sum(weights.values()) > MOST_COUNTED
    for stack, weight in weights.items():
        if has_sums:
            thread.add(0, int(weight * scale), stack)
        elif weight:
            thread.add_several(int(weight), int(weight), stack)
    return ImportedProfile(NAME, value, table.locations, table.stacks, processes=[ImportedProcess(1, "", [thread])], has_sums=has_sums)


def _split(line: bytes) -> tuple[bytes, bytes] | None:
    """Stack and weight, if that is what a line is; in time that is proportional to its length."""
    whole = line.rstrip()
    place = max(whole.rfind(b" "), whole.rfind(b"\t"))
    return (whole[:place].rstrip(), whole[place + 1 :]) if place > 0 and _WEIGHT.fullmatch(whole, place + 1) else None


def _frame(table: ImportedStacks, frames: dict[bytes, int], name: bytes) -> int:
    number = frames[name] = table.location(ImportedLocation(ImportedModule(), None, (ImportedLine(ImportedFunction(text_of(name))),)))
    return number
