"""recorded_processes -- which processes are being recorded into an experiment at this moment"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from itertools import chain

from collector.namesakes import list_namesakes

_LOG = ".log"
_LAUNCHERS_LOGS = ("node.log", "waits.log")  # of who is not recorded, and has ended when this is asked for its sake
_UNCUT_UNIT = 65536  # bytes; until it is brought to its end, the length of a log is a multiple (docs/format.md)


class RecordedProcesses:
    """The processes whose logs in `directory` are being written, as long as they live.

    `start_ticks_of` gives when the process of the log at a path began, as /proc/PID/stat tells it; None if that is not known.
    """

    def __init__(self, directory: str, start_ticks_of: Callable[[str], int | None] = lambda path: None) -> None:
        self._directory = directory
        self._start_ticks_of = start_ticks_of
        # Logs that were seen in the address space of a process, and which image of which it was.
        self._seen: dict[str, tuple[int, bytes]] = {}
        # The logs that were there before namesakes were looked for: who writes one of them was alive, or is dead now.
        self._listed: set[str] = set()
        self._namesakes: dict[int, list[int]] = {}

    def live(self) -> dict[int, int]:
        """Give their process numbers, sorted, and with each the one that its log is named after: another one in a PID namespace."""
        writers = {name: self.find_writer(name) for name in self.untruncated_logs()}
        return dict(sorted((pid, int(name.partition(".")[0])) for name, pid in writers.items() if pid is not None))

    def find_writer(self, name: str) -> int | None:
        """Give the process that lives and has the log PID.N.log in its address space.

        A number alone proves nothing: it may have been given to somebody else, or count in another PID namespace.
        """
        own_pid = name.partition(".")[0]
        if name in self._seen and _read_image(self._seen[name][0]) == self._seen[name][1]:
            return self._seen[name][0]
        if not own_pid.isdigit():
            return None
        start_ticks = self._start_ticks_of(os.path.join(self._directory, name))
        for pid in chain([int(own_pid)], self._namesakes_of(name, int(own_pid))):
            image = _read_image(pid)
            if image is None or start_ticks not in (None, int(image.split()[0])):
                continue
            try:
                has_mapped = _has_mapped(pid, f"/{name.removesuffix(_LOG)}.".encode())
            except PermissionError:
                has_mapped = start_ticks is not None  # it hides its memory (PR_SET_DUMPABLE): a log that may be in use must not be cut
            if has_mapped:
                self._seen[name] = pid, image
                return pid
        return None

    def _namesakes_of(self, name: str, own_pid: int) -> Sequence[int]:
        """All processes are read once for all logs, of which there may be thousands."""
        if name not in self._listed:
            self._listed = {name, *self.untruncated_logs()}
            self._namesakes = list_namesakes()
        return self._namesakes.get(own_pid, ())

    def untruncated_logs(self) -> list[str]:
        """Give the names of the logs that seem to be in use, or were left so by a process that was killed."""
        return [name for name, size in self._sizes() if size > 0 and size % _UNCUT_UNIT == 0]

    def begun_logs(self) -> set[str]:
        """Give the names of the logs that there are, but for those that are empty so far."""
        return {name for name, size in self._sizes() if size > 0}

    def _sizes(self) -> list[tuple[str, int]]:
        try:
            with os.scandir(self._directory) as entries:
                return [(entry.name, _size(entry)) for entry in entries if _is_log(entry.name)]
        except OSError:
            return []


def _is_log(name: str) -> bool:
    return name.endswith(_LOG) and (name[0].isdigit() or name in _LAUNCHERS_LOGS)


def _size(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat().st_size
    except OSError:
        return 0


def _has_mapped(pid: int, name: bytes) -> bool:
    try:
        with open(f"/proc/{pid}/maps", "rb") as maps:
            return any(name in line for line in maps)
    except PermissionError:
        raise
    except OSError:
        return False


def _read_image(pid: int) -> bytes | None:
    """Tell one program of a process from the next: its start, and where its code and its stack begin. None if it does not live."""
    fields = _read_stat(str(pid))
    return None if fields is None else b" ".join((fields[19], fields[23], fields[25]))


def read_start(pid: str) -> bytes | None:
    """Give the time at which a living process began, in the kernel's words; None if it does not live."""
    fields = _read_stat(pid)
    return None if fields is None else fields[19]


def _read_stat(pid: str) -> list[bytes] | None:
    """The fields of /proc/PID/stat from the third, the state, on."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return None if fields[0] in (b"Z", b"X") else fields
