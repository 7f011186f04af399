"""readings -- what is read of a process as a whole at a sample point: declared here for records, events, rows and exports

A field added here is part of the SAMPLE record (collector/format.py), of its event, and of the view `samples` in all its forms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_told: list[tuple[str, bool]] = []


def _reading(meaning: str, *, is_level: bool = False) -> Any:
    """The default of a field, of which this is the meaning, and whether it belongs to a moment instead of counting on."""
    _told.append((meaning, is_level))


@dataclass(frozen=True)
class _Times:
    user_ns: int | None = _reading("user CPU time so far")
    system_ns: int | None = _reading("system CPU time so far")


# Without slots, so that what has readings can inherit them beside a base of its own.
@dataclass(frozen=True)
class Counts:
    """Readings that are no times."""

    minor_faults: int | None = _reading("page faults without I/O so far")
    major_faults: int | None = _reading("page faults with I/O so far")
    voluntary_switches: int | None = _reading("voluntary context switches so far")
    involuntary_switches: int | None = _reading("involuntary context switches so far")
    resident_bytes: int | None = _reading("resident memory now, nil if unknown, and at cause START", is_level=True)
    read_bytes: int | None = _reading("bytes read by system calls so far (rchar), nil if unknown")
    written_bytes: int | None = _reading("bytes written by system calls so far (wchar), nil if unknown")
    peak_resident_bytes: int | None = _reading("most resident memory so far, nil if unknown, and at cause START", is_level=True)


@dataclass(frozen=True)
class Readings(Counts, _Times):
    """Readings of a process at one moment, all counted from its start but for levels; None where the system does not tell."""


COUNTS = tuple(Counts.__annotations__)
"""The names of those that are no times."""

_NAMES = (*_Times.__annotations__, *COUNTS)

READINGS = tuple((name, "uint", meaning) for name, (meaning, _) in zip(_NAMES, _told))
"""Name, type and meaning of each, as collector/format.py lists fields."""

LEVELS = frozenset(name for name, (_, is_level) in zip(_NAMES, _told) if is_level)
"""The names of those that belong to a moment, and are not counted from the start of the process."""


def readings_of(source: Readings) -> tuple[int | None, ...]:
    """The readings of whatever has them, in the order of the format."""
    return tuple(getattr(source, name) for name in _NAMES)
