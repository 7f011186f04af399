"""metric_document -- the view `metrics` as one plain structure: every metric, and the whole series beside them (docs/json.md)."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from typing import Any

from collector.exports import document
from collector.exports.plain import plains
from collector.profile.metric_groups import metric_groups
from collector.profile.metric_rows import metric_facts, over_processes, series_values
from collector.profile.model import Profile


def metrics(profile: Profile) -> document.Document:
    """The view `metrics`: a row a metric; beside them the values over all processes, and the readings of each process."""
    rows = [(group.title, row) for group in metric_groups(profile) for row in group.rows]
    frame = document.functions(profile, ())  # what all views share
    frame["rows"] = _told(metric_facts(group, row) for group, row in rows)
    frame["over_processes"] = _told(over_processes(profile, row) for _, row in rows)
    frame["series"] = _told(series_values(profile, series) for series in profile.series)
    return frame


def _told(rows: Iterable[object]) -> list[dict[str, Any]]:
    return [{key: list(map(_word, value)) if isinstance(value, list) else _word(value) for key, value in row.items()} for row in plains(rows)]


def _word(value: Any) -> Any:
    """JSON has neither infinities nor NaN: they are the words inf, -inf and nan."""
    return f"{value:g}" if isinstance(value, float) and not isfinite(value) else value
