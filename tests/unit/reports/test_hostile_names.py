"""test_hostile_names -- names that are escape sequences for a terminal, or formulas for a spreadsheet"""

from __future__ import annotations

import csv
import dataclasses
import io
import re
from typing import Any

import pytest
import test_documents
from busy_profile import LISTINGS, SOURCE_TEXT, busy_profile, position_of
from test_documents import documents
from test_text_views import VIEWS

from collector.cli.main import main
from collector.exports.csv_text import to_csv
from collector.profile import views
from collector.profile.callers_callees import callers_callees
from collector.profile.model import Frame, Profile
from collector.profile.source_lines import source_lines
from collector.reports import callers_callees as callers_callees_text, calls, disasm, function, source
from collector.reports.style import Style

_ESCAPES = "\x1b]0;title\x07\x1b[2J\x9b1m\r\n\x7f\u202e\udc9b"
_KEPT = {"kind", "layout", "cause", "stack_ends", "unit"}
"""What is one of our own words, whatever a log says."""
_CONTROL = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202e\udc80-\udcff]")


def spoilt(value: Any, start: str) -> Any:
    """The same with `start` before every text in it that comes from a recorded program."""
    if isinstance(value, str):
        return start + value if value else value
    if hasattr(value, "_replace"):
        fields = ((name, getattr(value, name)) for name in value.__match_args__)
        return value._replace(**{name: spoilt(item, start) for name, item in fields if name not in _KEPT or isinstance(value, Frame)})
    if isinstance(value, tuple):
        return tuple(spoilt(item, start) for item in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        changes = {
            field.name: spoilt(getattr(value, field.name), start)
            for field in dataclasses.fields(value)
            if field.init and field.name not in _KEPT
        }
        return dataclasses.replace(value, **changes)
    return value


def _hostile(start: str) -> Profile:
    return spoilt(busy_profile(), start)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("width", (40, 1000))
def test_no_view_obeys(view: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    import test_text_views

    monkeypatch.setattr(test_text_views, "SOURCE_TEXT", tuple(_ESCAPES + line for line in SOURCE_TEXT))
    monkeypatch.setattr(test_text_views, "LISTINGS", spoilt(LISTINGS, _ESCAPES))
    text = VIEWS[view](_hostile(_ESCAPES), Style(width))
    assert not _CONTROL.search(text), ascii(_CONTROL.search(text))


@pytest.mark.parametrize("width", (40, 1000))
def test_no_view_of_one_function_obeys(width: int) -> None:
    profile, style, name = _hostile(_ESCAPES), Style(width), _ESCAPES + "work"
    path, text = _ESCAPES + "/src/work.c", tuple(_ESCAPES + line for line in SOURCE_TEXT)
    row = next(row for row in views.choose(views.FUNCTIONS, profile).rows if row.function.name == name)
    for shown in (
        function.render(profile, row, style),
        disasm.render(profile, name, spoilt(LISTINGS, _ESCAPES), None, style, {path: text}),
        callers_callees_text.render(profile, callers_callees(profile, position_of(profile, name)), None, style),
        source.render(profile, path, text, source_lines(profile, path), 9, 17, None, style),
        calls.render(profile, name, [], None, style),
    ):
        assert not _CONTROL.search(shown), ascii(_CONTROL.search(shown))
        assert shown.splitlines()[0].startswith(("Function", "Disassembly", "Callers", "Source", "Calls"))


@pytest.mark.parametrize("start", ["=1+1", "+1", "-1", "@SUM(1)", "\t=1", "\r=1", _ESCAPES])
def test_no_cell_is_a_formula(start: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(test_documents, "PROFILE", _hostile(start))
    monkeypatch.setattr(test_documents, "position_of", lambda profile, name: 1)
    monkeypatch.setattr(test_documents, "LISTINGS", spoilt(LISTINGS, start))
    marked = 0
    for document in documents().values():
        text = to_csv(document)
        assert not _CONTROL.search(text)
        for row in csv.DictReader(io.StringIO(text)):
            for cell in row.values():
                assert not cell.startswith(("=", "+", "@", "\t", "\r")) and (not cell.startswith("-") or float(cell) <= 0)
                marked += cell.startswith("'")
    assert marked or start == _ESCAPES


def test_numbers_stay_numbers() -> None:
    text = to_csv({"rows": [{"delta": -1.5, "count": -3, "name": "-1.5", "tabs": "a\tb"}]})
    assert text == "delta,count,name,tabs\n-1.5,-3,'-1.5,a\tb\n"


def test_a_complaint_does_not_obey(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "\x1b]0;title\x07.expt"]) == 1
    assert capsys.readouterr().err == "collector: there is no experiment at \\x1b]0;title\\x07.expt\n"
