"""counted_row -- values with a field `count`, which no NamedTuple can have: its tuple counts by that name"""

from typing import Any, ClassVar, TypeVar


class CountedRow:
    """What is the same if all fields are, and never changes; `__match_args__` are the fields, which `_set` gives their values once."""

    __slots__ = ()
    __match_args__: ClassVar[tuple[str, ...]] = ()

    def _set(self, *values: Any) -> None:
        for name, value in zip(self.__match_args__, values):
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__}.{name} cannot be changed")

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.__match_args__)

    def __eq__(self, other: object) -> bool:
        return self._values() == other._values() if type(self) is type(other) and isinstance(other, CountedRow) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._values())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in self.__match_args__)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._values()

    def _replace(self: "Row", **changes: Any) -> "Row":
        """The same but for some fields, as of a NamedTuple."""
        known = dict(zip(self.__match_args__, self._values()))
        return type(self)(**(known | changes))


Row = TypeVar("Row", bound=CountedRow)
