"""tracer_watch -- whether somebody traces the processes whose perf events we hold

A tracer is shown every signal before the process gets it, and gdb keeps SIGTRAP from it altogether: a process that a debugger
was attached to cannot notice by its own ticks. So we look from beside, and switch its events off while it is traced. We look when
somebody opens its status, which gdb does as soon as it has attached, long before it lets the process go on; and every now and then,
for tracers that do not. Source: proc(5), ptrace(2).
"""

from __future__ import annotations

import os
import time
from contextlib import suppress

from collector.capture.held_events import HeldEvents

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collector.capture.open_watch import OpenWatch

SHORTEST_INTERVAL_S = 0.02
_SHORTEST_SUSPENSION_S = 0.2
_UNTIL_TRACED_S = 2.0  # from asking for it to being traced: on a busy machine a process has to get a processor first
_MOST_OF_OUR_TIME = 0.005  # of one processor
_STATUS_BYTES = 4096
_MOST_FILES = 100  # below the descriptors that the event holder leaves free


class TracerWatch:
    """Looks at the processes of `events`: when their status is opened, and often when they are few and more rarely when they are many."""

    def __init__(self, events: HeldEvents) -> None:
        self._events = events
        self._opens: OpenWatch | None = None
        self._traced: set[int] = set()  # pids of those whose tracer has been seen since their events are off
        self._files: dict[int, tuple[int, int]] = {}  # by pid: its status, open, and the watch on it
        self.interval_s: float | None = None
        """How long to wait before the next look; None while there is nobody to look at."""
        self._next_s = 0.0

    def fileno(self) -> int:
        """Readable when a status was opened; -1 as long as none is watched."""
        return self._opens.fileno() if self._opens else -1

    def look(self) -> bool:
        """Switch events off and on: of processes whose status was opened, and of all if it is time. Say whether any was opened."""
        begin_s = time.monotonic()
        opened = self._opens.take() if self._opens else set()
        for pid in opened:
            self._look_at(pid, begin_s)
        if begin_s < self._next_s:
            self.interval_s = self._next_s - begin_s
            return bool(opened)
        pids = self._events.pids()
        self._traced.intersection_update(pids)
        self._watch(pids)
        begin_cpu_s = time.thread_time()  # of what each look costs; a busy machine may put us aside amid one
        for pid in pids:
            self._look_at(pid, begin_s)
        self.interval_s = max(SHORTEST_INTERVAL_S, (time.thread_time() - begin_cpu_s) / _MOST_OF_OUR_TIME) if pids else None
        self._next_s = time.monotonic() + (self.interval_s or 0.0)
        return bool(opened)

    def close(self) -> None:
        """Watch nobody any longer."""
        self._watch([])
        if self._opens:
            self._opens.close()

    def _look_at(self, pid: int, now_s: float) -> None:
        since_s = self._events.suspended_since(pid)
        if since_s is None:
            if self._tracer(pid):
                self._traced.add(pid)
                self._events.suspend(pid)
        elif is_traced(pid):
            self._traced.add(pid)
        elif now_s - since_s > (_SHORTEST_SUSPENSION_S if pid in self._traced else _UNTIL_TRACED_S):
            self._traced.discard(pid)
            self._events.resume(pid)

    def _tracer(self, pid: int) -> int:
        if pid not in self._files:
            return read_tracer(f"/proc/{pid}")
        try:  # without opening it again, of which we would be told
            return _parse_tracer(os.pread(self._files[pid][0], _STATUS_BYTES, 0))
        except OSError:
            self._forget(pid)  # it has ended, and the number may be another one's
            return 0

    def _watch(self, pids: list[int]) -> None:
        """Have the status of these watched and no other, as far as there is room."""
        for pid in self._files.keys() - set(pids):
            self._forget(pid)
        for pid in pids:
            if pid not in self._files and len(self._files) < _MOST_FILES:
                with suppress(ImportError, OSError):  # a Python without ctypes, or the process has ended
                    from collector.capture.open_watch import OpenWatch

                    self._opens = self._opens or OpenWatch()
                    file = os.open(f"/proc/{pid}/status", os.O_RDONLY | os.O_CLOEXEC)
                    self._files[pid] = file, self._opens.add(file, pid)

    def _forget(self, pid: int) -> None:
        file, watch = self._files.pop(pid)
        if self._opens:
            self._opens.remove(watch)
        os.close(file)


def read_tracer(directory: str) -> int:
    """The pid of whoever traces the process or thread that a directory of /proc stands for; 0 if nobody does, or it has gone."""
    with suppress(OSError):
        with open(f"{directory}/status", "rb", buffering=0) as file:
            return _parse_tracer(file.read(_STATUS_BYTES))
    return 0


def _parse_tracer(status: bytes) -> int:
    _, found, rest = status.partition(b"\nTracerPid:\t")
    return int(rest.split(b"\n", 1)[0]) if found else 0


def is_traced(pid: int) -> bool:
    """Say whether anybody traces any thread of a process."""
    with suppress(OSError):
        return any(read_tracer(f"/proc/{pid}/task/{thread}") for thread in os.listdir(f"/proc/{pid}/task"))
    return False
