"""instructions -- the disassembly of the busiest functions as the page has it; times are of the whole recording, as samples are kept by line there"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from collector.printable import printable
from collector.profile.instructions import InstructionRow, Listing
from collector.profile.model import Profile

Listings = Mapping[int, "tuple[Listing, ...] | str"]
"""By function: its pieces of code, or a sentence that says why there are none."""

_LONG: Final = 4000
_MARGIN: Final = 40


def disassembly_of(profile: Profile, listings: Listings) -> list[dict[str, Any]]:
    """The functions in the order in which they are given, each with its pieces; of long ones what is far from any time is left out."""
    names = [metric.name for metric in profile.metrics]
    return [
        {"function": function, "note": printable(made), "pieces": []}
        if isinstance(made, str)
        else {"function": function, "note": "", "pieces": [_piece(listing, names) for listing in made]}
        for function, made in listings.items()
    ]


def _piece(listing: Listing, names: Sequence[str]) -> dict[str, Any]:
    """`rows` are [address, text, number of the file, line]; `times` are [row, exclusive, inclusive], both by the metrics' names in `metrics`."""
    shown = _shown(listing.rows)
    files = list(dict.fromkeys(row.file for row in listing.rows if row.file))
    numbers = {path: number for number, path in enumerate(files)}
    rows = [listing.rows[index] for index in shown]
    return {
        "title": printable(listing.title),
        "note": printable(listing.note),
        "hidden": len(listing.rows) - len(shown),
        "files": [printable(path) for path in files],
        "index": shown if len(shown) < len(listing.rows) else [],
        "rows": [[f"{row.address:x}", printable(row.text), numbers.get(row.file or "", -1), row.line or 0] for row in rows],
        "metrics": list(names),
        "times": [[place, _rounded(row.exclusive), _rounded(row.inclusive)] for place, row in enumerate(rows) if any(row.inclusive)],
    }


def _shown(rows: Sequence[InstructionRow]) -> list[int]:
    if len(rows) <= _LONG:
        return list(range(len(rows)))
    near = {other for index, row in enumerate(rows) if any(row.inclusive) for other in range(index - _MARGIN, index + _MARGIN + 1)}
    return sorted(index for index in near if 0 <= index < len(rows))


def _rounded(values: Sequence[float]) -> list[float]:
    return [round(value, 9) for value in values]
