"""reading_fields -- the readings of collector/readings.py as fields of a value; the lines of the fields are written by format_files.py"""

from __future__ import annotations

from operator import attrgetter

from collector.dataclass import dataclass
from collector.readings import READINGS


# Without slots, so that what has readings can inherit them beside a base of its own.
@dataclass(frozen=True)
class _Times:
    user_ns: int | None = None
    system_ns: int | None = None


@dataclass(frozen=True)
class Counts:
    """Readings that are no times."""

    minor_faults: int | None = None
    major_faults: int | None = None
    voluntary_switches: int | None = None
    involuntary_switches: int | None = None
    resident_bytes: int | None = None
    read_bytes: int | None = None
    written_bytes: int | None = None
    peak_resident_bytes: int | None = None


@dataclass(frozen=True)
class Readings(Counts, _Times):
    """Readings of a process at one moment, all counted from its start but for levels; None where the system does not tell."""


def readings_of(source: object) -> tuple[int | None, ...]:
    """The readings of whatever has them, in the order of the format."""
    readings: tuple[int | None, ...] = _READ(source)
    return readings


_READ = attrgetter(*(name for name, _, _ in READINGS))
