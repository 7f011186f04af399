"""serial_rows -- rows of dataclasses as lists of plain values, and back, with every value of the type that its field has"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

from collector.profile import model

T = TypeVar("T")
Document = dict[str, Any]

_TYPES: Final[dict[str, type]] = {
    "int": int, "str": str, "float": float, "bool": bool, "tuple": tuple, "None": type(None), "Clock": model.Clock
}  # fmt: skip


def pack_table(rows: Sequence[Any], row_type: type) -> Document:
    """The names of the fields, and their values row by row."""
    names = [field.name for field in dataclasses.fields(row_type)]
    return {"columns": names, "rows": [[_plain(getattr(row, name)) for name in names] for row in rows]}


def pack_row(row: Any) -> list[Any]:
    """The values of its fields, in order."""
    return [getattr(row, field.name) for field in dataclasses.fields(row)]


def _plain(value: Any) -> Any:
    return pack_row(value) if isinstance(value, model.Clock) else value


def read_table(packed: Document, row_type: type) -> tuple[Any, ...]:
    """The rows of a table. ValueError, or whatever comes of it, if they are none."""
    names = tuple(field.name for field in dataclasses.fields(row_type))
    if packed["columns"] != names:
        raise ValueError(f"{row_type.__name__} has other columns")
    rows = packed["rows"]
    if row_type is model.Process:
        place = names.index("clock")
        clocks = make_rows(model.Clock, [row[place] for row in rows if row[place] is not None])
        rows = [(*row[:place], row[place] and next(clocks), *row[place + 1 :]) for row in rows]
    return tuple(make_rows(row_type, rows))


def make_rows(row_type: type[T], rows: Sequence[Any]) -> Iterator[T]:
    """Rows of their fields' values, which are of the types that fields have."""
    for field, column in zip(dataclasses.fields(row_type), zip(*rows, strict=True)):  # type: ignore[arg-type]
        if not _is_of_type(column, str(field.type)):
            raise ValueError(f"{row_type.__name__}.{field.name} is of another type")
    return iter([row_type(*row) for row in rows])


def _is_of_type(column: Sequence[Any], annotation: str) -> bool:
    """Whether all values are what the annotation of a field says, such as `int | None` or `tuple[str, ...]`."""
    items = annotation.partition("[")[2].partition(",")[0]
    if items and not {type(item) for value in column if value for item in value} <= {_TYPES[items]}:
        return False
    return set(map(type, column)) <= {_TYPES[word.partition("[")[0]] for word in annotation.split(" | ")}


def check_references(tables: Mapping[str, Sequence[Any]]) -> None:
    """ValueError if a row names an experiment or a process that is not in its table."""
    for name, target in (("experiment", "recordings"), ("process", "processes")):
        for rows in tables.values():
            places = [place for row in rows if (place := getattr(row, name, None)) is not None]
            if places and (set(map(type, places)) != {int} or not 0 <= min(places) <= max(places) < len(tables[target])):
                raise ValueError("a row belongs to nothing")
