"""plain -- rows as dicts and lists: a row's keys are the names of its fields"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from functools import cache
from operator import attrgetter
from typing import Any


def plain(row: Any) -> dict[str, Any]:
    """The fields of a row, those of rows inside it as a dict of their own."""
    names, values = _fields_of(row.__class__)
    return dict(zip(names, map(_plain_value, values(row))))


def plains(rows: Iterable[Any]) -> list[dict[str, Any]]:
    """Each row as `plain` gives it."""
    return [plain(row) for row in rows]


def _plain_value(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return plain(value) if is_dataclass(value) else value


@cache
def _fields_of(kind: type) -> tuple[tuple[str, ...], Callable[[Any], tuple[Any, ...]]]:
    names = tuple(one.name for one in fields(kind))
    return names, attrgetter(*names)
