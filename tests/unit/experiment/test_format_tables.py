"""test_format_tables -- the page, the Python table, the C header and the event classes say the same"""

from __future__ import annotations

import dataclasses
import re
import typing
from pathlib import Path

import format_files
import pytest

from collector import format
from collector.experiment.events import EVENT_CLASSES, Event
from collector.format import ENUMERATIONS

_ROOT = Path(__file__).parents[3]
_PAGE = _ROOT / "docs" / "format.md"
_ENUMERATIONS = ("StackEnd", "DropCause", "SampleCause", "PauseCause", "CloseReason", "MapAction", "MapKind", "LineEncoding")
_TYPES = {"uint": int, "int": int, "str": str, "bin": bytes, "array of str": tuple[str, ...], "uint or float or array": int | float}
_C_NAMES = {"KIND": "Kind", "END": "StackEnd", "DROP": "DropCause", "SAMPLE": "SampleCause", "PAUSE": "PauseCause",
            "CLOSE": "CloseReason", "MAP": "MapAction MapKind", "LINES": "LineEncoding"}


def _page() -> str:
    return _PAGE.read_text(encoding="utf-8")


def test_files_are_what_the_table_makes_of_them(request):
    files = format_files.files()
    if request.config.getoption("--update-golden"):
        format_files.write()
    stale = [str(path.relative_to(_ROOT)) for path, text in files.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    assert not stale, "python3 libcollector_c/format_files.py writes them"


@pytest.mark.parametrize("kind", format.Kind)
def test_event_classes_have_the_fields_of_their_kind(kind):
    cls = EVENT_CLASSES[kind]
    names = [field.name for field in dataclasses.fields(cls) if not field.name.startswith("_") and field.name != "declared"]
    assert cls.kind is kind
    assert names[5:] == [name for name, _, _ in format.FIELDS[kind]]
    assert names[:5] == [field.name for field in dataclasses.fields(Event)]
    assert "__slots__" in vars(cls) and cls.__doc__
    with pytest.raises(dataclasses.FrozenInstanceError):
        cls.__new__(cls).time = 1


@pytest.mark.parametrize("kind", [kind for kind in format.Kind if kind is not format.Kind.PCSAMPLE])
def test_event_classes_have_the_types_of_the_table(kind):
    """The fields of events are spelled out, because what a table makes at run time no checker of types can know."""
    told = typing.get_type_hints(EVENT_CLASSES[kind])
    for name, type_name, _ in format.FIELDS[kind]:
        enumeration = ENUMERATIONS.get((kind, name))
        assert told[name] == (enumeration | int if enumeration else _TYPES[type_name]) | None, name


def test_page_has_no_kind_that_the_table_lacks():
    assert re.findall(r"^### (\w+) \((\d+)\)$", _page(), re.M) == [
        (kind.name, str(kind.value)) for kind in sorted(format.Kind)
    ]


@pytest.mark.parametrize("name", _ENUMERATIONS)
def test_page_names_every_enumeration_value(name):
    line = re.search(rf"^\* \*\*{name}\*\*: (.*)$", _page(), re.M)
    assert line, f"docs/format.md does not list {name}"
    members = [(int(number), word) for number, word in re.findall(r"(\d+) (\w+)", line[1])]
    assert members == [(member.value, member.name) for member in getattr(format, name)]


def test_c_header_has_the_same_numbers():
    header = (_ROOT / "libcollector_c" / "src" / "experiment" / "format.h").read_text(encoding="utf-8")
    seen = 0
    for group, word, number in re.findall(r"COL_([A-Z]+)_(\w+) = (\d+)", header):
        members = [getattr(format, name).__members__.get(word) for name in _C_NAMES[group].split()]
        assert int(number) in [member for member in members if member is not None], f"COL_{group}_{word}"
        seen += 1
    own_causes = sum(cause < 16 for cause in format.DropCause)
    others = sum(len(getattr(format, name)) for name in _ENUMERATIONS if name != "DropCause")
    assert seen == len(format.Kind) + others + own_causes


@pytest.mark.parametrize(
    "name",
    ["VERSION_MAJOR", "VERSION_MINOR", "FRAME_HEADER_BYTES", "FRAME_MAX_BYTES", "OPEN_HEADER_BYTES", "OPEN_SLOT_BYTES"],
)
def test_c_header_has_the_same_constants(name):
    header = (_ROOT / "libcollector_c" / "src" / "experiment" / "format.h").read_text(encoding="utf-8")
    c_name = name.replace("VERSION", "FORMAT_VERSION")
    text = re.search(rf"#define COL_{c_name} \(?(\w+)(?: << (\d+))?", header)
    assert text, f"COL_{c_name}"
    assert int(text[1].rstrip("u"), 0) << int(text[2] or 0) == getattr(format, name)


def test_enumerated_fields_are_said_to_be_so():
    for (kind, field), enumeration in ENUMERATIONS.items():
        meaning = {name: text for name, _, text in format.FIELDS[kind]}[field]
        assert meaning == enumeration.__name__
