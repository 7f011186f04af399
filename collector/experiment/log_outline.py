"""log_outline -- what a log says at its beginning and in between, found by skipping from frame to frame"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from collector.experiment.pauses import Pause, merge_pauses
from collector.experiment.raw_records import RawRecord, iter_frames_of, iter_records
from collector.format import FIELDS, Kind, PauseCause
from collector.regular_file import open_binary

_HEAD_BYTES = 1 << 20
_BEGINNING = [name for name, _, _ in FIELDS[Kind.INITIALIZE]]
_NOTED_KINDS = frozenset({Kind.PROCFORK, Kind.PMCALLOCATE, Kind.PAUSE, Kind.RESUME})


@dataclass(frozen=True, slots=True)
class Clock:
    """A clock as a log defines it: PMCALLOCATE's fields of the same names."""

    name: str
    period_ns: int
    effective_period_ns: int


class LogOutline:
    """When a log began and how, its clock, its pauses. OSError if it cannot be read."""

    def __init__(self, path: str, pid: int) -> None:
        self.path = path
        self.pid = pid
        self.is_forked = False
        first = next(iter_records(read_head(path), 0), [])
        self.begun = dict(zip(_BEGINNING, first[3:])) if first and first[0] == Kind.INITIALIZE else {}
        self.begin_ns: int = first[1] if first else 0
        self.before_ns: int = (self.begun.get("user_ns") or 0) + (self.begun.get("system_ns") or 0)
        self.cpu_ns = 0
        self.clock: Clock | None = None
        self._pauses: list[Pause] = []
        for record in iter_frames_of(path, _NOTED_KINDS):
            self._note(record)

    def pauses_until(self, last_ns: int) -> list[Pause]:
        """All spans in which nothing was recorded."""
        return merge_pauses(self._pauses, map(str, self.begun.get("options") or ()), self.begin_ns, last_ns)

    def _note(self, record: RawRecord) -> None:
        is_paused = bool(self._pauses) and self._pauses[-1][2] is None
        if record[0] == Kind.PROCFORK:
            self.is_forked = True
        elif record[0] == Kind.PMCALLOCATE and len(record) >= 9 and record[4] == "cpu":
            self.clock = Clock(str(record[5]), record[7] or 0, record[8] or 0)  # the last one is in use
        elif record[0] == Kind.PAUSE and not is_paused:
            self._pauses.append((_cause(record), record[1], None))
        elif record[0] == Kind.RESUME and is_paused:
            self._pauses[-1] = (*self._pauses[-1][:2], record[1])


def read_beginning(path: str) -> dict[str, Any]:
    """Give the fields of the INITIALIZE that a log begins with, as they are on disk; nothing if it begins otherwise. OSError if it cannot be read."""
    first = next(iter_frames_of(path, (Kind.INITIALIZE,)), [])
    return dict(zip(_BEGINNING, first[3:])) if first and first[0] == Kind.INITIALIZE else {}


def read_clocks(path: str) -> tuple[int, int] | None:
    """When a log begins, and the wall clock then (both in ns); None if it does not say. OSError if it cannot be read."""
    first = next(iter_frames_of(path, (Kind.INITIALIZE,)), [])
    wall_ns = first[3 + _BEGINNING.index("wall_ns")] if len(first) > 3 + _BEGINNING.index("wall_ns") and first[0] == Kind.INITIALIZE else None
    return (first[1], wall_ns) if first and first[1] and wall_ns else None


def read_start_ticks(path: str) -> int | None:
    """When the process of a log began (INITIALIZE), None if that cannot be known."""
    try:
        start_ticks = read_beginning(path).get("start_ticks")
    except OSError:
        return None
    return start_ticks if isinstance(start_ticks, int) else None


def read_head(path: str) -> bytes:
    """The beginning of a log, as much as its first records can take."""
    with open_binary(path) as file:
        return file.read(_HEAD_BYTES)


def _cause(record: RawRecord) -> str:
    try:
        return PauseCause(record[3]).name.lower()
    except (IndexError, ValueError):
        return ""
