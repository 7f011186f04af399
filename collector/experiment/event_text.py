"""event_text -- an event as one line of text or one JSON object; no field is ever renamed"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from enum import IntEnum
from math import isfinite
from typing import Any

from collector.experiment.events import AnyEvent, DropNotify
from collector.experiment.samples import PcSample
from collector.format import FIELDS

_PLAIN = re.compile(r"[!-~]*\Z")
_NEEDS_QUOTES = re.compile(r'[\s"\\,=]')
_ADDRESSES = {"start", "end", "bias", "entry", "start_address", "caller"}
_LONG_BYTES = 20  # a build id is shown; code and line tables are counted


def event_to_line(event: AnyEvent) -> str:
    """`TIME PROCESS THREAD KIND name=value ...`: seconds with nine decimals, values without blanks unless quoted."""
    seconds, nanoseconds = divmod(event.time, 1_000_000_000)
    words = [f"{seconds}.{nanoseconds:09}", str(event.origin or "-"), str(event.thread), event.kind.name]
    words += (f"{name}={_value_text(name, value)}" for name, value in _iter_fields(event) if value is not None)
    return " ".join(words)


def event_to_json(event: AnyEvent) -> str:
    """The event as a JSON object: kind, time in nanoseconds, pid and image of its origin, thread, place in the log, fields.

    Names of enumerations are strings, bytes are hexadecimal, a stack is a list of addresses, leaf first.
    """
    origin = event.origin
    head = {
        "kind": event.kind.name,
        "time": event.time,
        "origin": str(origin) if origin else None,
        "thread": event.thread,
        "log_offset": event.log_offset,
        "serial": event.serial,
    }
    return json.dumps(head | {name: _json_value(value) for name, value in _iter_fields(event)})


def _iter_fields(event: AnyEvent) -> list[tuple[str, Any]]:
    """The names and values of an event's own fields, in the order of the format."""
    if isinstance(event, PcSample):
        stack = event.stack
        return [
            ("source", event.source), *_iter_values(event), ("end", stack.end), ("stack", stack.addresses),
        ]
    if isinstance(event, DropNotify) and event.offset is None:
        return [("cause", event.cause), ("count", event.count)]
    return [(name, getattr(event, name)) for name, _, _ in FIELDS[event.kind]]


def _iter_values(sample: PcSample) -> Iterator[tuple[str, int]]:
    """What a sample stands for; the names of times say their unit."""
    units = dict(zip(sample.block.declared.names, sample.block.declared.units))
    return ((f"{name}_ns" if units[name] == "ns" else name, value) for name, value in sample.figures.items())


def _value_text(name: str, value: Any) -> str:
    if isinstance(value, IntEnum):
        return value.name
    if isinstance(value, bytes):
        return value.hex() if len(value) <= _LONG_BYTES else f"<{len(value)} bytes>"
    if isinstance(value, str):
        return _quote(value)
    if isinstance(value, tuple):
        return ",".join(hex(item) if isinstance(item, int) else _quote(item) for item in value)
    return hex(value) if name in _ADDRESSES and isinstance(value, int) else str(value)


def _quote(text: str) -> str:
    """The text itself if it is one plain word, else a JSON string, so that a line is always one line."""
    if text and _PLAIN.match(text) and not _NEEDS_QUOTES.search(text):
        return text
    return json.dumps(text, ensure_ascii=not text.isprintable())


def _json_value(value: Any) -> Any:
    if isinstance(value, IntEnum):
        return value.name
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, tuple):
        return list(value)
    return str(value) if isinstance(value, float) and not isfinite(value) else value
