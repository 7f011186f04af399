"""test_dataclass -- collector.dataclass makes what dataclasses.dataclass makes"""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any, ClassVar

import pytest

from collector.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """Has a base, a mixture and defaults below."""

    kind: ClassVar[int] = 7
    file: str
    line: int | None = None


@dataclass(frozen=True)
class Reading:
    """Without slots, so that it can be a base beside another."""

    pages: int | None = None


@dataclass(frozen=True, slots=True)
class Sample(Reading, Place):
    """Fields of the last base come first, as in every dataclass."""

    label: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class _StandardPlace:
    file: str
    line: int | None = None


def test_a_value_is_made_by_place_and_by_name() -> None:
    assert Place("a.c") == Place(file="a.c", line=None) != Place("a.c", 1)
    sample = Sample("a.c", 3, label="start", pages=5)
    assert (sample.file, sample.line, sample.pages, sample.label, sample.kind) == ("a.c", 3, 5, "start", 7)
    assert [field.name for field in dataclasses.fields(Sample)] == ["file", "line", "pages", "label"]


@pytest.mark.parametrize(("values", "named"), [((), {}), ((), {"line": 1}), (("a.c", 1, 2), {}), (("a.c",), {"file": "b.c"}), (("a.c",), {"column": 1})])
def test_what_the_standard_one_refuses_is_refused(values: tuple[Any, ...], named: dict[str, Any]) -> None:
    for cls in (Place, _StandardPlace):
        with pytest.raises(TypeError):
            cls(*values, **named)


def test_values_are_equal_by_class_and_fields() -> None:
    assert len({Place("a.c"), Place("a.c"), Place("b.c"), Sample("a.c")}) == 3
    others: list[object] = [_StandardPlace("a.c"), "a.c", Place("b.c")]
    assert Place("a.c") not in others


def test_text_is_that_of_the_standard_one() -> None:
    assert repr(Place("a\n.c", 2)) == repr(_StandardPlace("a\n.c", 2)).replace("_Standard", "")


def test_values_cannot_be_changed() -> None:
    for name in ("file", "other"):
        with pytest.raises(dataclasses.FrozenInstanceError, match=name):
            setattr(Place("a.c"), name, "b.c")
    with pytest.raises(dataclasses.FrozenInstanceError):
        del Place("a.c").file
    assert not hasattr(Place("a.c"), "__dict__")


def test_values_are_replaced_copied_and_pickled() -> None:
    sample = Sample("a.c", 3, label="start", pages=5)
    assert dataclasses.replace(sample, line=4) == Sample("a.c", 4, 5, "start")
    assert dataclasses.asdict(sample) == {"file": "a.c", "line": 3, "pages": 5, "label": "start"}
    assert copy.deepcopy(sample) == pickle.loads(pickle.dumps(sample)) == sample
