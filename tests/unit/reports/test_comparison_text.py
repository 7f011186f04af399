"""test_comparison_text -- a comparison as text at three widths, as JSON and as CSV"""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace

import pytest
from simulated_runs import made_run
from test_documents import PAGE, documented
from tiny_profile import build_profile

from collector.exports.compare_document import compare as document_of
from collector.exports.csv_text import to_csv
from collector.exports.json_text import to_json
from collector.profile.compared_run import path_run
from collector.profile.comparison import Comparison, compare, slower_than
from collector.profile.views import Selection
from collector.reports.compare import render
from collector.reports.style import Style, text_width

_BEFORE = {"read_a_long_named_configuration_file": 0.3, "hash": 1.0, "sort": 0.5, "old": 0.1, "rare": 0.003}
_AFTER = {"read_a_long_named_configuration_file": 0.3, "hash": 1.2, "sort": 0.5, "fresh": 0.1}


def made_comparison(count: int) -> Comparison:
    sides = []
    for times, name in ((_BEFORE, "a"), (_AFTER, "b")):
        factors = [1 + 0.0019 * (number - count / 2) for number in range(count)]
        sides.append([made_run({key: value * factor for key, value in times.items()}, f"{name}{n}.expt") for n, factor in enumerate(factors)])
    return compare(*sides)


def path_comparison() -> Comparison:
    """A function gets slower on one of two ways to it."""
    slow = [(f"_start;main;{way};hash", 0.001, 0) for way in ("parse", "load") for _ in range(300)]
    more = [("_start;main;load;hash", 0.001, 0)] * 150 + [("hash", 0.001, 0, {"end": "bad_frame"})] * 20
    return compare([path_run(build_profile(slow))], [path_run(build_profile(slow + more))], "path")


@pytest.mark.parametrize("width", (40, 80, 200))
def test_call_paths_are_as_they_were_agreed(width: int, golden) -> None:
    comparison = path_comparison()
    text = render(comparison, Selection(list(comparison.rows[:2]), list(comparison.rows[2:])), Style(width))
    golden(f"compare --by path --width {width}.txt", text + "\n")
    assert max(text_width(line) for line in text.split("\n")) <= width


def test_documents_have_whole_paths() -> None:
    rows = document_of(path_comparison(), path_comparison().rows)["rows"]
    assert [row["path"] for row in rows] == ["_start;main;load;hash", "(unfinished stacks);hash", "_start;main;parse;hash"]
    assert [row["verdict"] for row in rows] == ["slower", "new", "none"]


@pytest.mark.parametrize("width", (40, 80, 200))
@pytest.mark.parametrize("count", (1, 5))
def test_the_table_is_as_it_was_agreed(count: int, width: int, golden) -> None:
    comparison = made_comparison(count)
    text = render(comparison, Selection(list(comparison.rows[:5]), list(comparison.rows[5:])), Style(width))
    golden(f"compare {count} runs --width {width}.txt", text + "\n")
    assert max(text_width(line) for line in text.split("\n")) <= width
    assert all(line == line.rstrip() for line in text.split("\n"))


def test_colour_changes_nothing_but_colour() -> None:
    comparison = made_comparison(5)
    plain, coloured = (render(comparison, Selection(list(comparison.rows)), Style(100, has_color)) for has_color in (False, True))
    assert plain != coloured and re.sub(r"\x1b\[\d*m", "", coloured) == plain


def test_lines_have_their_source_however_narrow_the_page() -> None:
    comparison = replace(made_comparison(5), by="line")
    text = render(comparison, Selection(list(comparison.rows)), Style(60))
    assert "prog.c:1" in text and "CPU time of each line before and after" in text and "6 lines with 10 samples" in text


def test_nothing_to_compare_is_no_error() -> None:
    comparison = compare([made_run({})], [made_run({})])
    assert "There are no samples to compare." in render(comparison, Selection([]), Style(80))
    assert json.loads(to_json(document_of(comparison, [])))["total"]["ratio"] is None


def test_json_has_every_documented_key_and_no_other() -> None:
    comparison = made_comparison(5)
    document = document_of(comparison, comparison.rows, 0.05, slower_than(comparison, 0.05))
    assert json.loads(to_json(document)) == document
    section = re.search(r"^## compare\n(.*?)(?=^## |\Z)", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert section is not None
    shown = {key for key in document if key not in ("total", "failed", "notes", "before", "after", "rows")}
    nested = {f"rows[].{key}" for key in document["rows"][0]} | {"before[]", "after[]", "total", "failed", "notes"}
    assert documented(section[1]) == shown | nested
    assert set(document["total"]) == set(list(document["rows"][0])[5:])


def test_json_says_what_failed() -> None:
    comparison = made_comparison(5)
    document = document_of(comparison, comparison.rows, 0.05, slower_than(comparison, 0.05))
    assert [one and one["function"] for one in document["failed"]] == [None, "hash"]
    assert (document["fail_above"], document["method"], document["by"]) == (0.05, "runs", "function")
    by_name = {row["function"]: row for row in document["rows"]}
    assert by_name["hash"]["verdict"] == "slower" and by_name["hash"]["p"] <= 0.01
    assert by_name["fresh"]["ratio"] is None and by_name["fresh"]["verdict"] == "new"
    assert by_name["old"]["after"] == 0 and by_name["old"]["verdict"] == "gone"


def test_csv_has_the_same_rows() -> None:
    comparison = made_comparison(1)
    rows = list(csv.DictReader(io.StringIO(to_csv(document_of(comparison, comparison.rows)))))
    assert [row["function"] for row in rows] == [row.place.function.name for row in comparison.rows]
    assert {row["function"]: row["p"] for row in rows}["rare"] == ""
    assert float(rows[0]["after"]) == pytest.approx(comparison.rows[0].change.after)
