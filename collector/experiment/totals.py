"""totals -- how much was recorded, found without reading it all

Every log that was closed in order ends with its own totals. Of the rest only the clock and the pauses are wanted, whose
frames are found by skipping from one to the next. So neither the reader nor the event types are needed; only the logs of
killed processes and those with losses are read through, open frames included, as reports read them.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Iterator
from operator import itemgetter

from collector.errors import ExperimentError
from collector.experiment.log_outline import (
    LENGTH_FROM,
    DeclaredClock,
    LogOutline,
    RawRecord,
    iter_frames_of,
    iter_raw_records,
    paused_ns,
    read_head,
    tell_empty,
)
from collector.experiment.missing_logs import find_missing
from collector.experiment.origin import ProcessIdentities, ProcessIdentity, parse_log_name
from collector.format import FRAME_SYNC, CloseReason, Kind, PauseCause
from collector.named_tuple import NamedTuple
from collector.regular_file import open_binary, open_regular

LAUNCH_LOG, NODE_LOG = "launch.log", "node.log"
_TAIL_BYTES = 1 << 16
_TIMES_OF_THREAD = slice(4, 6)  # of a raw THR_EXIT
_LAST_KINDS = (Kind.MESSAGE, Kind.PMCDETACH, Kind.PROCEXIT, Kind.PROCEXEC, Kind.CLOSELOG)


class LastExec(NamedTuple):
    """The last that is known of a process: it ran another program. `path` is as the call named it, from `directory`."""

    path: str
    directory: str


class Said:
    """How often something was said, and first at what time after the first log began (ns)."""

    __slots__ = ("count", "first_ns")

    def __init__(self, count: int, first_ns: int) -> None:
        self.count = count
        self.first_ns = first_ns

    def __add__(self, other: Said) -> Said:
        return Said(self.count + other.count, min(self.first_ns, other.first_ns))


class UnrecordedProgram(NamedTuple):
    """What a process said of a program that it ran, or became: nothing is recorded there, and why."""

    pid: int
    path: str
    reason: str


class Totals:
    """Sums over the logs of an experiment.

    log_count      logs: a process has one for each program image, as `execve` begins them
    process_count  processes with a log
    closed_count   logs that were closed in order
    empty_count    logs without a byte
    cpu_ns         CPU time of the processes while they were recorded, as far as their logs tell it
    longest_ns     the most CPU time that one thread used, if there is no sample
    run_ns         wall time of the images, from their log's beginning to its end
    paused_ns      the part of it in which recording was paused, or outside the window of `-t`
    is_traced      some of the pauses were because a tracer was attached
    drops          what the recorder could not keep, by cause (format.DropCause)
    clock          that of the first process that has one; None if none of them got so far
    other_clocks   the processes with a clock of another name, by that name, or of another rate
    messages       what the recorder had to say: each sentence about each subject ("" for the recorder itself)
    warnings       what went wrong in reading
    unrecorded     programs that the recorder was not preloaded into
    unclosed       processes whose last log was not closed
    execs          by process: the last log ended in an exec, and that of the next image never began
    missing        processes of which a log is missing, by number, and their programs (missing_logs.find_missing)
    """

    def __init__(self) -> None:
        self.log_count = 0
        self.process_count = 0
        self.closed_count = 0
        self.empty_count = 0
        self.sample_count = 0
        self.cpu_ns = 0
        self.longest_ns = 0
        self.run_ns = 0
        self.paused_ns = 0
        self.is_traced = False
        self.drops: Counter[int] = Counter()
        self.clock: DeclaredClock | None = None
        self.other_clocks: Counter[str] = Counter()
        self.messages: dict[tuple[str, str], Said] = {}
        self.warnings: list[str] = []
        self.unrecorded: list[UnrecordedProgram] = []
        self.unclosed: set[ProcessIdentity] = set()
        self.execs: dict[ProcessIdentity, LastExec] = {}
        self.missing: dict[int, str] = {}


def _difference(clock: DeclaredClock, first: DeclaredClock) -> str:
    if clock.name != first.name:
        return clock.name
    return "" if clock.period_ns == first.period_ns else f"at {1e9 / clock.period_ns:.0f} Hz"


def sum_up(directory: str, root_pid: int) -> Totals:
    """Add up the logs of an experiment; `root_pid` is the process whose clock is asked for first."""
    totals = Totals()
    found = {name: origin for name in os.listdir(directory) if (origin := parse_log_name(name)) and origin.is_process}
    empty: list[str] = []
    names = {name: origin for name, origin in sorted(found.items(), key=itemgetter(1)) if _is_readable(directory, name, totals, empty)}
    totals.warnings += tell_empty(empty)
    totals.empty_count = len(empty)
    totals.log_count = len(names)
    in_order = sorted(names, key=lambda name: (names[name].pid != root_pid, names[name]))
    start_ns = _find_start(directory, in_order)
    identities, processes = ProcessIdentities(), set[ProcessIdentity]()
    clocks: dict[ProcessIdentity, DeclaredClock] = {}
    logs: list[LogOutline] = []
    for name in in_order:
        origin = names[name]
        log = LogOutline(os.path.join(directory, name), origin.pid)
        process = identities.identify(origin, log.begun.get("start_ticks"), log.begun.get("pid_namespace"), log.parent_pid is not None)
        processes.add(process)
        totals.execs.pop(process, None)
        last_exec = _add_log(totals, log, process, start_ns)
        if last_exec is not None:
            totals.execs[process] = last_exec
        if log.clock is not None:
            clocks[process] = log.clock if log.clock.name != "off" else clocks.get(process, log.clock)
        logs.append(log)
    totals.process_count = len(processes)
    parents = {log.parent_pid: str(log.begun.get("executable") or "") for log in logs if log.parent_pid}
    totals.missing = find_missing(found.values(), parents)
    _add_messages(totals, os.path.join(directory, NODE_LOG), start_ns)
    totals.clock = next((clock for clock in clocks.values() if clock.name != "off"), next(iter(clocks.values()), None))
    totals.other_clocks.update(_difference(clock, totals.clock) for clock in clocks.values() if totals.clock)
    del totals.other_clocks[""]
    if not totals.sample_count:
        totals.longest_ns = max((_longest_thread_ns(log, totals.clock) for log in logs), default=0)
    return totals


def _is_readable(directory: str, name: str, totals: Totals, empty: list[str]) -> bool:
    """Whether a log can be opened at all; why not goes to the warnings, and one with nothing in it to `empty`."""
    path = os.path.join(directory, name)
    try:
        descriptor = open_regular(path)
    except OSError as error:
        totals.warnings.append(f"the log {path} cannot be read: {error.strerror}")
        return False
    if os.fstat(descriptor).st_size == 0:
        empty.append(path)
    os.close(descriptor)
    return True


def _add_log(totals: Totals, log: LogOutline, process: ProcessIdentity, start_ns: int) -> LastExec | None:
    """Add a log. Gives the program that its process went on with, if it did."""
    closing = _read_closing(log.path)
    last_ns = closing.time_ns if closing else log.begin_ns
    if closing is None or closing.drop_count or closing.message_count:
        last_ns = max(last_ns, _read_through(totals, log.path, start_ns, counts_samples=closing is None))
    totals.run_ns += max(0, last_ns - log.begin_ns)
    pauses = log.pauses_until(last_ns)
    totals.paused_ns += paused_ns(pauses, last_ns)
    totals.is_traced |= any(cause == PauseCause.TRACER.name.lower() for cause, _, _ in pauses)
    if closing is None:
        totals.unclosed.add(process)
        return None
    totals.unclosed.discard(process)
    totals.closed_count += 1
    totals.sample_count += closing.sample_count
    log.cpu_ns = max(0, closing.cpu_ns - log.before_ns)
    totals.cpu_ns += log.cpu_ns
    if closing.next_path is None:
        return None
    return LastExec(closing.next_path, str(log.begun.get("directory") or ""))


def _add_messages(totals: Totals, path: str, start_ns: int) -> None:
    """Add what a log that is no process's has to say, if it is there."""
    closing = _read_closing(path) if os.path.exists(path) else None
    if os.path.exists(path) and (closing is None or closing.message_count):
        _read_through(totals, path, start_ns, counts_samples=False)


