"""json_text -- a document as JSON, in ASCII, one row a line so that it can be read and compared."""

from __future__ import annotations

import json

from collector.exports.document import Document


def to_json(document: Document) -> str:
    """The document as JSON text; bytes that are not UTF-8 come out as lone surrogates `\\udcXX`."""
    parts = [f"{json.dumps(key)}: {_value_text(value)}" for key, value in document.items()]
    return "{\n  " + ",\n  ".join(parts) + "\n}\n"


def _value_text(value: object) -> str:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n    " + ",\n    ".join(json.dumps(row) for row in value) + "\n  ]"
    return json.dumps(value)
