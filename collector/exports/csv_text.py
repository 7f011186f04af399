"""csv_text -- the rows of a document as CSV: nested figures become columns as `exclusive_cpu`."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

from collector.exports.document import Document
from collector.printable import printable, spreadsheet_cell


def to_csv(document: Document) -> str:
    """The rows with one line of column names; nothing known is an empty cell, a list is joined by blanks."""
    rows = [dict(_iter_cells(row)) for row in document["rows"]]
    columns = list(dict.fromkeys(column for row in rows for column in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _iter_cells(row: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in row.items():
        if isinstance(value, dict):
            yield from _iter_cells(value, f"{prefix}{printable(key)}_")
        elif isinstance(value, list):
            yield prefix + printable(key), spreadsheet_cell(" ".join(map(str, value)))
        elif isinstance(value, str):
            yield prefix + printable(key), spreadsheet_cell(value)
        else:
            yield prefix + printable(key), "" if value is None else value
