"""records -- from the values of a record to its event: counted, checked, typed"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from collector.experiment.columns import Column, parse_column
from collector.experiment.events import ENUMERATIONS, EVENT_CLASSES, AnyRecord, Metric
from collector.experiment.origin import Origin
from collector.experiment.samples import PcSampleBlock
from collector.format import FIELDS, METRIC_MAX_VALUES, Kind

MAX_SAMPLES_OF_RECORD = 1 << 16

Check = Callable[[object], object]


class RecordError(Exception):
    """The values of a record contradict the format. Stays inside the reader, which makes a notice of it."""


def _uint(value: object) -> object:
    if type(value) is int and value >= 0:
        return value
    raise RecordError


def _exactly(kind: type) -> Check:
    def check(value: object) -> object:
        if type(value) is not kind:
            raise RecordError
        return value

    return check


def _strings(value: object) -> tuple[object, ...]:
    if type(value) is not list or any(type(item) is not str for item in value):
        raise RecordError
    return tuple(value)


def _number(value: object) -> object:
    return value if type(value) is float else _uint(value)


def _values(value: object) -> object:
    if type(value) is not list:
        return _number(value)
    if len(value) > METRIC_MAX_VALUES:
        raise RecordError
    return tuple(item if item is None or item is True else _number(item) for item in value)


def _named(enumeration: type) -> Check:
    names = {int(member): member for member in enumeration}  # type: ignore[attr-defined]

    def check(value: object) -> object:
        return names.get(_uint(value), value)  # type: ignore[call-overload]

    return check


_CHECKS: dict[str, Check] = {
    "uint": _uint,
    "int": _exactly(int),
    "str": _exactly(str),
    "bin": _exactly(bytes),
    "array of str": _strings,
    "uint or float or array": _values,
}


def _check_of(kind: Kind, name: str, type_name: str) -> Check:
    enumeration = ENUMERATIONS.get((kind, name))
    return _named(enumeration) if enumeration else _CHECKS[type_name]


_CHECKS_OF_KIND = {
    int(kind): tuple(_check_of(kind, name, type_name) for name, type_name, _ in fields)
    for kind, fields in FIELDS.items()
    if kind is not Kind.PCSAMPLE
}
_CLASS_OF_KIND = {int(kind): cls for kind, cls in EVENT_CLASSES.items()}
_SAMPLE_FIELD_COUNT = len(FIELDS[Kind.PCSAMPLE])


def make_event(values: object, log_offset: int, serial: int, origin: Origin | None) -> AnyRecord | None:
    """The event of a record's values; None if its kind is unknown. RecordError if the values contradict the format.

    A METRIC record of several sources is an event with a tuple of values: see `resolve_metric` and `split_metric`.
    """
    if type(values) is not list or len(values) < 3:
        raise RecordError
    kind, time, thread = values[:3]
    if type(kind) is not int or type(time) is not int or type(thread) is not int or kind < 0 or time < 0 or thread < 0:
        raise RecordError
    if kind == Kind.PCSAMPLE:
        return _make_block(values, log_offset, serial, origin)
    checks = _CHECKS_OF_KIND.get(kind)
    if checks is None:
        return None
    fields = [None if value is None else check(value) for check, value in zip(checks, values[3:])]
    return _CLASS_OF_KIND[kind](time, thread, log_offset, serial, origin, *fields)


def resolve_metric(event: Metric, before: Metric | None) -> Metric:
    """The event with all its values, where some are those of the record of several sources before it in the frame. RecordError if there are none."""
    values: tuple[int | float | bool | None, ...] = event.value  # type: ignore[assignment]
    if not any(value is True for value in values):
        return event
    if before is None or before.source != event.source:
        raise RecordError
    known: tuple[int | float | None, ...] = before.value  # type: ignore[assignment]
    if any(value is True and (place >= len(known) or known[place] is None) for place, value in enumerate(values)):
        raise RecordError
    return replace(event, value=tuple(known[place] if value is True else value for place, value in enumerate(values)))


def split_metric(event: Metric) -> list[Metric]:
    """One event for each value of a record of several sources, numbered from the record's serial on."""
    known = [(place, value) for place, value in enumerate(event.value) if value is not None]  # type: ignore[arg-type]
    return [
        replace(event, serial=event.serial + number, source=None if event.source is None else event.source + place, value=value)
        for number, (place, value) in enumerate(known)
    ]


def _make_block(values: list[object], log_offset: int, serial: int, origin: Origin | None) -> PcSampleBlock:
    if len(values) < 3 + _SAMPLE_FIELD_COUNT:
        raise RecordError
    _, time, thread, source, count, unit_ns, times, user, system, stacks, stack_count, definitions = values[:12]
    for number in (source, count, unit_ns, stack_count):
        _uint(number)
    if type(definitions) is not bytes or count > MAX_SAMPLES_OF_RECORD:  # type: ignore[operator]
        raise RecordError
    return PcSampleBlock(
        time, thread, log_offset, serial, origin, source, count, unit_ns,  # type: ignore[arg-type]
        _column(times, count), _column(user, count), _column(system, count), _column(stacks, count),  # type: ignore[arg-type]
        stack_count, definitions,  # type: ignore[arg-type]
    )


def _column(value: object, count: int) -> Column:
    column = parse_column(value, count)
    if column is None:
        raise RecordError
    return column
