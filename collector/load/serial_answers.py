"""serial_answers -- columns of numbers, and the answers that consist of them, as bytes (docs/profile-file.md)"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Sequence
from operator import ge
from typing import TYPE_CHECKING, Any

from collector.named_tuple import NamedTuple
from collector.profile.causes import STACK_ENDS
from collector.profile.samples import CallSums, Cells, Columns, EdgeSums, GroupSums

if TYPE_CHECKING:
    from collector.profile.place_sums import PlaceSums

Document = dict[str, Any]


def pack_column(kind: str, values: Iterable[float]) -> bytes:
    """Numbers of a type code of array as bytes, little-endian."""
    if sys.byteorder == "big":
        column = array(kind, values)
        column.byteswap()
        return column.tobytes()
    if isinstance(values, (array, memoryview)) and memoryview(values).format == kind:
        return values.tobytes()
    return array(kind, values).tobytes()


def read_column(kind: str, data: bytes) -> Sequence[Any]:
    """The numbers of a column: where they lie, if this machine has them so."""
    if sys.byteorder == "little":
        return memoryview(data).cast(kind)  # type: ignore[call-overload, no-any-return]
    column = array(kind)
    column.frombytes(data)
    column.byteswap()
    return column


def check_positions(numbers: Sequence[int], count: int) -> None:
    """ValueError if one of the numbers is no position in a table of `count` rows."""
    if max(numbers, default=-1) >= count:
        raise ValueError("a number points nowhere")


def pack_answer(answer: Any) -> Document:
    """What a method of `samples.Samples` gave."""
    if isinstance(answer, Cells):
        cells = pack_column("I", answer.threads), pack_column("Q", answer.counts), [pack_column("d", column) for column in answer.values]
        return {"threads": cells[0], "ends": list(answer.ends), "counts": cells[1], "values": cells[2]}
    from collector.profile.place_sums import PlaceSums  # most reports have them neither to write nor to read

    if isinstance(answer, PlaceSums):
        places = [list(place) for place in answer.places]
        return {"places": places, "groups": pack_column("i", answer.groups), "columns": [pack_column("f", column) for column in answer.columns]}
    columns = answer._asdict()
    return {name: _pack_sums(column) if isinstance(column, tuple) else pack_column("I", column) for name, column in columns.items()}


def _pack_sums(columns: Columns) -> list[object]:
    """How many sums there are, then each column; one that is all zero has no bytes."""
    zeros, packed = bytes(8 * len(columns[0])), [pack_column("d", column) for column in columns]
    return [len(columns[0]), *(b"" if column == zeros else column for column in packed)]


class Sizes(NamedTuple):
    """How many rows the tables of a profile have; `groups` is more than any grouping has."""

    functions: int
    groups: int
    modules: int
    threads: int
    base_metrics: int


def read_answer(kind: str, packed: Document, sizes: Sizes) -> object:
    """What a method gave, by its name. ValueError, or whatever comes of it, if it contradicts itself."""
    if kind == "cells":
        return _read_cells(packed, sizes)
    if kind == "place_sums":
        return _read_place_sums(packed, sizes)
    if kind == "sum_groups":
        return GroupSums(*(_read_sums(packed[name], sizes.groups, sizes) for name in ("exclusive", "inclusive")))
    return _read_calls(packed, sizes) if kind == "call_sums" else _read_edges(packed, sizes)


def _read_cells(packed: Document, sizes: Sizes) -> Cells:
    values: Columns = tuple(read_column("d", column) for column in packed["values"])
    cells = Cells(read_column("I", packed["threads"]), packed["ends"], read_column("Q", packed["counts"]), values)
    check_positions(cells.threads, sizes.threads)
    if len(values) != sizes.base_metrics or {len(cells.threads)} != {len(cells.ends), len(cells.counts), *map(len, values)}:
        raise ValueError("columns of different lengths")
    if not STACK_ENDS.keys() >= set(cells.ends):
        raise ValueError("an unknown end of stacks")
    return cells


def _read_place_sums(packed: Document, sizes: Sizes) -> PlaceSums:
    from collector.profile.place_sums import Place, PlaceSums

    places = [Place(*place) for place in packed["places"]]
    if any((type(place.node), type(place.rank)) != (str, int) for place in places):
        raise ValueError("a place is none")
    groups: Sequence[int] = read_column("i", packed["groups"])
    check_positions(groups, max(sizes.functions, sizes.modules))
    check_positions([-1 - group for group in groups if group < 0], sizes.modules)
    columns: Columns = tuple(read_column("f", column) for column in packed["columns"])
    if len(columns) != 2 * sizes.base_metrics or {len(groups) * len(places)} != set(map(len, columns)):
        raise ValueError("columns of different lengths")
    return PlaceSums(places, groups, columns)


def _read_calls(packed: Document, sizes: Sizes) -> CallSums:
    parents, groups = read_column("I", packed["parents"]), read_column("I", packed["groups"])
    check_positions(groups[1:], sizes.functions)
    if len(parents) != len(groups) or any(map(ge, parents[1:], range(1, len(parents)))):
        raise ValueError("a caller does not stand before its callees")
    names = "finished", "unfinished", "finished_inclusive", "unfinished_inclusive"
    return CallSums(parents, groups, *(_read_sums(packed[name], len(parents), sizes, len(parents)) for name in names))


def _read_edges(packed: Document, sizes: Sizes) -> EdgeSums:
    callers, callees = read_column("I", packed["callers"]), read_column("I", packed["callees"])
    check_positions(callers, sizes.functions + 1)
    check_positions(callees, sizes.functions)
    if len(callers) != len(callees):
        raise ValueError("columns of different lengths")
    outermost, innermost = (_read_sums(packed[name], len(callers), sizes, len(callers)) for name in ("outermost", "innermost"))
    return EdgeSums(callers, callees, outermost, innermost, _read_sums(packed["exclusive"], sizes.functions, sizes, sizes.functions))


def _read_sums(packed: Sequence[Any], most: int, sizes: Sizes, least: int = 0) -> Columns:
    count, *columns = packed
    if not least <= count <= most or len(columns) != sizes.base_metrics or any(len(column) not in (0, 8 * count) for column in columns):
        raise ValueError("columns of different lengths")
    zeros = bytes(8 * count)
    return tuple(read_column("d", column or zeros) for column in columns)
