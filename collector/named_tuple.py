"""named_tuple -- typing.NamedTuple for what a recording or a report imports: a class costs 10 us to make, not 200

No code is generated for a class. A value takes longer to make in return, so this is for classes of which there are few values.
"""

from __future__ import annotations

from operator import itemgetter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NamedTuple as NamedTuple
else:

    class NamedTuple(tuple):
        """The base of classes that declare their fields."""

        __slots__ = ()
        _fields: tuple[str, ...] = ()
        _field_defaults: dict[str, Any] = {}

        def __init_subclass__(cls) -> None:
            if NamedTuple not in cls.__bases__:
                return  # it has the fields of the class that it is made of
            cls._fields = tuple(cls.__annotations__)
            cls._field_defaults = {name: cls.__dict__[name] for name in cls._fields if name in cls.__dict__}
            for place, name in enumerate(cls._fields):
                setattr(cls, name, property(itemgetter(place)))

        def __new__(cls, *values: Any, **named: Any) -> NamedTuple:
            """TypeError if a field is missing, or there is none of a name."""
            missing = cls._fields[len(values) :]
            given = cls._field_defaults | named
            if len(values) > len(cls._fields) or not named.keys() <= set(missing) <= given.keys():
                raise TypeError(f"{cls.__name__} has the fields {', '.join(cls._fields)}")
            return tuple.__new__(cls, (*values, *map(given.__getitem__, missing)))

        def __getnewargs__(self) -> tuple[Any, ...]:
            return tuple(self)

        def __repr__(self) -> str:
            return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in zip(self._fields, self))})"

        def _replace(self, **changed: Any) -> NamedTuple:
            """The same with other values for some fields."""
            return type(self)(**dict(zip(self._fields, self)) | changed)
