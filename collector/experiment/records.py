"""records -- from the values of a record to its event: counted, checked, typed"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntEnum
from itertools import chain, repeat
from operator import itemgetter
from typing import Any, ClassVar, NamedTuple

from collector.dataclass import dataclass
from collector.experiment.columns import IntegerColumn, parse_column
from collector.experiment.event_makers import maker_of
from collector.experiment.events import EVENT_CLASSES, AnyRecord, Event, Metric
from collector.experiment.origin import Origin
from collector.experiment.samples import CPU_VALUES, PcSampleBlock, SourceValues
from collector.format import ENUMERATIONS, FIELDS, METRIC_MAX_VALUES, SAMPLE_MAX_VALUES, Kind

MAX_SAMPLES_OF_RECORD = 1 << 16

Check = Callable[[object], object]


class MalformedRecordError(Exception):
    """The values of a record contradict the format. Stays inside the reader, which makes a notice of it."""


@dataclass(frozen=True, slots=True)
class MetricRecord(Event):
    """A METRIC record of several sources, from `source` on; None where one gave nothing. Readers of whole logs see it, others `split_metric`."""

    kind: ClassVar[Kind] = Kind.METRIC
    source: int | None = None
    interval_ns: int | None = None
    values: tuple[int | float | bool | None, ...] = ()


def _uint(value: object) -> int:
    if type(value) is int and value >= 0:
        return value
    raise MalformedRecordError


def _exactly(kind: type) -> Check:
    def check(value: object) -> object:
        if type(value) is not kind:
            raise MalformedRecordError
        return value

    return check


def _strings(value: object) -> tuple[object, ...]:
    if type(value) is not list or any(type(item) is not str for item in value):
        raise MalformedRecordError
    return tuple(value)


def _number(value: object) -> int | float:
    return value if type(value) is float else _uint(value)


def _values(value: object) -> object:
    if type(value) is not list:
        return _number(value)
    if len(value) > METRIC_MAX_VALUES:
        raise MalformedRecordError
    return tuple([item if type(item) is float or item is None or item is True else _uint(item) for item in value])


def _named(enumeration: type[IntEnum]) -> Check:
    names = {int(member): member for member in enumeration}

    def check(value: object) -> object:
        number = _uint(value)
        return names.get(number, number)

    return check


_CHECKS: dict[str, Check] = {
    "uint": _uint,
    "int": _exactly(int),
    "str": _exactly(str),
    "bin": _exactly(bytes),
    "array of str": _strings,
    "uint or float or array": _values,
}
_BY_TYPE = (_uint, *(_CHECKS[name] for name in ("int", "str", "bin")))
"""Checks that look at nothing but the type, and whether it is negative."""


def _check_of(kind: Kind, name: str, type_name: str) -> Check:
    enumeration = ENUMERATIONS.get((kind, name))
    return _named(enumeration) if enumeration else _CHECKS[type_name]


_CHECKS_OF_KIND = {
    int(kind): tuple(_check_of(kind, name, type_name) for name, type_name, _ in fields)
    for kind, fields in FIELDS.items()
    if kind is not Kind.PCSAMPLE
}
_NAMING_OF_KIND = {
    kind: tuple((place, check) for place, ((name, _, _), check) in enumerate(zip(fields, _CHECKS_OF_KIND[kind]), 3) if (kind, name) in ENUMERATIONS)
    for kind, fields in FIELDS.items()
    if kind in _CHECKS_OF_KIND
}
# That the checked values fit the fields of the class is what the tables of the format say, not what a type can.
_CLASS_OF_KIND: dict[int, Callable[..., Event]] = {int(kind): cls for kind, cls in EVENT_CLASSES.items() if issubclass(cls, Event)}
_VALUES_OF_METRIC = 3 + next(place for place, (name, _, _) in enumerate(FIELDS[Kind.METRIC]) if name == "value")
_SAMPLE_FIELD_COUNT = len(FIELDS[Kind.PCSAMPLE])


def make_event(
    values: object, log_offset: int, serial: int, origin: Origin | None, declared: Mapping[int, SourceValues]
) -> AnyRecord | MetricRecord | None:
    """The event of a record's values; None if its kind is unknown. `declared` is by source. MalformedRecordError if the values contradict the format."""
    if type(values) is not list or len(values) < 3:
        raise MalformedRecordError
    kind, time, thread = values[:3]
    shape = _SHAPES.get((kind, *map(type, values))) if type(kind) is int and len(values) <= _LONGEST else None
    if shape is not None:
        if min(shape.uints(values)) < 0:
            raise MalformedRecordError
        known = values[3 : shape.end]
        for place, check in shape.others:
            known[place] = check(known[place])
        return shape.make(time, thread, log_offset, serial, origin, *known)
    if type(kind) is not int or type(time) is not int or type(thread) is not int or kind < 0 or time < 0 or thread < 0:
        raise MalformedRecordError
    if kind == Kind.PCSAMPLE:
        return _make_block(time, thread, values, log_offset, serial, origin, declared)
    checks = _CHECKS_OF_KIND.get(kind)
    if checks is None:
        return None
    fields = [None if value is None else check(value) for check, value in zip(checks, values[3:])]
    is_row = kind == Kind.METRIC and len(values) > _VALUES_OF_METRIC and type(values[_VALUES_OF_METRIC]) is list
    make: Callable[..., Event] = maker_of(MetricRecord) if is_row else _CLASS_OF_KIND[kind]
    _learn_shape(kind, values, checks, make)
    return make(time, thread, log_offset, serial, origin, *fields)


