"""log_facts -- what a log says besides its samples: process, threads, mappings, clocks, pauses, losses"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import Any

from collector.analysis.seam import Analysis
from collector.experiment import events
from collector.experiment.directory import LogFile
from collector.experiment.events import AnyRecord
from collector.experiment.log_outline import PauseSpan, merge_pauses
from collector.experiment.node_clocks import with_shift
from collector.experiment.origin import ProcessIdentities, ProcessIdentity
from collector.experiment.records import MetricRecord, row_of
from collector.experiment.samples import PcSampleBlock, SampleHead, SourceValues, declared_values
from collector.target.address_space import AddressSpace
from collector.target.process import Image, LoggedProcess, LoggedThread, ProcessTable

MessageKey = tuple[int, str, str | None]
"""Severity, text, subject."""


_PLUGIN = "plugin"  # the clock of sources that are metrics
_CLOCKED = ("cpu", "waits")


@dataclass(slots=True)
class LogFacts:
    """All of a log but its samples, of which there are the heads of their records.

    `number` is that of the log in the analysis. `ends` are those of other processes: the launcher's log has them.

    `drops` counts by thread, cause, and whether the reader noticed (or else the recorder told).
    """

    log: LogFile
    number: int = 0
    size_bytes: int = 0
    heads: list[SampleHead] = field(default_factory=list)
    process: LoggedProcess | None = None
    initialize: events.Initialize | None = None
    close: events.CloseLog | None = None
    space: AddressSpace = field(default_factory=AddressSpace)
    clock: events.PmcAllocate | None = None
    declared: list[SourceValues] = field(default_factory=list)
    attached: events.PmcAttach | None = None
    metrics: dict[int, events.PmcAllocate] = field(default_factory=dict)
    rows: list[MetricRecord] = field(default_factory=list)
    points: list[events.Sample] = field(default_factory=list)
    pauses: list[PauseSpan] = field(default_factory=list)
    drops: dict[tuple[int, str, bool], int] = field(default_factory=dict)
    messages: dict[MessageKey, int] = field(default_factory=dict)
    message_times: dict[MessageKey, int] = field(default_factory=dict)
    ends: list[events.ProcExit] = field(default_factory=list)
    unrecorded: list[events.SysExit] = field(default_factory=list)
    entry_address: int | None = None
    interpreter: events.Interpreter | None = None
    first_ns: int | None = None
    last_ns: int = 0

    @property
    def start_ns(self) -> int:
        """When the log begins."""
        return self.first_ns or 0

    @property
    def has_gaps(self) -> bool:
        """Whether recording was off for some of the time."""
        return bool(self.pauses) or (self.initialize is not None and _have_gaps(self.initialize.options or ()))

    @property
    def all_pauses(self) -> list[PauseSpan]:
        """Its pauses, and what lies outside the window of the options, without overlaps."""
        if not self.has_gaps:
            return []
        options = (self.initialize.options or ()) if self.initialize else ()
        return merge_pauses(self.pauses, options, self.start_ns, self.last_ns, self.log.shift_ns)

    @property
    def image(self) -> Image | None:
        """The process image that wrote the log; None of the launcher."""
        return self.process.images[-1] if self.process and self.process.images else None

    def identify(self, identities: ProcessIdentities) -> ProcessIdentity:
        """Whose image wrote the log."""
        begun = self.initialize or events.Initialize(0, 0)
        is_forked = self.process is not None and self.process.is_forked
        return identities.identify(self.log.origin, begun.start_ticks, begun.pid_namespace, is_forked)

    @property
    def threads(self) -> tuple[LoggedThread, ...]:
        """Its threads, oldest first."""
        return self.process.threads if self.process else ()


def parents_of(logs: Sequence[LogFacts]) -> set[int]:
    """The processes that forked those of the logs; 0 for one that nobody knows."""
    return {facts.process.parent_pid or 0 for facts in logs if facts.process is not None and facts.process.is_forked}


def read_facts(log: LogFile, analysis: Analysis) -> LogFacts:
    """Read a log. ExperimentError if it cannot be read at all."""
    number, records = analysis.scan(log)
    growing = GrowingFacts(log)
    if log.shift_ns:
        analysis.shift(number, log.shift_ns)
    growing.add_all(list(with_shift(records, log.shift_ns)) if log.shift_ns else records)
    facts = growing.so_far()
    facts.number = number
    return facts


class GrowingFacts:
    """The facts of a log, taken from its records one after the other."""

    def __init__(self, log: LogFile) -> None:
        self.facts = LogFacts(log)
        self._table = ProcessTable()

    def add(self, record: AnyRecord | SampleHead) -> None:
        """Take in the next record; the heads of samples are kept by who adds them."""
        facts, kind, time_ns = self.facts, type(record), record.time
        last_ns = record.last_time if kind in _SAMPLES else time_ns  # type: ignore[union-attr]  # which have one
        if kind not in _NOT_OF_PROCESSES or facts.first_ns is None:
            self._table.add(facts.log.origin, record)
        if facts.first_ns is None or 0 < time_ns < facts.first_ns:
            facts.first_ns = time_ns or None
        if last_ns > facts.last_ns:
            facts.last_ns = last_ns
        note = _NOTES.get(kind)
        if note is not None:
            note(facts, record)

    def add_all(self, records: Sequence[events.Event | SampleHead]) -> None:
        """Take in all records of a log, with the heads of its samples."""
        facts, origin, add_to_table = self.facts, self.facts.log.origin, self._table.add
        facts.heads = heads = [record for record in records if isinstance(record, SampleHead)]
        told = [record for record in records if type(record) is not SampleHead or not record.is_lost] if heads else records
        for record in told[:1]:
            self.add(record)
        for record in islice(told, 1, None):
            kind = type(record)
            if kind not in _NOT_OF_PROCESSES:
                add_to_table(origin, record)
            note = _NOTES.get(kind)
            if note is not None:
                note(facts, record)
        times = [record.time for record in told]
        facts.first_ns = min(filter(None, times), default=None)
        facts.last_ns = max([0, *times, *(head.last_time for head in heads if not head.is_lost)])

    def so_far(self) -> LogFacts:
        """All that was said until now; the same value each time, which goes on growing."""
        facts = self.facts
        self._table.note_time(facts.log.origin, facts.last_ns)
        facts.process = next(iter(self._table.processes()), None)
        facts.size_bytes = _size_on_disk(facts.log.path)
        return facts


@lru_cache(maxsize=1 << 10)  # thousands of processes have the same options
def _have_gaps(options: tuple[str, ...]) -> bool:
    return any(option.partition("=")[0] in ("start", "end", "paused") for option in options)


@lru_cache(maxsize=1 << 8, typed=True)
def word_of(value: object) -> str:
    """The name of an enumeration's value in lower case; `cause 42` for one that has no name."""
    name = getattr(value, "name", None)
    return name.lower() if name else f"cause {value}"


