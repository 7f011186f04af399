"""event_makers -- events made by the hundred thousand: a frozen dataclass sets each of its fields by a call, which is most of what one costs"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from collector.experiment.events import Event


@lru_cache
def maker_of(event_class: type[Event]) -> Callable[..., Event]:
    """What makes events as their class does, given all fields by position: they are filled in while they are not
    frozen yet. To make the maker takes as long as a hundred events.
    """
    names: tuple[str, ...] = event_class.__match_args__
    lines = [f"def __init__(self, {', '.join(names)}):", *(f" self.{name} = {name}" for name in names), " self.__class__ = event_class"]
    body: dict[str, Any] = {}
    exec("\n".join(lines), {"event_class": event_class}, body)
    thawed = {"__slots__": (), "__setattr__": object.__setattr__, "__delattr__": object.__delattr__}
    return type(f"Thawed{event_class.__name__}", (event_class,), {**thawed, **body})
