"""sample_point -- what was read of a process at one moment; the lines of the readings are written by format_files.py"""

from typing import NamedTuple


class SamplePoint(NamedTuple):
    """Readings of a whole process at one moment, all counted from its start but for levels; None where the system does not tell."""

    process: int | None
    experiment: int
    pid: int
    time_ns: int
    label: str
    cause: str
    user_ns: int | None = None
    system_ns: int | None = None
    minor_faults: int | None = None
    major_faults: int | None = None
    voluntary_switches: int | None = None
    involuntary_switches: int | None = None
    resident_bytes: int | None = None
    read_bytes: int | None = None
    written_bytes: int | None = None
    peak_resident_bytes: int | None = None
