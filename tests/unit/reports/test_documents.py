"""test_documents -- JSON and CSV of every view, read back, and held against docs/json.md"""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from busy_profile import LISTINGS, SOURCE_TEXT, busy_profile, position_of
from tiny_profile import build_profile

from collector.cli.reporting.words import VIEWS
from collector.exports import document, group_document, metric_document
from collector.exports.csv_text import to_csv
from collector.exports.json_text import to_json
from collector.load.experiment import Experiment
from collector.profile import views
from collector.profile.call_tree import call_tree, hot_path
from collector.profile.callers_callees import callers_callees
from collector.profile.categories import read_categories
from collector.profile.category_calls import category_calls
from collector.profile.model import Profile
from collector.profile.regions import regions
from collector.profile.source_lines import source_lines
from collector.profile.timeline import Timeline, TimelineRow, timeline

PROFILE = busy_profile()
PARALLEL = build_profile([("main;main [parallel];work", 3, 1)], messages=PROFILE.messages)
PAGE = Path(__file__).parents[3] / "docs/json.md"


def timeline_of(profile: Profile) -> tuple[Timeline, list[TimelineRow]]:
    chart = timeline(profile, 10)
    return chart, chart.rows


def documents() -> dict[str, document.Document]:
    rows = {name: views.choose(view, PROFILE).rows for name, view in views.TABLE_VIEWS.items()}
    return {
        "overview": document.overview(PROFILE, rows["functions"]),
        "functions": document.functions(PROFILE, rows["functions"]),
        "function": document.function(PROFILE, rows["functions"][0]),
        "lines": document.lines(PROFILE, rows["lines"]),
        "pcs": group_document.pcs(PROFILE, rows["pcs"]),
        "callers-callees": document.callers_callees(PROFILE, callers_callees(PROFILE, position_of(PROFILE, "work"))),
        "calltree": document.call_tree(PROFILE, call_tree(PROFILE)),
        "hotpath": group_document.hot_path(PROFILE, hot_path(PROFILE).nodes),
        "calls": group_document.calls(PROFILE, category_calls(PROFILE, read_categories(), "(own code)")),
        "regions": group_document.regions(PARALLEL, regions(PARALLEL, read_categories())),
        "source": document.source(PROFILE, "/src/work.c", SOURCE_TEXT, source_lines(PROFILE, "/src/work.c"), 1, 20),
        "disasm": document.disasm(PROFILE, position_of(PROFILE, "work"), LISTINGS),
        "samples": document.samples(PROFILE, rows["samples"]),
        "timeline": group_document.timeline(PROFILE, *timeline_of(PROFILE)),
        "metrics": metric_document.metrics(PROFILE),
        "threads": document.threads(PROFILE, rows["threads"]),
        "processes": document.processes(PROFILE, rows["processes"]),
        "objects": document.objects(PROFILE, rows["objects"]),
        "header": document.header(PROFILE),
    }


DOCUMENTS = documents()


def test_every_view_has_a_document() -> None:
    assert list(DOCUMENTS) == list(VIEWS)


def test_functions_have_exactly_the_promised_form() -> None:
    assert list(DOCUMENTS["functions"]) == ["experiment", "metrics", "filters", "total", "warnings", "rows"]
    assert DOCUMENTS["functions"]["metrics"][0] == {"name": "cpu", "unit": "s"}
    assert DOCUMENTS["functions"]["total"]["cpu"] == 14.475
    assert DOCUMENTS["functions"]["rows"][0] == {
        "function": "work",
        "module": "test",
        "file": "/src/work.c",
        "line": 10,
        "exclusive": {"cpu": 6.5, "user": 6.5, "system": 0.0, "samples": 3},
        "inclusive": {"cpu": 10.5, "user": 9.5, "system": 1.0, "samples": 4},
    }


@pytest.mark.parametrize("view", ["functions", "lines", "objects", "threads", "processes", "samples", "header", "calltree", "callers-callees", "pcs", "hotpath"])
def test_rows_have_the_fields_that_python_programs_see(view: str) -> None:
    experiment = Experiment(PROFILE)
    attribute = getattr(experiment, {"calltree": "call_tree", "hotpath": "hot_path"}.get(view, view.replace("-", "_")))
    rows = attribute if isinstance(attribute, list) else attribute("work") if view == "callers-callees" else attribute()
    assert len(rows) == len(DOCUMENTS[view]["rows"])
    assert list(DOCUMENTS[view]["rows"][0]) == [field.name for field in dataclasses.fields(rows[0])]


@pytest.mark.parametrize("view", VIEWS)
def test_json_reads_back_as_it_was_written(view: str) -> None:
    text = to_json(DOCUMENTS[view])
    assert json.loads(text) == DOCUMENTS[view]
    assert text.isascii()


@pytest.mark.parametrize("view", VIEWS)
def test_csv_has_the_same_rows(view: str) -> None:
    rows = list(csv.DictReader(io.StringIO(to_csv(DOCUMENTS[view]))))
    assert len(rows) == len(DOCUMENTS[view]["rows"])
    for row, original in zip(rows, DOCUMENTS[view]["rows"]):
        for key, value in original.items():
            if isinstance(value, (int, float, str)) and not isinstance(value, bool):
                assert row[key] == str(value)
            elif isinstance(value, dict):
                for part, figure in value.items():
                    assert row[f"{key}_{part}"] == ("" if figure is None else str(figure))


@pytest.mark.parametrize("view", VIEWS)
def test_every_key_is_documented_and_every_documented_key_is_there(view: str) -> None:
    sections = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", PAGE.read_text(), re.MULTILINE | re.DOTALL))
    frame = documented(sections["All views"])
    told = documented(sections[view])
    given = set(flat_keys(DOCUMENTS[view])) - (frame - {"rows"})
    # What is described elsewhere ("as rows of ...") stands as `name[]`, or shares the description of another view.
    borrowed = {key for key in told if key.endswith("[]") and any(one.startswith(key + ".") for one in given)}
    given = {one for one in given if not any(one.startswith(key + ".") for key in borrowed)} | borrowed
    assert given == told


def documented(section: str) -> set[str]:
    return set(re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE))


def flat_keys(value: Any, name: str = "") -> list[str]:
    """Keys as the page writes them: a.b, a[].b; figures and counts by cause are one key."""
    if isinstance(value, dict) and name != "stacks" and set(value) != {"cpu", "user", "system", "samples"}:
        return [key for part, inner in value.items() for key in flat_keys(inner, f"{name}.{part}" if name else part)]
    if isinstance(value, list) and value and name != "experiment":
        return sorted({key for inner in value for key in flat_keys(inner, name + "[]")})
    return [name]


def test_names_that_are_no_utf8_survive_in_json() -> None:
    text = to_json({"experiment": "\udcff", "metrics": [], "total": {}, "rows": []})
    assert json.loads(text)["experiment"] == "\udcff"


def test_an_empty_view_is_still_csv() -> None:
    assert to_csv({"rows": []}) == "\n"
