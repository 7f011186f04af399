"""descendants -- processes below the recorded ones in which there is no recorder, seen from outside

A statically linked program, say, leaves no log, and ends without the launcher being its parent. So at each look the
children of all processes that are known are listed; whoever has no open log is remembered until it is gone. Those
who come and go between two looks are not seen. Source: proc(5).
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator

from collector.capture.recorded_processes import read_start

_MOST_THREADS = 256  # of a process; a child stands in the list of the thread that made it


class Descendant:
    """A process without a log of its own that is open.

    own_pid      its number as it sees it itself: another one than `pid` in a PID namespace
    started      when it began, in the kernel's words
    path         its program, as far as the system tells
    look_count   how many looks have seen it
    """

    __slots__ = ("pid", "own_pid", "started", "path", "look_count")

    def __init__(self, pid: int, own_pid: int, started: bytes, path: str = "", look_count: int = 0) -> None:
        self.pid = pid
        self.own_pid = own_pid
        self.started = started
        self.path = path
        self.look_count = look_count


class DescendantWatch:
    """The descendants of `root_pid` that are not being recorded."""

    def __init__(self, root_pid: int) -> None:
        self._root_pid = root_pid
        self._watched: dict[int, Descendant] = {}

    def look(self, recorded_pids: Collection[int]) -> list[Descendant]:
        """Look at who is there, beside the processes that are recorded now. Gives those who have gone since the last look."""
        gone = self._take_gone()
        for pid in self._watched.keys() & set(recorded_pids):
            del self._watched[pid]  # it runs a program now that is recorded
        for pid, started in self._find(set(recorded_pids)):
            known = self._watched.get(pid) or _meet(pid, started)
            if known is None:
                continue
            known.path = read_path(pid) or known.path
            known.look_count += 1
            self._watched[pid] = known
        return gone

    def remaining(self) -> list[Descendant]:
        """Those who were there when we last looked."""
        return list(self._watched.values())

    def _take_gone(self) -> list[Descendant]:
        gone = [known for known in self._watched.values() if read_start(str(known.pid)) != known.started]
        for known in gone:
            del self._watched[known.pid]
        return gone

    def _find(self, recorded: set[int]) -> Iterator[tuple[int, bytes]]:
        """Give number and beginning of everybody below us who is not in `recorded`."""
        children_of = _list_children if os.path.exists("/proc/thread-self/children") else _ParentTable().children_of
        seen = recorded | self._watched.keys() | {self._root_pid}
        pending = list(seen)
        yield from ((pid, known.started) for pid, known in list(self._watched.items()))
        while pending:
            for child in children_of(pending.pop()):
                started = read_start(str(child))
                if child not in seen and started is not None:
                    seen.add(child)
                    pending.append(child)
                    yield child, started


def _list_children(pid: int) -> Iterator[int]:
    try:
        threads = os.listdir(f"/proc/{pid}/task")[:_MOST_THREADS]
    except OSError:
        return
    for thread in threads:
        yield from map(int, _read(f"/proc/{pid}/task/{thread}/children").split())


class _ParentTable:
    """The same from the parents of all processes, for kernels that do not list children (CONFIG_PROC_CHILDREN)."""

    def __init__(self) -> None:
        self._children: dict[int, list[int]] = {}
        for name in filter(str.isdigit, os.listdir("/proc")):
            fields = _read(f"/proc/{name}/stat").rpartition(b")")[2].split()
            if fields:
                self._children.setdefault(int(fields[1]), []).append(int(name))

    def children_of(self, pid: int) -> list[int]:
        return self._children.get(pid, [])


def _meet(pid: int, started: bytes) -> Descendant | None:
    """None of one that is just being taken out of the kernel's tables: it has no number of its own any more by which to find its log."""
    own_pid = _read_own_pid(pid)
    return Descendant(pid, own_pid, started) if own_pid else None


def _read_own_pid(pid: int) -> int:
    for line in _read(f"/proc/{pid}/status").splitlines():
        if line.startswith(b"NSpid:"):
            return int(line.split()[-1])
    return pid


def read_path(pid: int) -> str:
    """The program that a process runs; "" if the system does not tell."""
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except OSError:
        # A program with rights that we have not hides its file, but not how it was called.
        return os.fsdecode(_read(f"/proc/{pid}/cmdline").partition(b"\0")[0])


def _read(path: str) -> bytes:
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read()
    except OSError:
        return b""
