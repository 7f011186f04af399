"""tracer_watch -- whether somebody traces the processes whose perf events we hold

A tracer is shown every signal before the process gets it, and gdb keeps SIGTRAP from it altogether: a process that a debugger
was attached to cannot notice by its own ticks. So we look from beside, and switch its events off while it is traced. Source: proc(5), ptrace(2).
"""

from __future__ import annotations

import os
import time
from contextlib import suppress

from collector.capture.held_events import HeldEvents

SHORTEST_INTERVAL_S = 0.02  # a debugger reads symbols for longer before it lets the process go on
_SHORTEST_SUSPENSION_S = 0.2  # a process asks for it before it has itself traced
_MOST_OF_OUR_TIME = 0.005  # of one processor


class TracerWatch:
    """Looks at the processes of `events`, often when they are few and more rarely when they are many."""

    def __init__(self, events: HeldEvents) -> None:
        self._events = events
        self.interval_s: float | None = None
        """How long to wait before the next look; None while there is nobody to look at."""
        self._next_s = 0.0

    def look(self) -> None:
        """Switch events off and on, if it is time to look."""
        begin_s = time.monotonic()
        if begin_s < self._next_s:
            self.interval_s = self._next_s - begin_s
            return
        pids = self._events.pids()
        for pid in pids:
            since_s = self._events.suspended_since(pid)
            if since_s is None and read_tracer(f"/proc/{pid}"):
                self._events.suspend(pid)
            elif since_s is not None and begin_s - since_s > _SHORTEST_SUSPENSION_S and not is_traced(pid):
                self._events.resume(pid)
        end_s = time.monotonic()
        self.interval_s = max(SHORTEST_INTERVAL_S, (end_s - begin_s) / _MOST_OF_OUR_TIME) if pids else None
        self._next_s = end_s + (self.interval_s or 0.0)


def read_tracer(directory: str) -> int:
    """The pid of whoever traces the process or thread that a directory of /proc stands for; 0 if nobody does, or it has gone."""
    with suppress(OSError):
        with open(f"{directory}/status", "rb", buffering=0) as file:
            _, found, rest = file.read(4096).partition(b"\nTracerPid:\t")
            return int(rest.split(b"\n", 1)[0]) if found else 0
    return 0


def is_traced(pid: int) -> bool:
    """Say whether anybody traces any thread of a process."""
    with suppress(OSError):
        return any(read_tracer(f"/proc/{pid}/task/{thread}") for thread in os.listdir(f"/proc/{pid}/task"))
    return False
