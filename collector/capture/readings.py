"""readings -- what the kernel says of a process as a whole, asked from outside

The process is not disturbed, and may sleep. Its CPU time is the process's CPU clock, divided into user and system as the kernel
divides its own ticks; context switches are those of the threads alive. Sources: proc(5), clock_getcpuclockid(3).
"""

from __future__ import annotations

import os
import time

from collector.named_tuple import NamedTuple

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_MOST_THREADS = 256  # more would make the reading cost more than it tells


class ProcessReadings(NamedTuple):
    """The readings that collector/readings.py declares, in its order, all counted from the start but for levels; None where the system does not tell."""

    user_ns: int | None
    system_ns: int | None
    minor_faults: int | None
    major_faults: int | None
    voluntary_switches: int | None
    involuntary_switches: int | None
    resident_bytes: int | None
    read_bytes: int | None
    written_bytes: int | None
    peak_resident_bytes: int | None


def read_process(pid: int) -> ProcessReadings | None:
    """Read a process; None if there is none of that number. One that has ended but was not waited for still counts."""
    content = _read(f"/proc/{pid}/stat")
    if content is None:
        return None
    fields = content.rpartition(b")")[2].split()
    minor, major, user_ticks, system_ticks = int(fields[7]), int(fields[9]), int(fields[11]), int(fields[12])
    user_ns, system_ns = _split_cpu_time(pid, user_ticks, system_ticks)
    voluntary, involuntary = _count_switches(pid)
    memory = _read(f"/proc/{pid}/statm")
    peak_kib = _number(_read(f"/proc/{pid}/status"), b"VmHWM")
    transfer = _read(f"/proc/{pid}/io")
    return ProcessReadings(
        user_ns=user_ns,
        system_ns=system_ns,
        minor_faults=minor,
        major_faults=major,
        voluntary_switches=voluntary,
        involuntary_switches=involuntary,
        resident_bytes=int(memory.split()[1]) * _PAGE_BYTES or None if memory else None,  # one that ends has given it back
        read_bytes=_number(transfer, b"rchar"),
        written_bytes=_number(transfer, b"wchar"),
        peak_resident_bytes=None if peak_kib is None else peak_kib * 1024,
    )


def _split_cpu_time(pid: int, user_ticks: int, system_ticks: int) -> tuple[int, int]:
    tick_ns = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
    ticks = user_ticks + system_ticks
    try:
        # The clock of a process is its number, inverted, over three bits that say what kind of clock it is.
        total_ns = time.clock_gettime_ns((~pid << 3) | 2)
    except OSError:
        total_ns = ticks * tick_ns
    user_ns = total_ns * user_ticks // ticks if ticks else total_ns
    return user_ns, total_ns - user_ns


def _count_switches(pid: int) -> tuple[int, int]:
    voluntary = involuntary = 0
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        threads = []
    for thread in threads[:_MOST_THREADS]:
        status = _read(f"/proc/{pid}/task/{thread}/status")
        voluntary += _number(status, b"voluntary_ctxt_switches") or 0
        involuntary += _number(status, b"nonvoluntary_ctxt_switches") or 0
    return voluntary, involuntary


def _number(lines: bytes | None, name: bytes) -> int | None:
    """The number behind a name and a colon; None if there is no line of that name."""
    _, found, rest = (b"\n%b" % (lines or b"")).partition(b"\n%b:" % name)
    return int(rest.split(None, 1)[0]) if found else None


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read()
    except OSError:
        return None
