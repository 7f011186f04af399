"""test_records -- a record is checked no less when others of the same types were sound before it"""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields

import pytest

from collector.experiment.events import EVENT_CLASSES, Event
from collector.experiment.records import MalformedRecordError, make_event
from collector.format import ENUMERATIONS, FIELDS, Kind

_SOUND = {"uint": 7, "int": -7, "str": "text", "bin": b"bytes", "array of str": ["a", "b"], "uint or float or array": 0.5}
_KINDS = [kind for kind in Kind if kind is not Kind.PCSAMPLE]


def _event(values: list[object]) -> Event:
    event = make_event(values, 100, 3, None, {})
    assert isinstance(event, Event)
    return event


def _values(kind: Kind) -> list[object]:
    return [int(kind), 5, 6, *(_SOUND[type_name] for _, type_name, _ in FIELDS[kind])]


@pytest.mark.parametrize("kind", _KINDS)
def test_a_record_gives_the_same_event_each_time(kind: Kind) -> None:
    cls = EVENT_CLASSES[kind]
    first, *others = [_event(_values(kind)) for _ in range(3)]
    assert type(first) is cls and others == [first, first] and hash(others[0]) == hash(first)
    assert [getattr(others[1], field.name) for field in fields(Event)] == [5, 6, 100, 3, None]
    for name, _, _ in FIELDS[kind]:
        enumeration = ENUMERATIONS.get((kind, name))
        assert enumeration is None or type(getattr(others[1], name)) is enumeration or 7 not in list(enumeration)
    with pytest.raises(FrozenInstanceError):
        others[1].time = 1  # type: ignore[misc]


@pytest.mark.parametrize("kind", _KINDS)
def test_each_value_is_checked_each_time(kind: Kind) -> None:
    for place, wrong in [(1, -1), (2, -1), (1, True), (0, True)]:
        _event(_values(kind))
        with pytest.raises(MalformedRecordError):
            _event([*_values(kind)[:place], wrong, *_values(kind)[place + 1 :]])
    for place, (_, type_name, _) in enumerate(FIELDS[kind], 3):
        for wrong in (True, {}, *([] if type_name == "int" else [-1]), *([] if "array" in type_name else [["a"]]), "" if type_name == "bin" else b""):
            _event(_values(kind))
            with pytest.raises(MalformedRecordError):
                _event([*_values(kind)[:place], wrong, *_values(kind)[place + 1 :]])


@pytest.mark.parametrize("kind", _KINDS)
def test_values_may_be_missing(kind: Kind) -> None:
    for _ in range(2):
        for end in range(3, len(_values(kind)) + 1):
            event = _event(_values(kind)[:end])
            assert [getattr(event, name) for name, _, _ in FIELDS[kind][end - 3 :]] == [None] * (len(FIELDS[kind]) - end + 3)
        for place in range(3, len(_values(kind))):
            event = _event([*_values(kind)[:place], None, *_values(kind)[place + 1 :]])
            assert getattr(event, FIELDS[kind][place - 3][0]) is None
        assert _event([*_values(kind), "of a newer format"]) == _event(_values(kind))
