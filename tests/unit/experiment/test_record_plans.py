"""test_record_plans -- an event that is made by a plan is the one that its record gives"""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from collector.experiment.events import EVENT_CLASSES
from collector.experiment.record_plans import RecordPlan, plan_of
from collector.experiment.records import make_event
from collector.format import FIELDS, Kind

_SOUND = {"uint": 7, "int": 4, "str": "text", "bin": b"bytes", "array of str": ["a", "b"], "uint or float or array": 9}
_KINDS = [kind for kind in Kind if kind is not Kind.PCSAMPLE]


def _values(kind: Kind, added: int = 0) -> list[object]:
    """A record of all fields, whose numbers are so much more."""
    fields = [_SOUND[type_name] for _, type_name, _ in FIELDS[kind]]
    return [int(kind), *(value + added if isinstance(value, int) else value for value in (5, 6, *fields))]


def _numbers(values: list[object]) -> list[int]:
    return [value for value in values[1:] if isinstance(value, int)]


def _plan(values: list[object]) -> RecordPlan:
    plan = plan_of(values, _numbers(values))
    assert plan is not None
    return plan


@pytest.mark.parametrize("kind", _KINDS)
@pytest.mark.parametrize("added", [0, -4, 1, 1 << 40])
def test_the_same_events(kind: Kind, added: int) -> None:
    plan = _plan(_values(kind))
    for end in (len(_values(kind)), 3):
        values = _values(kind, added)[:end]
        planned = _plan(_values(kind)[:end]).event(_numbers(values), 100, 3, None)
        read = make_event(values, 100, 3, None, {})
        assert planned == read and type(planned) is type(read) is plan.event_class is EVENT_CLASSES[kind]
        assert repr(planned) == repr(read) and hash(planned) == hash(read)
    with pytest.raises(FrozenInstanceError):
        planned.time = 1  # type: ignore[misc]


def test_values_behind_those_that_are_known() -> None:
    values = [*_values(Kind.THR_EXIT), 3, "later", 4]
    assert _plan(values).event(_numbers(values), 100, 3, None) == make_event(values, 100, 3, None, {})


@pytest.mark.parametrize(
    "values", [None, [], [1, 2], [1 << 20, 1, 1], [int(Kind.METRIC), 1, 2, 1, 1, [1, 2]], [int(Kind.PROCFORK), 1, 2, "text"], [int(Kind.PCSAMPLE), 1, 2]]
)
def test_no_plan_for_what_is_no_event(values: object) -> None:
    assert plan_of(values, _numbers(values) if isinstance(values, list) else []) is None


def test_no_plan_where_numbers_are_written_in_several_ways() -> None:
    values = _values(Kind.PROCFORK)
    assert plan_of(values, _numbers(values)[1:]) is None