class _Closing(NamedTuple):
    """How a log ends: CLOSELOG's totals, the messages just before it, and the program of an exec."""

    time_ns: int
    sample_count: int
    drop_count: int
    cpu_ns: int
    message_count: int
    next_path: str | None


def _read_closing(path: str) -> _Closing | None:
    """Give the totals that a log closes with, None if its last record is no CLOSELOG."""
    with open_binary(path) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _TAIL_BYTES))
        tail = file.read(_TAIL_BYTES)
    records = list(iter_raw_records(tail, tail.rfind(FRAME_SYNC) - LENGTH_FROM))
    if not records or records[-1][0] != Kind.CLOSELOG or len(records[-1]) < 9:
        return None
    reason, sample_count, _, drop_count, user_ns, system_ns = (value or 0 for value in records[-1][3:9])
    # Whatever was said in a log is said again at its end.
    last = list(_iter_last_records(tail))
    message_count = sum(record[0] == Kind.MESSAGE for record in last)
    paths = [str(record[5] or "") for record in last if record[0] == Kind.PROCEXEC and len(record) > 5]
    next_path = (paths or [""])[0] if reason == CloseReason.EXEC else None
    return _Closing(records[-1][1], sample_count, drop_count, user_ns + system_ns, message_count, next_path)


def _iter_last_records(tail: bytes) -> Iterator[RawRecord]:
    """Give the records that end a log from the last back to the first of them; each has a frame of its own."""
    place = len(tail)
    while (place := tail.rfind(FRAME_SYNC, 0, place)) >= 0:
        record = next(iter_raw_records(tail, place - LENGTH_FROM), None)
        if record is not None and record[0] not in _LAST_KINDS:
            return
        if record is not None:
            yield record


