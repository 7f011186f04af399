"""serial_answers -- columns of numbers, and the answers that consist of them, as bytes (docs/profile-file.md)"""

from __future__ import annotations

import dataclasses
import sys
from array import array
from collections.abc import Iterable, Sequence
from operator import ge
from typing import Any

from collector.profile.samples import CallSums, Cells, Columns, EdgeSums, GroupSums

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
    columns = {field.name: getattr(answer, field.name) for field in dataclasses.fields(answer)}
    return {name: _pack_sums(column) if isinstance(column, tuple) else pack_column("I", column) for name, column in columns.items()}


def _pack_sums(columns: Columns) -> list[object]:
    """How many sums there are, then each column; one that is all zero has no bytes."""
    zeros, packed = bytes(8 * len(columns[0])), [pack_column("d", column) for column in columns]
    return [len(columns[0]), *(b"" if column == zeros else column for column in packed)]


def read_answer(kind: str, packed: Document, function_count: int, most_groups: int) -> object:
    """What a method gave, by its name. ValueError, or whatever comes of it, if it contradicts itself."""
    if kind == "cells":
        return _read_cells(packed)
    if kind == "sum_groups":
        return GroupSums(_read_sums(packed["exclusive"], most_groups), _read_sums(packed["inclusive"], most_groups))
    return _read_calls(packed, function_count) if kind == "call_sums" else _read_edges(packed, function_count)


def _read_cells(packed: Document) -> Cells:
    values: Columns = tuple(read_column("d", column) for column in packed["values"])
    return Cells(read_column("I", packed["threads"]), packed["ends"], read_column("Q", packed["counts"]), values)


def _read_calls(packed: Document, function_count: int) -> CallSums:
    parents, groups = read_column("I", packed["parents"]), read_column("I", packed["groups"])
    check_positions(groups[1:], function_count)
    if any(map(ge, parents[1:], range(1, len(parents)))):
        raise ValueError("a caller does not stand before its callees")
    sums = [_read_sums(packed[name], len(parents)) for name in ("finished", "unfinished", "finished_inclusive", "unfinished_inclusive")]
    return CallSums(parents, groups, *sums)


def _read_edges(packed: Document, function_count: int) -> EdgeSums:
    callers, callees = read_column("I", packed["callers"]), read_column("I", packed["callees"])
    check_positions(callers, function_count + 1)
    check_positions(callees, function_count)
    outermost, innermost = (_read_sums(packed[name], len(callers)) for name in ("outermost", "innermost"))
    return EdgeSums(callers, callees, outermost, innermost, _read_sums(packed["exclusive"], function_count))


def _read_sums(packed: Sequence[Any], most: int) -> Columns:
    count, *columns = packed
    if count > most or any(len(column) not in (0, 8 * count) for column in columns):
        raise ValueError("columns of different lengths")
    zeros = bytes(8 * count)
    return tuple(read_column("d", column or zeros) for column in columns)
