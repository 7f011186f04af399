"""record_plans -- how an event comes out of a record that is the same as one before but for its numbers

What is to be seen of such a record was seen when the first one was read: all that is left are its numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from collector.experiment.event_makers import maker_of
from collector.experiment.events import Event
from collector.experiment.records import MalformedRecordError, MetricRecord, make_event, naming_of
from collector.experiment.samples import PcSampleBlock

_PLACE = 3  # of the fields that no record has: offset, serial, origin


class RecordPlan(NamedTuple):
    """How to make the event. `arrange` takes its fields out of where it was found, the record's `number_count` numbers and `constants`; `named` are those
    numbers that have a name, and what gives it.
    """

    event_class: type[Event]
    make: Callable[..., Event]
    arrange: Callable[[Sequence[Any]], tuple[Any, ...]]
    number_count: int
    constants: tuple[Any, ...]
    named: tuple[tuple[int, Callable[[object], object]], ...]

    def event(self, numbers: Sequence[int], log_offset: int, serial: int, origin: object) -> Event:
        """The event of the record with these numbers."""
        if not self.named:
            return self.make(*self.arrange((log_offset, serial, origin, *numbers, *self.constants)))
        known: list[Any] = [log_offset, serial, origin, *numbers]
        for place, name in self.named:
            known[place] = name(known[place])
        return self.make(*self.arrange((*known, *self.constants)))


def plan_of(values: object, numbers: Sequence[int]) -> RecordPlan | None:
    """The plan for records like the one with these values, of which `numbers` are those behind its kind; None if there is none."""
    try:
        event = make_event(values, 0, 0, None, {})
    except MalformedRecordError:
        return None
    if event is None or isinstance(event, (PcSampleBlock, MetricRecord)):
        return None
    assert isinstance(values, list)  # or there is no event
    places = [place for place, value in enumerate(values) if place and type(value) is int and value >= 0]
    if [values[place] for place in places] != list(numbers):
        return None  # some stand there in another way than others
    return _plan(event, len(numbers), {place: _PLACE + number for number, place in enumerate(places)})


def _plan(event: Event, count: int, place_of: dict[int, int]) -> RecordPlan:
    """`place_of` says where the values of a record are found again."""
    kind: Any = type(event)
    names: tuple[str, ...] = kind.__match_args__
    behind = names[5:]
    constants = [getattr(event, name) for value, name in enumerate(behind, _PLACE) if value not in place_of]
    constant_places = iter(range(_PLACE + count, _PLACE + count + len(constants)))
    order = [place_of[1], place_of[2], 0, 1, 2]
    order += [place_of[value] if value in place_of else next(constant_places) for value in range(_PLACE, _PLACE + len(behind))]
    named = tuple((place_of[value], check) for value, check in naming_of(event.kind) if value in place_of)
    return RecordPlan(kind, maker_of(kind), itemgetter(*order), count, tuple(constants), named)
