"""events -- one frozen value per kind of event

The fields are those of collector/format.py, in its order; a test holds the two together. A field is None where the
log does not have it: an older recorder did not write it, or the system could not say.
Every event also knows where it came from: `log_offset`, the byte offset of its record in the log; `serial`, its
number among the events of that log, from 1; and `origin`, the process image that wrote the log.
Times are nanoseconds of CLOCK_MONOTONIC, unless a name says otherwise (wall_ns is CLOCK_REALTIME).
"""

from __future__ import annotations

from typing import ClassVar

from collector.dataclass import dataclass
from collector.experiment.origin import Origin
from collector.experiment.samples import PcSample, PcSampleBlock
from collector.format import CloseReason, DropCause, Kind, LineEncoding, MapAction, MapKind, PauseCause, SampleCause
from collector.reading_fields import Readings


@dataclass(frozen=True, slots=True)
class Event:
    """What all events have. `thread` is the kernel's thread id, 0 where the event concerns the whole process."""

    kind: ClassVar[Kind]
    time: int = 0
    thread: int = 0
    log_offset: int = 0
    serial: int = 0
    origin: Origin | None = None


@dataclass(frozen=True, slots=True)
class CloseLog(Event):
    """The log was closed in order; its totals prove that it is complete."""

    kind: ClassVar[Kind] = Kind.CLOSELOG
    reason: CloseReason | int | None = None
    sample_count: int | None = None
    frame_count: int | None = None
    drop_count: int | None = None
    user_ns: int | None = None
    system_ns: int | None = None


@dataclass(frozen=True, slots=True)
class DropNotify(Event):
    """Data is missing: told by the recorder, or found by the reader (then with offset and length)."""

    kind: ClassVar[Kind] = Kind.DROPNOTIFY
    cause: DropCause | int | None = None
    count: int | None = None
    offset: int | None = None
    length: int | None = None


@dataclass(frozen=True, slots=True)
class Initialize(Event):
    """The first event of a log: who wrote it, where, with what options."""

    kind: ClassVar[Kind] = Kind.INITIALIZE
    version_major: int | None = None
    version_minor: int | None = None
    wall_ns: int | None = None
    pid: int | None = None
    ppid: int | None = None
    image: int | None = None
    host: str | None = None
    machine: str | None = None
    kernel: str | None = None
    cpu_count: int | None = None
    page_bytes: int | None = None
    executable: str | None = None
    arguments: tuple[str, ...] | None = None
    directory: str | None = None
    options: tuple[str, ...] | None = None
    library_version: str | None = None
    uid: int | None = None
    user_ns: int | None = None
    system_ns: int | None = None
    start_ticks: int | None = None
    pid_namespace: int | None = None
    rank: int | None = None
    local_rank: int | None = None


@dataclass(frozen=True, slots=True)
class MappingChange(Event):
    """Code appeared in, or went from, the address space."""

    kind: ClassVar[Kind] = Kind.MAPPINGCHANGE
    action: MapAction | int | None = None
    map_kind: MapKind | int | None = None
    start: int | None = None
    end: int | None = None
    bias: int | None = None
    file_offset: int | None = None
    path: str | None = None
    build_id: bytes | None = None
    name: str | None = None
    alias: str | None = None
    source: str | None = None
    lines: bytes | None = None
    code: bytes | None = None
    copy: str | None = None
    file_bytes: int | None = None
    file_changed_ns: int | None = None
    text_checksum: int | None = None
    first_line: int | None = None
    line_table: LineEncoding | int | None = None
    definition: str | None = None
    caller: int | None = None


@dataclass(frozen=True, slots=True)
class PmcAllocate(Event):
    """A source of data is defined; `source` is its id in this log."""

    kind: ClassVar[Kind] = Kind.PMCALLOCATE
    source: int | None = None
    name: str | None = None
    clock: str | None = None
    unit: str | None = None
    period_ns: int | None = None
    effective_period_ns: int | None = None
    detail: str | None = None
    attributes: tuple[str, ...] | None = None
    values: tuple[str, ...] | None = None
    counted_as: str | None = None


@dataclass(frozen=True, slots=True)
class PmcAttach(Event):
    """A source begins to be recorded, for a thread or (thread 0) a process."""

    kind: ClassVar[Kind] = Kind.PMCATTACH
    source: int | None = None
    pid: int | None = None
    value: int | None = None


@dataclass(frozen=True, slots=True)
class PmcDetach(Event):
    """A source is no longer recorded."""

    kind: ClassVar[Kind] = Kind.PMCDETACH
    source: int | None = None
    pid: int | None = None


