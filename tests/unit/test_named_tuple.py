"""test_named_tuple -- our named tuples are those of typing, as far as we use them"""

from __future__ import annotations

import pickle
import typing
from typing import Any

import pytest

from collector import named_tuple


class Place(named_tuple.NamedTuple):
    """A value with a default."""

    name: str
    line: int = 0

    @property
    def text(self) -> str:
        """Made of the fields."""
        return f"{self.name}:{self.line}"


class _Theirs(typing.NamedTuple):
    name: str
    line: int = 0


@pytest.mark.parametrize("make", [lambda c: c("a"), lambda c: c("a", 7), lambda c: c(line=7, name="a"), lambda c: c("a", line=7), lambda c: c("a")._replace(line=3)])
def test_values_are_those_of_typing(make: Any) -> None:
    ours, theirs = make(Place), make(_Theirs)
    assert ours == theirs and hash(ours) == hash(theirs) and tuple(ours) == tuple(theirs)
    assert (ours.name, ours.line, ours.text) == (theirs.name, theirs.line, f"{theirs.name}:{theirs.line}")
    assert repr(ours) == repr(theirs).replace("_Theirs", "Place")
    assert type(ours) is Place and pickle.loads(pickle.dumps(ours)) == ours


@pytest.mark.parametrize("make", [lambda c: c(), lambda c: c(line=1), lambda c: c("a", 1, 2), lambda c: c("a", name="b"), lambda c: c("a", column=1)])
def test_what_is_missing_or_too_much_is_refused(make: Any) -> None:
    for one in (Place, _Theirs):
        with pytest.raises(TypeError):
            make(one)


def test_a_value_does_not_change() -> None:
    with pytest.raises(AttributeError):
        Place("a").line = 3  # type: ignore[misc]  # which is what is tried


def test_fields_are_known() -> None:
    assert Place._fields == _Theirs._fields and Place._field_defaults == _Theirs._field_defaults


def test_a_class_made_of_one_has_its_fields() -> None:
    class Marked(Place):
        @property
        def text(self) -> str:
            return "*"

    marked = Marked("a", line=3)
    assert (marked.name, marked.line, marked.text) == ("a", 3, "*") and marked == _Theirs("a", 3)
