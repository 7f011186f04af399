"""test_instructions -- the time of a leaf is its instruction's; that of a caller belongs to the call before its return address"""

from __future__ import annotations

from tiny_profile import build_profile

from collector.cli.reporting.disassembly import listings_of
from collector.profile.instructions import annotate, code_times
from collector.profile.model import Code, Frame, Profile

CODE = [(0x10, "push"), (0x11, "call leaf"), (0x16, "add"), (0x18, "call main"), (0x1D, "ret")]


def at_addresses(profile: Profile, addresses: dict[tuple[str, int], tuple[int, int]]) -> Profile:
    """`addresses` gives frames (function, line) an address and the number of their code."""
    frames = []
    for frame in profile.frames:
        address, code = addresses.get((profile.functions[frame.function].name, frame.line or 0), (0, -1))
        frames.append(Frame(frame.function, frame.file, frame.line, address, "dynamic" if code >= 0 else "native", code))
    return profile._replace(frames=tuple(frames), codes=(Code(0x10, 0x1E), Code(0x110, 0x11E)))


def times(rows) -> dict[str, tuple[float, float]]:
    return {row.text: (row.exclusive[0], row.inclusive[0]) for row in rows if any(row.inclusive)}


def test_leaves_and_calls() -> None:
    profile = at_addresses(
        build_profile([("main:1", 2, 0), ("main:2;leaf:9", 3, 1), ("main:3", 0.5, 0)]), {("main", 1): (0x16, -1), ("main", 2): (0x16, -1), ("main", 3): (0x17, -1)}
    )
    (piece,) = code_times(profile, 0)
    rows = annotate(piece, CODE, {0x16: ("/src/main.c", 5)}, 3)
    # 0x16 is the `add` for a leaf, and behind the call for a caller; 0x17 lies inside the `add`.
    assert times(rows) == {"add": (2.5, 2.5), "call leaf": (0.0, 4.0)}
    assert [(row.file, row.line) for row in rows if row.text == "add"] == [("/src/main.c", 5)]
    assert (piece.own_s, piece.called_s) == (2.5, 4.0)


def test_recursion_counts_once_for_each_call() -> None:
    profile = at_addresses(
        build_profile([("main:4;main:4;main:4;main:1", 2, 0)]), {("main", 1): (0x16, -1), ("main", 4): (0x1D, -1)}
    )
    (piece,) = code_times(profile, 0)
    assert times(annotate(piece, CODE, {}, 3)) == {"add": (2.0, 2.0), "call main": (0.0, 2.0)}


def test_each_place_where_a_function_was_is_apart_and_the_busiest_first() -> None:
    profile = at_addresses(build_profile([("main:1", 1, 0), ("main:2", 3, 0)]), {("main", 1): (0x16, 0), ("main", 2): (0x116, 1)})
    assert [(piece.code, piece.own_s) for piece in code_times(profile, 0)] == [(1, 3.0), (0, 1.0)]


def test_addresses_outside_the_code_are_left_out() -> None:
    profile = at_addresses(build_profile([("main:1", 1, 0)]), {("main", 1): (0x5, -1)})
    (piece,) = code_times(profile, 0)
    assert times(annotate(piece, CODE, {}, 3)) == {}


def test_time_behind_the_bytes_that_were_kept_stands_apart() -> None:
    """Of long functions only the first bytes are kept: what runs behind them is not the last instruction that is known."""
    profile = at_addresses(build_profile([("main:1", 2, 0), ("main:2", 3, 0)]), {("main", 1): (0x11, 0), ("main", 2): (0x1A, 0)})
    codes = (Code(0x10, 0x1E, b"\x90\x90\xc3"), profile.codes[1])
    (listing,) = listings_of(profile._replace(codes=codes, recordings=(profile.recordings[0]._replace(machine="x86_64"),)), 0)
    assert [(row.text, row.exclusive[0]) for row in listing.rows] == [("nop", 0.0), ("nop", 2.0), ("ret", 0.0), ("(not kept)", 3.0)]
    assert listing.note == "the first 3 bytes of it were kept"
