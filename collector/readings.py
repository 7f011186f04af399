"""readings -- what is read of a process as a whole at a sample point: declared here for records, events, rows and exports

A row added here is a field of the SAMPLE record (collector/format.py), of its event, and of the view `samples` in all its forms. The same as fields of
values is collector/reading_fields.py, made of this table: whoever records has no need of it.
"""

from __future__ import annotations

_TIMES = (
    ("user_ns", "user CPU time so far"),
    ("system_ns", "system CPU time so far"),
)
_COUNTS = (
    ("minor_faults", "page faults without I/O so far"),
    ("major_faults", "page faults with I/O so far"),
    ("voluntary_switches", "voluntary context switches so far"),
    ("involuntary_switches", "involuntary context switches so far"),
    ("resident_bytes", "resident memory now, nil if unknown, and at cause START"),
    ("read_bytes", "bytes read by system calls so far (rchar), nil if unknown"),
    ("written_bytes", "bytes written by system calls so far (wchar), nil if unknown"),
    ("peak_resident_bytes", "most resident memory so far, nil if unknown, and at cause START"),
)

COUNTS = tuple(name for name, _ in _COUNTS)
"""The names of those that are no times."""

READINGS = tuple((name, "uint", meaning) for name, meaning in _TIMES + _COUNTS)
"""Name, type and meaning of each, as collector/format.py lists fields."""

LEVELS = frozenset(("resident_bytes", "peak_resident_bytes"))
"""The names of those that belong to a moment, and are not counted from the start of the process."""
