"""serial_rows -- rows as lists of plain values, and back, with every value of the type that its field has"""

from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin

from collector.profile import model

T = TypeVar("T")
Document = dict[str, Any]


def pack_table(rows: Sequence[Any], row_type: type) -> Document:
    """The names of the fields, and their values row by row."""
    names = fields_of(row_type)
    return {"columns": list(names), "rows": list(rows if issubclass(row_type, tuple) else map(attrgetter(*names), rows))}


def pack_row(row: Any) -> list[Any]:
    """The values of its fields, in order."""
    return [getattr(row, name) for name in fields_of(type(row))]


def read_table(packed: Document, row_type: type) -> tuple[Any, ...]:
    """The rows of a table. ValueError, or whatever comes of it, if they are none."""
    names = fields_of(row_type)
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
    for name, column in zip(fields_of(row_type), zip(*rows, strict=True)):
        if not _is_of_type(column, row_type.__annotations__[name]):
            raise ValueError(f"{row_type.__name__}.{name} is of another type")
    return iter([row_type(*row) for row in rows])


def fields_of(row_type: type) -> tuple[str, ...]:
    """The names of the fields of a row, in order."""
    names: tuple[str, ...] = row_type.__match_args__  # type: ignore[attr-defined]
    return names


def _is_of_type(column: Sequence[Any], annotation: Any) -> bool:
    """Whether all values are what the annotation of a field says, such as `int | None` or `tuple[str, ...]`."""
    kinds = get_args(annotation) if isinstance(annotation, UnionType) else (annotation,)
    items = {item for kind in kinds for item in get_args(kind)} - {...}
    if items and not {type(item) for value in column if value for item in value} <= items:
        return False
    return set(map(type, column)) <= {get_origin(kind) or kind for kind in kinds}


def check_references(tables: Mapping[str, Sequence[Any]]) -> None:
    """ValueError if a row names an experiment or a process that is not in its table."""
    for name, target in (("experiment", "recordings"), ("process", "processes")):
        for rows in tables.values():
            places = [place for row in rows if (place := getattr(row, name, None)) is not None]
            if places and (set(map(type, places)) != {int} or not 0 <= min(places) <= max(places) < len(tables[target])):
                raise ValueError("a row belongs to nothing")
