"""log_facts -- what a log says besides its samples: process, threads, mappings, clocks, pauses, losses"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field

from collector.experiment import events
from collector.experiment.directory import LogFile
from collector.experiment.log_records import iter_records
from collector.experiment.samples import PcSampleBlock


@dataclass(slots=True)
class ThreadFacts:
    """A thread as its log tells it; the kernel's account is None if its end was not written."""

    tid: int
    name: str = ""
    start_ns: int = 0
    end_ns: int | None = None
    user_ns: int | None = None
    system_ns: int | None = None


@dataclass(slots=True)
class LogFacts:
    """All of a log but its samples."""

    log: LogFile
    size_bytes: int = 0
    initialize: events.Initialize | None = None
    close: events.CloseLog | None = None
    exit: events.ProcExit | None = None
    fork: events.ProcFork | None = None
    mappings: list[events.MappingChange] = field(default_factory=list)
    clocks: dict[int, events.PmcAllocate] = field(default_factory=dict)
    threads: dict[int, list[ThreadFacts]] = field(default_factory=dict)
    points: list[events.Sample] = field(default_factory=list)
    pauses: list[tuple[str, int, int | None]] = field(default_factory=list)
    drops: dict[tuple[int, str, bool], int] = field(default_factory=dict)
    messages: dict[tuple[int, str, str | None], int] = field(default_factory=dict)
    exits: list[events.ProcExit | events.SysExit] = field(default_factory=list)
    first_ns: int | None = None
    last_ns: int = 0
    sample_count: int = 0

    def thread_at(self, tid: int, time_ns: int) -> ThreadFacts:
        """The thread that had this id at that time; made up if the log never spoke of it."""
        lives = self.threads.setdefault(tid, [])
        if not lives:
            lives.append(ThreadFacts(tid, start_ns=time_ns))
        for life in reversed(lives):
            if life.start_ns <= time_ns:
                return life
        return lives[0]

    @property
    def start_ns(self) -> int:
        """When the log begins."""
        return self.first_ns or 0


def read_facts(log: LogFile) -> LogFacts:
    """Read a log for the first time. ExperimentError if it cannot be read at all."""
    facts = LogFacts(log, size_bytes=_size_on_disk(log.path))
    for record in iter_records(log):
        if isinstance(record, PcSampleBlock):
            _see_time(facts, record.time)
            facts.last_ns = max(facts.last_ns, record.last_time)
            facts.sample_count += record.count
            facts.thread_at(record.thread, record.time)
            continue
        if record.time:
            _see_time(facts, record.time)
        note = _NOTES.get(type(record))
        if note is not None:
            note(facts, record)
    return facts


def _size_on_disk(path: str) -> int:
    try:
        status = os.stat(path)
    except OSError:
        return 0
    return min(status.st_size, status.st_blocks * 512)


def _see_time(facts: LogFacts, time_ns: int) -> None:
    if facts.first_ns is None or time_ns < facts.first_ns:
        facts.first_ns = time_ns
    facts.last_ns = max(facts.last_ns, time_ns)


def _note_initialize(facts: LogFacts, event: events.Initialize) -> None:
    facts.initialize = facts.initialize or event


def _note_close(facts: LogFacts, event: events.CloseLog) -> None:
    facts.close = event


def _note_proc_exit(facts: LogFacts, event: events.ProcExit) -> None:
    facts.exit = event
    facts.exits.append(event)


def _note_fork(facts: LogFacts, event: events.ProcFork) -> None:
    facts.fork = event


def _note_sys_exit(facts: LogFacts, event: events.SysExit) -> None:
    facts.exits.append(event)


def _note_mapping(facts: LogFacts, event: events.MappingChange) -> None:
    facts.mappings.append(event)


def _note_clock(facts: LogFacts, event: events.PmcAllocate) -> None:
    if event.source is not None:
        facts.clocks[event.source] = event


def _note_thread(facts: LogFacts, event: events.ThrCreate) -> None:
    lives = facts.threads.setdefault(event.thread, [])
    # Samples may have been seen before the birth was: a thread is sampled as soon as it runs.
    if lives and lives[-1].end_ns is None and not lives[-1].name:
        lives[-1].name = event.name or ""
    else:
        lives.append(ThreadFacts(event.thread, event.name or "", event.time))


def _note_thread_exit(facts: LogFacts, event: events.ThrExit) -> None:
    lives = facts.threads.setdefault(event.thread, [])
    if not lives or lives[-1].end_ns is not None:
        lives.append(ThreadFacts(event.thread, start_ns=facts.start_ns if not lives else event.time))
    thread = lives[-1]
    thread.name = event.name or thread.name
    thread.user_ns, thread.system_ns = event.user_ns, event.system_ns
    thread.end_ns = event.time


def _note_point(facts: LogFacts, event: events.Sample) -> None:
    facts.points.append(event)


def _note_pause(facts: LogFacts, event: events.Pause) -> None:
    if not facts.pauses or facts.pauses[-1][2] is not None:
        facts.pauses.append((_word(event.cause), event.time, None))


def _note_resume(facts: LogFacts, event: events.Resume) -> None:
    if facts.pauses and facts.pauses[-1][2] is None:
        cause, start_ns, _ = facts.pauses[-1]
        facts.pauses[-1] = (cause, start_ns, event.time)


def _note_drop(facts: LogFacts, event: events.DropNotify) -> None:
    # Counts are cumulative per thread and cause, the recorder's and the reader's apart.
    facts.drops[event.thread, _word(event.cause), event.length is not None] = event.count or 0


def _note_message(facts: LogFacts, event: events.Message) -> None:
    key = (event.severity or 0, event.text or "", event.subject)
    facts.messages[key] = max(facts.messages.get(key, 0), event.count or 1)


def _word(value: object) -> str:
    """The name of an enumeration's value in lower case; `cause 42` for one that has no name."""
    name = getattr(value, "name", None)
    return name.lower() if name else f"cause {value}"


_NOTES: dict[type, Callable] = {
    events.Initialize: _note_initialize,
    events.CloseLog: _note_close,
    events.ProcExit: _note_proc_exit,
    events.ProcFork: _note_fork,
    events.SysExit: _note_sys_exit,
    events.MappingChange: _note_mapping,
    events.PmcAllocate: _note_clock,
    events.ThrCreate: _note_thread,
    events.ThrExit: _note_thread_exit,
    events.Sample: _note_point,
    events.Pause: _note_pause,
    events.Resume: _note_resume,
    events.DropNotify: _note_drop,
    events.Message: _note_message,
}
