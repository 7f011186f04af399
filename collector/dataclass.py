"""dataclass -- dataclasses.dataclass for the frozen values that a report imports: a class costs 0.2 ms to make, not 1

The methods are the same for all classes instead of being written and compiled for each. A value takes longer to make in return;
what is made by the thousand has makers of its own (experiment/event_makers.py).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    import dataclasses
    from collections.abc import Callable
    from typing import Any

    def _make(self: Any, *values: Any, **named: Any) -> None:
        cls = type(self)
        missing = cls.__match_args__[len(values) :]
        if len(values) > len(cls.__match_args__) or not named.keys() <= set(missing):
            raise TypeError(f"{cls.__name__} has the fields {', '.join(cls.__match_args__)}")
        for name, value in zip(cls.__match_args__, values):
            object.__setattr__(self, name, value)
        for name in missing:
            value = named[name] if name in named else cls.__dataclass_fields__[name].default
            if value is dataclasses.MISSING:
                raise TypeError(f"{cls.__name__} needs a {name}")
            object.__setattr__(self, name, value)

    def _values(self: Any) -> tuple[Any, ...]:
        return tuple([getattr(self, name) for name in self.__match_args__])

    def _text(self: Any) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in self.__match_args__)})"

    def _is_equal(self: Any, other: object) -> Any:
        return _values(self) == _values(other) if type(other) is type(self) else NotImplemented

    def _hash(self: Any) -> int:
        return hash(_values(self))

    def _reduce(self: Any) -> tuple[Any, ...]:
        return type(self), _values(self)

    def _refuse(self: Any, name: str, *_: Any) -> None:
        raise dataclasses.FrozenInstanceError(f"cannot change field {name!r}")

    _METHODS = {
        "__init__": _make, "__repr__": _text, "__eq__": _is_equal, "__hash__": _hash, "__reduce__": _reduce, "__setattr__": _refuse, "__delattr__": _refuse,
    }  # fmt: skip

    def dataclass(*, frozen: bool, slots: bool = False) -> Callable[[type], type]:
        """The decorator of classes whose fields have values for defaults, and which have no __post_init__."""
        assert frozen

        def decorate(cls: type) -> type:
            for name, method in _METHODS.items():
                setattr(cls, name, method)
            return dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots)(cls)

        return decorate
