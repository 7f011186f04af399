"""totals -- how much was recorded, found without reading it all

Every log that was closed in order ends with its own totals, and the clock is defined near its beginning. This module
looks there and nowhere else, and needs neither the reader nor the event types; only the logs of killed processes and
those with losses are read through.
"""

from __future__ import annotations

import os
import re
import struct
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import msgpack

from collector.errors import ExperimentError
from collector.format import FIELDS, FRAME_HEADER_BYTES, FRAME_SYNC, CloseReason, Kind

_LOG_NAME = re.compile(r"(\d+)\.(\d+)\.log")
LAUNCH_LOG = "launch.log"
_HEADER = struct.Struct(">BIB4sIII")
_LENGTH_FROM = 6
_TAIL_BYTES = 1 << 16
_LAST_KINDS = (Kind.MESSAGE, Kind.PMCDETACH, Kind.PROCEXIT, Kind.PROCEXEC, Kind.CLOSELOG)
_HEAD_BYTES = 1 << 20
_BEGINNING = [name for name, _, _ in FIELDS[Kind.INITIALIZE]]
_DIRECTORY = 3 + _BEGINNING.index("directory")


@dataclass(frozen=True, slots=True)
class Clock:
    """A clock as a log defines it: PMCALLOCATE's fields of the same names."""

    name: str
    period_ns: int
    effective_period_ns: int


@dataclass(frozen=True, slots=True)
class LastExec:
    """The last that is known of a process: it ran another program. `path` is as the call named it, from `directory`."""

    path: str
    directory: str


@dataclass(frozen=True, slots=True)
class Said:
    """How often something was said, and first at what time after the first log began (ns)."""

    count: int
    first_ns: int

    def __add__(self, other: Said) -> Said:
        return Said(self.count + other.count, min(self.first_ns, other.first_ns))


@dataclass(slots=True)
class Totals:
    """Sums over the logs of an experiment.

    process_count  processes with a log
    closed_count   logs that were closed in order
    cpu_ns         CPU time of the processes while they were recorded, as far as their logs tell it
    drops          what the recorder could not keep, by cause (format.DropCause)
    clock          that of the first process; None if none of them got so far
    messages       what the recorder had to say: each sentence about each subject ("" for the recorder itself)
    warnings       what went wrong in reading
    execs          by process: the last log ended in an exec, and that of the next image never began
    """

    log_count: int = 0
    process_count: int = 0
    closed_count: int = 0
    sample_count: int = 0
    cpu_ns: int = 0
    drops: Counter[int] = field(default_factory=Counter)
    clock: Clock | None = None
    messages: dict[tuple[str, str], Said] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    execs: dict[int, LastExec] = field(default_factory=dict)


def sum_up(directory: str, root_pid: int) -> Totals:
    """Add up the logs of an experiment; `root_pid` is the process whose clock is asked for first."""
    names = {name: match for name in os.listdir(directory) if (match := _LOG_NAME.fullmatch(name))}
    pids = {int(match[1]) for match in names.values()}
    totals = Totals(log_count=len(names), process_count=len(pids))
    in_order = sorted(names, key=lambda name: (int(names[name][1]) != root_pid, int(names[name][1]), int(names[name][2])))
    start_ns = _find_start(directory, in_order)
    for name in in_order:
        pid = int(names[name][1])
        totals.execs.pop(pid, None)
        last_exec = _add_log(totals, os.path.join(directory, name), start_ns)
        if last_exec is not None:
            totals.execs[pid] = last_exec
    clocks = (_find_clock(_read_head(os.path.join(directory, name))) for name in in_order)
    totals.clock = next((clock for clock in clocks if clock is not None), None)
    return totals


def read_beginning(path: str) -> dict[str, Any]:
    """Give the fields of the INITIALIZE that a log begins with, as they are on disk; nothing if it begins otherwise. OSError if it cannot be read."""
    first = next(_iter_records(_read_head(path), 0), [])
    return dict(zip(_BEGINNING, first[3:])) if first and first[0] == Kind.INITIALIZE else {}


def _add_log(totals: Totals, path: str, start_ns: int) -> LastExec | None:
    """Add a log. Gives the program that its process went on with, if it did."""
    closing = _read_closing(path)
    if closing is None or closing.drop_count or closing.message_count:
        _read_through(totals, path, start_ns, counts_samples=closing is None)
    if closing is None:
        return None
    totals.closed_count += 1
    totals.sample_count += closing.sample_count
    first = next(_iter_records(_read_head(path), 0), [])
    before_ns = sum(value or 0 for value in first[20:22]) if first and first[0] == Kind.INITIALIZE else 0
    totals.cpu_ns += max(0, closing.cpu_ns - before_ns)
    if closing.next_path is None:
        return None
    return LastExec(closing.next_path, str(first[_DIRECTORY] or "") if len(first) > _DIRECTORY else "")


