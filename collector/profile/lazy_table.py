"""lazy_table -- a table whose rows are made when somebody looks at one"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

T = TypeVar("T")


class LazyTable(Sequence[T]):
    """`count` rows, which `make` gives."""

    def __init__(self, count: int, make: Callable[[], Iterable[T]]) -> None:
        self._count = count
        self._make = make
        self._rows: tuple[T, ...] | None = None

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[T]:
        return iter(self._made())

    def __getitem__(self, place: Any) -> Any:
        return self._made()[place]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._made() == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def _made(self) -> tuple[T, ...]:
        if self._rows is None:
            self._rows = tuple(self._make())
        return self._rows