def _find_start(directory: str, names: list[str]) -> int:
    """When the experiment began: the time of the first record of the launcher's log, else of the first process's."""
    for name in (LAUNCH_LOG, *names[:1]):
        path = os.path.join(directory, name)
        with contextlib.suppress(OSError):
            return next((record[1] for record in iter_raw_records(read_head(path), 0)), 0)
    return 0


def _longest_thread_ns(log: LogOutline, clock: DeclaredClock | None) -> int:
    """The most CPU time that a thread of a log without samples used; of what cannot have been worth a tick, that of all its threads."""
    if clock is None or log.cpu_ns < max(clock.period_ns, clock.effective_period_ns):
        return log.cpu_ns
    used, last_kind = [0], 0
    with contextlib.suppress(OSError):
        for record in iter_frames_of(log.path, (Kind.THR_EXIT, Kind.CLOSELOG)):
            last_kind = record[0]
            times = [value for value in record[_TIMES_OF_THREAD] if value is not None]
            if last_kind == Kind.THR_EXIT and all(type(value) is int for value in times):
                used.append(sum(times) - (log.before_ns if record[2] == log.pid else 0))
    if last_kind != Kind.CLOSELOG:
        used = _read_used(log)  # it is damaged in between, so that its end was not found by skipping
    return max(used) or log.cpu_ns


def _read_used(log: LogOutline) -> list[int]:
    """The CPU time of each thread that ended, past all damage."""
    from collector.experiment.events import ThrExit
    from collector.experiment.log_reader import EventReader
    from collector.experiment.log_source import PathSource

    used = [0]
    try:
        for record in EventReader(PathSource(log.path)).records():
            if isinstance(record, ThrExit):
                before_ns = log.before_ns if record.thread == log.pid else 0
                used.append((record.user_ns or 0) + (record.system_ns or 0) - before_ns)
    except ExperimentError:
        pass
    return used


def _read_through(totals: Totals, path: str, start_ns: int, counts_samples: bool) -> int:
    """Add what the end of a log does not tell, and give the time of its last record."""
    from collector.experiment.directory import LogFile
    from collector.experiment.events import DropNotify, Message, SysExit, ThrExit
    from collector.experiment.merge import iter_records as iter_all_records
    from collector.experiment.samples import PcSampleBlock

    drops: dict[tuple[int, int, bool], int] = {}  # cumulative per thread and cause
    messages: dict[tuple[str, str], Said] = {}  # cumulative as well
    last_ns = 0
    origin = parse_log_name(os.path.basename(path))
    assert origin is not None
    try:
        for record in iter_all_records(LogFile(path, origin)):
            last_ns = max(last_ns, record.last_time if isinstance(record, PcSampleBlock) else record.time)
            if isinstance(record, PcSampleBlock) and counts_samples:
                totals.sample_count += record.count
                totals.cpu_ns += record.user_ns + record.system_ns
            elif isinstance(record, ThrExit) and counts_samples and record.user_ns is None:
                totals.cpu_ns += record.pending_ns or 0
            elif isinstance(record, DropNotify) and record.cause is not None:
                drops[record.thread, record.cause, record.length is not None] = record.count or 0
            elif isinstance(record, SysExit) and record.pid is not None:
                totals.unrecorded.append(UnrecordedProgram(record.pid, record.path or "", record.reason or ""))
            elif isinstance(record, Message) and record.severity and record.text:
                key = (record.text, record.subject or "")
                first_ns = messages[key].first_ns if key in messages else record.time - start_ns
                messages[key] = Said(record.count or 1, first_ns)
    except ExperimentError as error:
        totals.warnings.append(str(error))
    for key, said in messages.items():
        totals.messages[key] = totals.messages[key] + said if key in totals.messages else said
    for (_, cause, _), count in drops.items():
        totals.drops[cause] += count
    return last_ns
