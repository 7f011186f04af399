"""compare_document -- a comparison as one plain structure (docs/json.md)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from collector.exports.document import Document
from collector.exports.plain import plains
from collector.profile.change import CONFIDENCE, LEVEL, Change
from collector.profile.comparison import ComparedRow, Comparison
from collector.profile.findings import answer, notes, path_steps


def compare(
    comparison: Comparison, rows: Iterable[ComparedRow], limit: float | None = None, failed: Sequence[Change | ComparedRow] = ()
) -> Document:
    """The comparison with these of its rows; `failed` is what is slower than `limit` allows."""
    return {
        "before": [run.name for run in comparison.before],
        "after": [run.name for run in comparison.after],
        "by": comparison.by,
        "metric": comparison.metric.name,
        "method": "runs" if comparison.has_spread else "samples",
        "confidence": CONFIDENCE,
        "level": LEVEL,
        "compared": comparison.compared,
        "total": _figures(comparison.total),
        "rows": [_row(row) for row in rows],
        "fail_above": limit,
        "failed": [_named(one) if isinstance(one, ComparedRow) else None for one in failed],
        "notes": notes(comparison),
        "answer": answer(comparison),
    }


def _row(row: ComparedRow) -> dict[str, Any]:
    return _named(row) | _figures(row.change)


def _figures(change: Change) -> dict[str, Any]:
    """Without more digits than times have; `p` may be very small."""
    return {key: round(value, 9) if isinstance(value, float) and key != "p" else value for key, value in plains([change])[0].items()}


def _named(row: ComparedRow) -> dict[str, Any]:
    place = row.place
    path = None if place.callers is None else ";".join(path_steps(place, is_short=False))
    return {"function": place.function.name, "module": place.module.name, "file": place.file, "line": place.line, "path": path}