def _size_on_disk(path: str) -> int:
    try:
        status = os.stat(path)
    except OSError:
        return 0
    return min(status.st_size, status.st_blocks * 512)


def _note_initialize(facts: LogFacts, event: events.Initialize) -> None:
    facts.initialize = facts.initialize or event


def _note_exec(facts: LogFacts, event: events.ProcExec) -> None:
    # The last record of an image announces the next one, whose entry is not known yet.
    facts.entry_address = facts.entry_address or event.entry or None


def _note_close(facts: LogFacts, event: events.CloseLog) -> None:
    facts.close = event


def _note_end(facts: LogFacts, event: events.ProcExit) -> None:
    facts.ends.append(event)


def _note_unrecorded(facts: LogFacts, event: events.SysExit) -> None:
    facts.unrecorded.append(event)


def _note_mapping(facts: LogFacts, event: events.MappingChange) -> None:
    facts.space.add(event)


def _note_clock(facts: LogFacts, event: events.PmcAllocate) -> None:
    if event.clock == _PLUGIN:
        facts.metrics[event.source or 0] = event
        return
    if event.values:
        facts.declared.append(declared_values(event.values, event.counted_as))
    if event.name in _CLOCKED:
        facts.clock = event  # the last one: another clock takes over where the first does not tick


def _note_attach(facts: LogFacts, event: events.PmcAttach) -> None:
    if facts.clock is not None and event.source == facts.clock.source:
        facts.attached = event


def _note_reading(facts: LogFacts, event: events.Metric) -> None:
    facts.rows.append(row_of(event))


def _note_row(facts: LogFacts, event: MetricRecord) -> None:
    facts.rows.append(event)


def _note_point(facts: LogFacts, event: events.Sample) -> None:
    facts.points.append(event)


def _note_pause(facts: LogFacts, event: events.Pause) -> None:
    if not facts.pauses or facts.pauses[-1][2] is not None:
        facts.pauses.append((word_of(event.cause), event.time, None))


def _note_resume(facts: LogFacts, event: events.Resume) -> None:
    if facts.pauses and facts.pauses[-1][2] is None:
        cause, start_ns, _ = facts.pauses[-1]
        facts.pauses[-1] = (cause, start_ns, event.time)


def _note_drop(facts: LogFacts, event: events.DropNotify) -> None:
    # A count is cumulative for its thread and cause: the last one is all of them.
    facts.drops[event.thread, word_of(event.cause), event.length is not None] = event.count or 0


def _note_interpreter(facts: LogFacts, event: events.Interpreter) -> None:
    if facts.interpreter is None or event.name == "CPython":  # of several in a process the one whose own frames are folded
        facts.interpreter = event


def _note_message(facts: LogFacts, event: events.Message) -> None:
    key = (event.severity or 0, event.text or "", event.subject)
    facts.messages[key] = max(facts.messages.get(key, 0), event.count or 1)
    facts.message_times.setdefault(key, event.time)


_NOTES: dict[type, Callable[[LogFacts, Any], None]] = {
    events.Initialize: _note_initialize,
    events.ProcExec: _note_exec,
    events.CloseLog: _note_close,
    events.ProcExit: _note_end,
    events.SysExit: _note_unrecorded,
    events.MappingChange: _note_mapping,
    events.PmcAllocate: _note_clock,
    events.PmcAttach: _note_attach,
    events.Metric: _note_reading,
    MetricRecord: _note_row,
    events.Sample: _note_point,
    events.Pause: _note_pause,
    events.Resume: _note_resume,
    events.DropNotify: _note_drop,
    events.Message: _note_message,
    events.Interpreter: _note_interpreter,
}

_SAMPLES = (SampleHead, PcSampleBlock)

# Most records of most logs: they say nothing of processes and threads but that they were there.
_NOT_OF_PROCESSES = frozenset(
    (events.MappingChange, events.PmcAllocate, events.PmcAttach, events.PmcDetach, events.Metric, MetricRecord, events.Message, events.Interpreter)
)
