"""held_events -- the perf events of recorded processes, open here instead of in the processes

An event counts as long as somebody has it open, so a process that hands its events over keeps no descriptor that the
program could see or close. What is open here can also be switched off and on from outside. Source: perf_event_open(2).
"""

from __future__ import annotations

import fcntl
import os
import signal
import time
from _thread import allocate_lock
from collections.abc import Callable
from contextlib import suppress

_ENABLE, _DISABLE = 0x2400, 0x2401  # PERF_EVENT_IOC_...; with an inherited event they reach all threads
_WHOLE_PROCESS = 0
_Key = tuple[int, int]  # thread, use


class _Process:
    """A process: its pidfd, its events by thread and use, and at how many of these to look for threads that have ended."""

    __slots__ = ("pidfd", "events", "next_look")

    def __init__(self, pidfd: int) -> None:
        self.pidfd = pidfd
        self.events: dict[_Key, int] = {}
        self.next_look = 32


class HeldEvents:
    """Perf events by process number, as this process counts them. May be used from several threads."""

    def __init__(self) -> None:
        self._lock = allocate_lock()
        self._processes: dict[int, _Process] = {}
        self._suspended: dict[int, float] = {}
        self.count = 0
        """Descriptors that are open for it."""

    def hold(self, pid: int, key: _Key, event: int, own_pid: int, is_event: Callable[[int], bool] | None = None) -> int | None:
        """Take over an event; close it if the process has ended, or if `is_event`, which is asked of no others, says that it is none.

        `key` is what it is for: the thread, and a use in it.
        `own_pid` and the thread are numbers as the process counts them. Thread 0 stands for the whole process:
        this event takes the place of all before, another one of an earlier one for the same use. Gives a new pidfd
        if the process was not known: when that becomes readable, `forget` it.
        """
        with self._lock:
            known = self._processes.get(pid)
            process = known or _open_process(pid)
            if process is None or (is_event and not is_event(event)):
                os.close(event)
                if process is not None and not known:
                    os.close(process.pidfd)
                return None
            if key[0] == _WHOLE_PROCESS:
                self._close_events(process, list(process.events))
            elif len(process.events) >= process.next_look:
                self._close_events(process, _ended_threads(pid, own_pid, process.events))
                process.next_look = 2 * len(process.events) + 32
            self._close_events(process, [key])
            process.events[key] = event
            if pid in self._suspended:
                fcntl.ioctl(event, _DISABLE, 0)
            self._processes[pid] = process
            self.count += 1 if known else 2
            return None if known else process.pidfd

    def ended(self, pid: int) -> int | None:
        """Give the pidfd of an earlier process of that number, which has ended: `forget` it before `hold`."""
        with self._lock:
            known = self._processes.get(pid)
            return known.pidfd if known is not None and _has_ended(known.pidfd) else None

    def pids(self) -> list[int]:
        """Give the processes that there are events of."""
        with self._lock:
            return [pid for pid, process in self._processes.items() if process.events]

    def disable(self, pid: int) -> int:
        """Switch a process's events off; gives how many there are."""
        return self._control(pid, _DISABLE)

    def enable(self, pid: int) -> int:
        """Switch a process's events on; gives how many there are."""
        return self._control(pid, _ENABLE)

    def suspended_since(self, pid: int) -> float | None:
        """When a process's events were suspended (s of the monotonic clock); None if they are not."""
        return self._suspended.get(pid)

    def suspend(self, pid: int) -> None:
        """Switch a process's events off, and those that are still to come."""
        self._suspended[pid] = time.monotonic()
        self.disable(pid)

    def resume(self, pid: int) -> None:
        """Switch them on again."""
        self._suspended.pop(pid, None)
        self.enable(pid)

    def release(self, pid: int) -> int:
        """Switch a process's events off and close them; gives how many there were."""
        with self._lock:
            process = self._processes.get(pid)
            count = len(process.events) if process else 0
            if process:
                for event in process.events.values():
                    fcntl.ioctl(event, _DISABLE, 0)
                self._close_events(process, list(process.events))
            return count

    def close_use(self, pid: int, use: int, thread: int) -> None:
        """Close the events of one use, of a thread or, where that is 0, of a whole process, and no other: it can do without for a while."""
        with self._lock:
            process = self._processes.get(pid)
            if process:
                self._close_events(process, [key for key in process.events if key[1] == use and thread in (key[0], _WHOLE_PROCESS)])

    def forget(self, pid: int, pidfd: int) -> None:
        """Close everything of a process that has ended."""
        with self._lock:
            if pid in self._processes and self._processes[pid].pidfd == pidfd:
                self._drop(pid)

    def close(self) -> None:
        """Close everything: processes that still run fall back to an event of their own."""
        with self._lock:
            for pid in list(self._processes):
                self._drop(pid)

    def _control(self, pid: int, request: int) -> int:
        with self._lock:
            events = list(self._processes[pid].events.values()) if pid in self._processes else []
            for event in events:
                fcntl.ioctl(event, request, 0)
            return len(events)

    def _drop(self, pid: int) -> None:
        process = self._processes.pop(pid)
        self._suspended.pop(pid, None)
        self._close_events(process, list(process.events))
        os.close(process.pidfd)
        self.count -= 1

    def _close_events(self, process: _Process, keys: list[_Key]) -> None:
        for key in keys:
            event = process.events.pop(key, None)
            if event is not None:
                os.close(event)
                self.count -= 1


def _open_process(pid: int) -> _Process | None:
    try:
        return _Process(os.pidfd_open(pid))
    except OSError:
        return None


def _has_ended(pidfd: int) -> bool:
    """Say whether a process has ended and was waited for, so that its number may be another one's."""
    with suppress(PermissionError):
        try:
            signal.pidfd_send_signal(pidfd, 0)
        except ProcessLookupError:
            return True
    return False


def _ended_threads(pid: int, own_pid: int, events: dict[_Key, int]) -> list[_Key]:
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
        live = {int(task) if own_pid == pid else _own_number(f"/proc/{pid}/task/{task}/status") for task in tasks}
    except OSError:
        return []  # next time, perhaps
    return [key for key in events if key[0] not in live]


def _own_number(status: str) -> int:
    """Give the number of a thread in the innermost PID namespace that it is in."""
    with open(status, "rb") as file:
        line = next(line for line in file if line.startswith(b"NSpid:"))
    return int(line.split()[-1])
