"""instructions -- the disassembly of the busiest functions as the page has it, and the addresses that cells tell apart for them"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from collector.printable import printable
from collector.profile.groupings import by_frame
from collector.profile.instructions import InstructionRow, Listing
from collector.profile.model import Frame, Profile

Listings = Mapping[int, "tuple[Listing, ...] | str"]
"""By function: its pieces of code, or a sentence that says why there are none."""

_LONG: Final = 4000
_MARGIN: Final = 40


class Places(NamedTuple):
    """A number for each sampled address of the listings: of all frames (-1 for others), and with its row by function and piece."""

    of_frames: list[int]
    of_rows: dict[tuple[int, int], list[tuple[int, int]]]


def places_of(profile: Profile, listings: Listings) -> Places:
    """The addresses at which the listed functions were sampled: as leaf, or behind a call, whose row is that of the call."""
    exclusive = profile.samples.sum_groups(by_frame(profile)).exclusive
    places = Places([-1] * len(profile.frames), {})
    count = 0
    known = {function: made for function, made in listings.items() if not isinstance(made, str)}
    for start, end in _addresses(profile.frames):
        listed = {profile.frames[frame].function: frame for frame in reversed(range(start, end)) if profile.frames[frame].function in known}
        for function, first in listed.items():
            is_called = not any(any(column[first:end]) for column in exclusive)
            address, code = profile.frames[first].address - is_called, profile.frames[first].code
            piece, row = _row_of(known[function], code, address)
            if row >= 0:
                places.of_rows.setdefault((function, piece), []).append((row, count))
        if listed:
            first = min(listed.values())
            places.of_frames[first:end] = [count] * (end - first)
            count += 1
    return places


def _addresses(frames: Sequence[Frame]) -> Iterator[tuple[int, int]]:
    """Where the frames of each address begin, and end."""
    starts = [place for place, frame in enumerate(frames) if frame.kind != "inlined"]
    return zip(starts, [*starts[1:], len(frames)])


def _row_of(listings: Sequence[Listing], code: int, address: int) -> tuple[int, int]:
    for piece, listing in enumerate(listings):
        if listing.rows and listing.code == code and listing.rows[0].address <= address < listing.end:
            return piece, bisect_right(listing.rows, address, key=lambda row: row.address) - 1
    return -1, -1


def disassembly_of(listings: Listings, places: Places) -> list[dict[str, Any]]:
    """The functions in the order in which they are given, each with its pieces; of long ones what is far from any time is left out."""
    return [
        {"function": function, "note": printable(made), "pieces": []}
        if isinstance(made, str)
        else {"function": function, "note": "", "pieces": [_piece(listing, places.of_rows.get((function, piece), [])) for piece, listing in enumerate(made)]}
        for function, made in listings.items()
    ]


def _piece(listing: Listing, places: Sequence[tuple[int, int]]) -> dict[str, Any]:
    """`rows` are [address, text, number of the file, line]; `places` are [row, place], those of a row behind each other."""
    shown = _shown(listing.rows)
    files = list(dict.fromkeys(row.file for row in listing.rows if row.file))
    numbers = {path: number for number, path in enumerate(files)}
    rows = [listing.rows[index] for index in shown]
    shown_at = {index: place for place, index in enumerate(shown)}
    return {
        "title": printable(listing.title),
        "note": printable(listing.note),
        "hidden": len(listing.rows) - len(shown),
        "files": [printable(path) for path in files],
        "index": shown if len(shown) < len(listing.rows) else [],
        "rows": [[f"{row.address:x}", printable(row.text), numbers.get(row.file or "", -1), row.line or 0] for row in rows],
        "places": sorted([shown_at[row], place] for row, place in places if row in shown_at),
    }


def _shown(rows: Sequence[InstructionRow]) -> list[int]:
    if len(rows) <= _LONG:
        return list(range(len(rows)))
    near = {other for index, row in enumerate(rows) if any(row.inclusive) for other in range(index - _MARGIN, index + _MARGIN + 1)}
    return sorted(index for index in near if 0 <= index < len(rows))