@dataclass(frozen=True, slots=True)
class _Closing:
    """How a log ends: CLOSELOG's totals, the messages just before it, and the program of an exec."""

    sample_count: int
    drop_count: int
    cpu_ns: int
    message_count: int
    next_path: str | None


def _read_closing(path: str) -> _Closing | None:
    """Give the totals that a log closes with, None if its last record is no CLOSELOG."""
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _TAIL_BYTES))
        tail = file.read(_TAIL_BYTES)
    records = list(_iter_records(tail, tail.rfind(FRAME_SYNC) - _LENGTH_FROM))
    if not records or records[-1][0] != Kind.CLOSELOG or len(records[-1]) < 9:
        return None
    reason, sample_count, _, drop_count, user_ns, system_ns = (value or 0 for value in records[-1][3:9])
    # Whatever was said in a log is said again at its end.
    last = list(_iter_last_records(tail))
    message_count = sum(record[0] == Kind.MESSAGE for record in last)
    paths = [str(record[5] or "") for record in last if record[0] == Kind.PROCEXEC and len(record) > 5]
    next_path = (paths or [""])[0] if reason == CloseReason.EXEC else None
    return _Closing(sample_count, drop_count, user_ns + system_ns, message_count, next_path)


def _iter_last_records(tail: bytes) -> Iterator[list]:  # type: ignore[type-arg]
    """Give the records that end a log from the last back to the first of them; each has a frame of its own."""
    place = len(tail)
    while (place := tail.rfind(FRAME_SYNC, 0, place)) >= 0:
        record = next(_iter_records(tail, place - _LENGTH_FROM), None)
        if record is not None and record[0] not in _LAST_KINDS:
            return
        if record is not None:
            yield record


def _read_head(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(_HEAD_BYTES)


def _find_start(directory: str, names: list[str]) -> int:
    """When the experiment began: the time of the first record of the launcher's log, else of the first process's."""
    for name in (LAUNCH_LOG, *names[:1]):
        path = os.path.join(directory, name)
        if os.path.exists(path):
            return next((record[1] for record in _iter_records(_read_head(path), 0)), 0)
    return 0


def _find_clock(head: bytes) -> Clock | None:
    for record in _iter_records(head, 0):
        if record[0] == Kind.PMCALLOCATE and len(record) >= 9 and record[4] == "cpu":
            return Clock(str(record[5]), record[7] or 0, record[8] or 0)
    return None


def _iter_records(data: bytes, offset: int) -> Iterator[list]:  # type: ignore[type-arg]
    """Give the records of whole, undamaged frames from `offset` on, until something else comes."""
    while 0 <= offset <= len(data) - FRAME_HEADER_BYTES:
        _, length, _, sync, _, header_crc, payload_crc = _HEADER.unpack_from(data, offset)
        end = offset + _LENGTH_FROM + length
        payload = data[offset + FRAME_HEADER_BYTES : end]
        if sync != FRAME_SYNC or end > len(data) or zlib.crc32(data[offset : offset + 14]) != header_crc or zlib.crc32(payload) != payload_crc:
            return
        unpacker = msgpack.Unpacker(max_buffer_size=max(1, len(payload)), unicode_errors="surrogateescape")
        unpacker.feed(payload)
        for record in unpacker:
            if not isinstance(record, list) or len(record) < 3:
                return
            yield record
        offset = end


def _read_through(totals: Totals, path: str, start_ns: int, counts_samples: bool) -> None:
    from collector.experiment.events import DropNotify, Message
    from collector.experiment.log_reader import EventReader
    from collector.experiment.samples import PcSampleBlock

    drops: dict[tuple[int, int], int] = {}  # cumulative per thread and cause
    messages: dict[tuple[str, str], Said] = {}  # cumulative as well
    reader = EventReader(path)
    try:
        for record in reader.records():
            if isinstance(record, PcSampleBlock) and counts_samples:
                totals.sample_count += record.count
                totals.cpu_ns += (sum(record.user) + sum(record.system)) * record.unit_ns
            elif isinstance(record, DropNotify) and record.cause is not None:
                drops[record.thread, record.cause] = record.count or 0
            elif isinstance(record, Message) and record.severity and record.text:
                key = (record.text, record.subject or "")
                first_ns = messages[key].first_ns if key in messages else record.time - start_ns
                messages[key] = Said(record.count or 1, first_ns)
    except ExperimentError as error:
        totals.warnings.append(str(error))
    finally:
        reader.close()
    for key, said in messages.items():
        totals.messages[key] = totals.messages[key] + said if key in totals.messages else said
    for (_, cause), count in drops.items():
        totals.drops[cause] += count
