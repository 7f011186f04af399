"""test_ratios -- instructions per cycle and miss rates, of sums: in text, JSON and CSV, wherever both parts were recorded"""

from __future__ import annotations

import csv
import io

import pytest
from counted_profile import counted_profile

from collector.cli.reporting.metric_options import measured
from collector.errors import UsageError
from collector.exports import document
from collector.exports.csv_text import to_csv
from collector.profile import aggregate
from collector.profile.compared_run import Run, function_run
from collector.profile.comparison import compare
from collector.profile.metrics import CPU_VALUES, RATIOS, Value, metrics_of, ratios_of, shown_metrics
from collector.profile.views import Selection
from collector.reports import functions, lines, overview
from collector.reports.compare import render
from collector.reports.style import Style


def test_of_a_row_it_is_the_ratio_of_its_sums() -> None:
    profile = counted_profile()
    rows = {row["function"]: row for row in document.functions(profile, aggregate.functions(profile))["rows"]}
    assert (rows["mixed"]["exclusive"]["IPC"], rows["mixed"]["exclusive"]["cache-miss-rate"]) == (0.5, 0.01)
    assert (rows["bare"]["exclusive"]["IPC"], rows["bare"]["exclusive"]["cache-miss-rate"]) == (2.0, None)
    assert rows["asleep"]["exclusive"]["IPC"] is None and rows["main"]["inclusive"]["IPC"] == 1.25 and rows["main"]["exclusive"]["IPC"] is None
    (by_line,) = (row for row in document.lines(profile, aggregate.lines(profile))["rows"] if row["function"] == "mixed")
    assert by_line["exclusive"] == rows["mixed"]["exclusive"]


def test_documents_name_it_with_the_metrics() -> None:
    profile = counted_profile()
    made = document.overview(profile, aggregate.functions(profile))
    assert made["metrics"][-2:] == [{"name": "IPC", "unit": "instructions/cycles"}, {"name": "cache-miss-rate", "unit": "cache-misses/cache-references"}]
    assert made["total"]["IPC"] == 1.25 and made["total"]["cache-miss-rate"] == 0.01
    rows = list(csv.DictReader(io.StringIO(to_csv(document.functions(profile, aggregate.functions(profile))))))
    assert {row["function"]: row["exclusive_IPC"] for row in rows} == {"mixed": "0.5", "bare": "2.0", "asleep": "", "main": ""}


@pytest.mark.parametrize(("view", "rows"), [(functions, aggregate.functions), (lines, aggregate.lines)])
def test_text_has_a_column_for_it(view, rows) -> None:  # type: ignore[no-untyped-def]
    profile = counted_profile()
    text = view.render(profile, Selection(rows(profile)), Style(300)).splitlines()
    (mixed,) = (line.split() for line in text if "mixed" in line)
    (bare,) = (line.split() for line in text if "bare" in line)
    assert any("IPC" in line and "cache-miss-rate %" in line for line in text)
    place = mixed.index("1,000") + 4  # behind cycles, instructions, misses and references
    assert mixed[place : place + 2] == ["0.50", "1.0"] and bare[place : place + 2] == ["2.00", "-"]
    assert "IPC 1.25, cache-miss-rate 1.0 %; --metric" in overview.render(profile, None, Style(300))


def test_it_is_asked_for_by_its_name() -> None:
    profile = measured(counted_profile(), "IPC", takes_ratios=True)
    assert [metric.name for metric in profile.metrics] == ["cycles", "user", "system", "samples", "instructions"]
    assert [place.ratio.name for place in ratios_of(profile.metrics)] == ["IPC"]
    assert [row.function.name for row in aggregate.functions(profile)][:2] == ["bare", "mixed"]
    with pytest.raises(UsageError, match="no metric 'branch-miss-rate'"):
        measured(counted_profile(), "branch-miss-rate", takes_ratios=True)


def test_both_parts_are_needed() -> None:
    profile = counted_profile()
    assert ratios_of(shown_metrics(profile.metrics, ["cycles", "cache-misses"])) == []
    assert ratios_of(metrics_of(CPU_VALUES)) == []
    everything = metrics_of((*CPU_VALUES, *(Value(name) for ratio in RATIOS for name in (ratio.part, ratio.whole))))
    assert [place.ratio for place in ratios_of(everything)] == list(RATIOS)


def run_of(name: str, scale: int = 1) -> Run:
    profile = measured(counted_profile(scale), name, takes_ratios=True)
    return function_run(profile, *ratios_of(profile.metrics))


@pytest.mark.parametrize(("name", "before", "after", "unit"), [("IPC", "0.50", "1.50", "instructions/cycles"), ("cache-miss-rate", "1.0", "1.0", "%")])
def test_it_is_compared(name: str, before: str, after: str, unit: str) -> None:
    """Rows with many samples first: where there is little to divide by, ratios are anything. More instructions in a cycle are not slower."""
    comparison = compare([run_of(name), run_of(name)], [run_of(name, 3), run_of(name, 3)])
    text = render(comparison, Selection(list(comparison.rows)), Style(200))
    (mixed,) = (line.split() for line in text.splitlines() if "mixed" in line and "mixed (" not in line)
    assert mixed[:2] == [before, after] and unit in text and "slower" not in text
    assert comparison.total.before == pytest.approx({"IPC": 1.25, "cache-miss-rate": 0.01}[name])
    assert ("more" in mixed) == (name == "IPC") and comparison.rows[0].place.function.name == "mixed"
