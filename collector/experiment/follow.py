"""follow -- the events, or records, of an experiment while it is being written, as they come"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator

from collector.experiment.directory import LogFile, open_directory
from collector.experiment.events import AnyEvent, AnyRecord, CloseLog
from collector.experiment.liveness import is_running
from collector.experiment.log_reader import EventReader
from collector.experiment.log_source import PathSource
from collector.experiment.merge import complaints_of, expand
from collector.experiment.open_frames import read_missing
from collector.experiment.origin import LAUNCHER

_POLL_SECONDS = 0.1
_PATIENCE_SECONDS = 2.0  # for a gap in front of good frames; a writer fills it within microseconds, or never
_IDLE_POLLS = 5  # without a launcher: so long nothing may happen between the end of one process and the next log


def follow_events(path: str | os.PathLike[str], sleep: Callable[[float], None] = time.sleep) -> Iterator[AnyEvent]:
    """All events so far, then the new ones, until every log was closed or its process died.

    The order is that of each log; between logs, that in which their frames came. Samples come when their frame is complete, within about
    a second. Raises what `open_directory` raises.
    """
    followed = FollowedExperiment(path)
    while not followed.is_over:
        count = 0
        for _, record in followed.poll():
            count += 1
            yield from expand((record,))
        if not count and not followed.is_over:
            sleep(_POLL_SECONDS)


class FollowedExperiment:
    """An experiment that is read as it grows. `is_over`: every log was closed or its process died, and all of it was read."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.is_over = False
        self._path = path
        self._logs: dict[str, _FollowedLog] = {}
        self._told: set[str] = set()
        self._idle_polls = 0

    def poll(self) -> Iterator[tuple[LogFile | None, AnyRecord]]:
        """The records that came since the last time, with their logs; a complaint about the directory has none."""
        directory = open_directory(self._path)
        yield from ((None, event) for event in complaints_of(directory) if event.text not in self._told)
        self._told.update(directory.complaints)
        for log in directory.all_logs:
            tail = self._logs.setdefault(log.path, _FollowedLog(log))
            yield from ((log, record) for record in tail.poll())
        if all(tail.is_over or not tail.has_begun for tail in self._logs.values()):
            self._idle_polls += 1
            launchers = [tail for tail in self._logs.values() if tail.is_launcher]  # of a parallel job one a rank
            self.is_over = self._idle_polls > _IDLE_POLLS or (bool(launchers) and all(tail.is_over for tail in launchers))
        else:
            self._idle_polls = 0
        if self.is_over:
            for tail in self._logs.values():
                yield from ((tail.log, record) for record in tail.end())


class _FollowedLog:
    """One log, read as it grows. `has_begun`: it says whose it is, so that one can see whether its writer lives. `is_over`: nothing more will come."""

    def __init__(self, log: LogFile) -> None:
        self.log = log
        self.has_begun = False
        self.is_over = False
        self.is_launcher = log.origin == LAUNCHER
        self._reader = EventReader(PathSource(log.path), origin=log.origin, is_live=True)
        self._held_since: float | None = None

    def poll(self) -> Iterator[AnyRecord]:
        """What came since the last time."""
        if self.is_over:
            return
        is_gone = self.has_begun and not self._is_running()  # asked first: what a process wrote before it died is read below
        for record in self._reader.records():
            yield record
            self._note(record)
        if is_gone:
            yield from self.end()
        self._keep_patience()

    def end(self) -> Iterator[AnyRecord]:
        """The process is gone: the end of its log, and its open frames unless somebody moved them into the log already."""
        if not self.is_over:
            self.is_over = True
            yield from self._reader.finish_records()
            yield from read_missing(self.log)[1]

    def _note(self, record: AnyRecord) -> None:
        self.has_begun = True
        if isinstance(record, CloseLog):
            self.is_over = True

    def _is_running(self) -> bool:
        return is_running(self.log)

    def _keep_patience(self) -> None:
        if not self._reader.is_holding:
            self._held_since = None
        elif self._held_since is None:
            self._held_since = time.monotonic()
        elif time.monotonic() - self._held_since > _PATIENCE_SECONDS:
            self._reader.give_up_waiting()