@dataclass(frozen=True, slots=True)
class ProcCsw(Event):
    """How often a thread was switched out; `value` is the reading of the source so far, in its unit."""

    kind: ClassVar[Kind] = Kind.PROCCSW
    source: int | None = None
    pid: int | None = None
    value: int | None = None
    voluntary: int | None = None
    count: int | None = None


@dataclass(frozen=True, slots=True)
class ProcExec(Event):
    """The process runs a new program."""

    kind: ClassVar[Kind] = Kind.PROCEXEC
    pid: int | None = None
    entry: int | None = None
    path: str | None = None


@dataclass(frozen=True, slots=True)
class ProcExit(Event):
    """The process ends; `value` is the accumulated reading of the source, in its unit."""

    kind: ClassVar[Kind] = Kind.PROCEXIT
    pid: int | None = None
    source: int | None = None
    value: int | None = None
    user_ns: int | None = None
    system_ns: int | None = None
    status: int | None = None


@dataclass(frozen=True, slots=True)
class ProcFork(Event):
    """The process was born by fork."""

    kind: ClassVar[Kind] = Kind.PROCFORK
    parent_pid: int | None = None
    child_pid: int | None = None


@dataclass(frozen=True, slots=True)
class SysExit(Event):
    """A descendant that was not recorded ended, as seen by `collector record`."""

    kind: ClassVar[Kind] = Kind.SYSEXIT
    pid: int | None = None
    status: int | None = None
    path: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class UserData(Event):
    """Data the program wrote into its log."""

    kind: ClassVar[Kind] = Kind.USERDATA
    data: bytes | None = None


@dataclass(frozen=True, slots=True)
class _SamplePoint(Event):
    label: str | None = None
    cause: SampleCause | int | None = None
    pid: int | None = None


@dataclass(frozen=True, slots=True)
class Sample(Readings, _SamplePoint):
    """A sample point: readings of the whole process so far, with a label. Sizes in bytes, CPU times in nanoseconds."""

    kind: ClassVar[Kind] = Kind.SAMPLE


@dataclass(frozen=True, slots=True)
class Pause(Event):
    """Recording of event data was turned off."""

    kind: ClassVar[Kind] = Kind.PAUSE
    cause: PauseCause | int | None = None


@dataclass(frozen=True, slots=True)
class Resume(Event):
    """Recording of event data was turned on again."""

    kind: ClassVar[Kind] = Kind.RESUME
    cause: PauseCause | int | None = None


@dataclass(frozen=True, slots=True)
class ThrCreate(Event):
    """A thread began."""

    kind: ClassVar[Kind] = Kind.THR_CREATE
    name: str | None = None
    start_address: int | None = None


@dataclass(frozen=True, slots=True)
class ThrExit(Event):
    """A thread ended (`is_exit` 1), or was alive when the log was closed (0)."""

    kind: ClassVar[Kind] = Kind.THR_EXIT
    name: str | None = None
    user_ns: int | None = None
    system_ns: int | None = None
    is_exit: int | None = None
    pending_ns: int | None = None


@dataclass(frozen=True, slots=True)
class Metric(Event):
    """A value of a metric, over `interval_ns` of wall time."""

    kind: ClassVar[Kind] = Kind.METRIC
    source: int | None = None
    interval_ns: int | None = None
    value: int | float | None = None


@dataclass(frozen=True, slots=True)
class Message(Event):
    """Something the recorder has to say, in one sentence; severity 0 note, 1 warning, 2 error, 3 what every view has to say."""

    kind: ClassVar[Kind] = Kind.MESSAGE
    severity: int | None = None
    text: str | None = None
    count: int | None = None
    subject: str | None = None


@dataclass(frozen=True, slots=True)
class Interpreter(Event):
    """The interpreter of another language that the process image holds."""

    kind: ClassVar[Kind] = Kind.INTERPRETER
    name: str | None = None
    version: str | None = None
    start: int | None = None
    end: int | None = None
    detail: str | None = None


AnyEvent = Event | PcSample
"""What iterating over a log gives."""

AnyRecord = Event | PcSampleBlock
"""What a log's records are: the same, but the samples of a thread still together as columns."""

EVENT_CLASSES: dict[Kind, type[Event] | type[PcSampleBlock]] = {
    cls.kind: cls
    for cls in (
        CloseLog, DropNotify, Initialize, MappingChange, PcSampleBlock, PmcAllocate, PmcAttach, PmcDetach, ProcCsw,
        ProcExec, ProcExit, ProcFork, SysExit, UserData, Sample, Pause, Resume, ThrCreate, ThrExit, Metric, Message,
        Interpreter,
    )
}
"""The class of each kind; samples come as blocks."""
