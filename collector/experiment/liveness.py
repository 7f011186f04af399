"""liveness -- whether the process that writes a log still lives"""

from __future__ import annotations

import os
from collections.abc import Iterable

from collector.experiment.log_outline import read_beginning
from collector.experiment.log_source import is_untruncated
from collector.namesakes import namesakes_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collector.experiment.directory import LogFile

_START_TIME_FIELD = 19  # of /proc/PID/stat, counted from the state, which follows the name in parentheses


def is_alive(log: LogFile) -> bool:
    """True if the log is being written: not brought to its end, and its process still runs."""
    return is_untruncated(log.path) and is_running(log)


def is_running(log: LogFile) -> bool:
    """True if the process that wrote the log still runs: not a zombie, not another process of the same id, not after an exec."""
    try:
        begun = read_beginning(log.path)
    except OSError:
        return False
    pid = log.origin.pid or begun.get("pid") or 0  # the launcher's logs are not named after a process
    next_image = os.path.join(os.path.dirname(log.path), f"{log.origin.pid}.{log.origin.image + 1}.log")
    return any(_has_begun_at(one, begun.get("start_ticks")) for one in _numbers_here(pid, begun.get("pid_namespace"))) and not os.path.exists(next_image)


def _numbers_here(pid: int, pid_namespace: int | None) -> Iterable[int]:
    """Which processes may be the one that has this number there."""
    return (pid,) if pid_namespace in (None, read_pid_namespace()) else namesakes_of(pid)


def _has_begun_at(pid: int, start_ticks: int | None) -> bool:
    state, begun = read_process_state(pid)
    return state not in ("", "Z", "X") and start_ticks in (None, begun)


def read_pid_namespace() -> int | None:
    """INITIALIZE's pid_namespace of this process."""
    try:
        return os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        return None


def read_process_state(pid: int) -> tuple[str, int]:
    """The state letter of a process and when it began (INITIALIZE's start_ticks); ("", 0) if there is none."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        return fields[0].decode(), int(fields[_START_TIME_FIELD])
    except (OSError, IndexError, ValueError):
        return "", 0
