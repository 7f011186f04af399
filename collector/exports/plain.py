"""plain -- rows as dicts and lists: a row's keys are the names of its fields"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from operator import attrgetter
from typing import Any

_ATOMS = frozenset({str, int, float, type(None), dict})


def plains(rows: Iterable[Any]) -> list[dict[str, Any]]:
    """The fields of each row, those of a row inside it as a dict of their own."""
    return [_plain(row) for row in rows]


def _plain(row: Any) -> dict[str, Any]:
    names, values_of = _fields(row.__class__)
    values = values_of(row)
    if not _ATOMS.issuperset(map(type, values)):  # asked of all at once: most rows hold nothing else
        values = map(_plain_value, values)
    return dict(zip(names, values))


def _plain_value(value: Any) -> Any:
    if hasattr(value, "__match_args__"):  # asked first: a row may be a tuple
        return _plain(value)
    return list(value) if isinstance(value, tuple) else value


@cache
def _fields(kind: Any) -> tuple[tuple[str, ...], Callable[[Any], Iterable[Any]]]:
    names = kind.__match_args__  # of a row, all its fields
    return names, attrgetter(*names)