def naming_of(kind: Kind) -> tuple[tuple[int, Check], ...]:
    """Which values of records of a kind are numbers that have names, and what gives the name."""
    return _NAMING_OF_KIND[kind]


class _Shape(NamedTuple):
    """What is left to be seen of a record whose values are of the same types as those of a sound one of its kind: which must not be negative, and
    which have checks of their own.
    """

    make: Callable[..., Event]
    uints: Callable[[Any], tuple[int, ...]]
    others: tuple[tuple[int, Check], ...]
    end: int


_SHAPES: dict[tuple[object, ...], _Shape] = {}
_MOST_SHAPES = 1 << 10
_LONGEST = 3 + max(map(len, _CHECKS_OF_KIND.values()))


def _learn_shape(kind: int, values: list[Any], checks: tuple[Check, ...], make: Callable[..., Event]) -> None:
    """Note the types of a record that was checked value by value: there are few of them in millions of records."""
    if len(values) > _LONGEST or len(_SHAPES) >= _MOST_SHAPES:
        return
    known = list(enumerate(zip(checks, values[3:])))
    uints = [place for place, (check, value) in known if type(value) is int and check in (_uint, _values)]
    others = [(place, check) for place, (check, value) in known if value is not None and check not in _BY_TYPE]
    types = (kind, *map(type, values))
    _SHAPES[types] = _Shape(
        make, itemgetter(0, 1, 2, *(3 + place for place in uints)),
        tuple(other for other in others if other[0] not in uints), 3 + len(checks),
    )


def resolve_metric(row: MetricRecord, before: MetricRecord | None) -> MetricRecord:
    """The row with all its values, where some are those of the row before it in the frame. MalformedRecordError if there are none."""
    values = row.values
    if bool not in map(type, values):
        return row
    if before is None or before.source != row.source:
        raise MalformedRecordError
    known = chain(before.values, repeat(None))
    resolved = tuple([old if value is True else value for value, old in zip(values, known)])
    if None in resolved and any(value is True and new is None for value, new in zip(values, resolved)):
        raise MalformedRecordError
    make: Callable[..., MetricRecord] = maker_of(MetricRecord)  # type: ignore[assignment]  # whose they are
    return make(row.time, row.thread, row.log_offset, row.serial, row.origin, row.source, row.interval_ns, resolved)


def row_of(metric: Metric) -> MetricRecord:
    """A reading of one source, as a row of one."""
    return MetricRecord(
        metric.time, metric.thread, metric.log_offset, metric.serial, metric.origin, metric.source, metric.interval_ns, (metric.value,)
    )


def split_metric(row: MetricRecord) -> list[Metric]:
    """One event for each value of a row, numbered from the record's serial on."""
    time, thread, log_offset, origin, first, interval_ns = row.time, row.thread, row.log_offset, row.origin, row.source, row.interval_ns
    known = [(place, value) for place, value in enumerate(row.values) if value is not None]
    return [
        Metric(time, thread, log_offset, serial, origin, None if first is None else first + place, interval_ns, value)
        for serial, (place, value) in enumerate(known, row.serial)
    ]


def _make_block(
    time: int, thread: int, values: list[object], log_offset: int, serial: int, origin: Origin | None, declared: Mapping[int, SourceValues]
) -> PcSampleBlock:
    if len(values) < 3 + _SAMPLE_FIELD_COUNT:
        raise MalformedRecordError
    _, _, _, source, count, unit_ns, times, columns, stacks, stack_count, definitions = values[:11]
    sample_count = _uint(count)
    if type(definitions) is not bytes or sample_count > MAX_SAMPLES_OF_RECORD or type(columns) is not list or len(columns) > SAMPLE_MAX_VALUES:
        raise MalformedRecordError
    return PcSampleBlock(
        time, thread, log_offset, serial, origin, _uint(source), sample_count, _uint(unit_ns),
        _column(times, sample_count), tuple(_column(column, sample_count) for column in columns), _column(stacks, sample_count),
        _uint(stack_count), definitions, declared.get(source, CPU_VALUES),  # type: ignore[call-overload]  # a uint, as was checked
    )


def _column(value: object, count: int) -> IntegerColumn:
    column = parse_column(value, count)
    if column is None:
        raise MalformedRecordError
    return column
