"""recorded_processes -- which processes are being recorded into an experiment at this moment"""

from __future__ import annotations

import os

_LOG = ".log"
_NODE_LOG = "node.log"  # of a process that is not recorded, and has ended when this is asked for its sake
_UNCUT_UNIT = 65536  # bytes; until it is brought to its end, the length of a log is a multiple (docs/format.md)


class RecordedProcesses:
    """The processes whose logs in `directory` are being written, as long as they live."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        # Logs that were seen in the address space of their process, and which image of it that was.
        self._seen: dict[str, bytes] = {}

    def live(self) -> list[int]:
        """Give their process numbers, sorted."""
        return sorted({int(name.partition(".")[0]) for name in self.uncut_logs() if self.is_writing(name)})

    def is_writing(self, name: str) -> bool:
        """Say whether the process that the log PID.N.log was named after is alive and still has that log.

        A number alone proves nothing: it may have been given to somebody else, or count in another PID namespace.
        """
        pid, _, rest = name.partition(".")
        image = _read_image(pid)
        if image is None or self._seen.get(name) == image:
            return image is not None
        prefix = f"/{pid}.{rest.removesuffix(_LOG)}.".encode()
        try:
            with open(f"/proc/{pid}/maps", "rb") as maps:
                is_mapped = any(prefix in line for line in maps)
        except OSError:
            return False
        if is_mapped:
            self._seen[name] = image
        return is_mapped

    def uncut_logs(self) -> list[str]:
        """Give the names of the logs that seem to be in use, or were left so by a process that was killed."""
        try:
            with os.scandir(self._directory) as entries:
                return [entry.name for entry in entries if entry.name.endswith(_LOG) and _is_uncut(entry)]
        except OSError:
            return []


def _is_uncut(entry: os.DirEntry[str]) -> bool:
    try:
        size = entry.stat().st_size
    except OSError:
        return False
    return (entry.name[0].isdigit() or entry.name == _NODE_LOG) and size > 0 and size % _UNCUT_UNIT == 0


def _read_image(pid: str) -> bytes | None:
    """Tell one program of a process from the next: its start, and where its code and its stack begin. None if it does not live."""
    fields = _read_stat(pid)
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
