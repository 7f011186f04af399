"""liveness -- whether the process that writes a log still lives"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from collector.experiment.log_outline import read_beginning
from collector.experiment.open_area import is_uncut

if TYPE_CHECKING:
    from collector.experiment.directory import LogFile

_START_TIME_FIELD = 19  # of /proc/PID/stat, counted from the state, which follows the name in parentheses


def is_alive(log: LogFile) -> bool:
    """True if the log is being written: not brought to its end, and its process still runs."""
    return is_uncut(log.path) and is_running(log)


def is_running(log: LogFile) -> bool:
    """True if the process that wrote the log still runs: not a zombie, not a later process of the same id, not after an exec."""
    try:
        log_written = os.stat(log.path).st_mtime
        pid = log.origin.pid or read_beginning(log.path).get("pid") or 0  # the launcher's logs are not named after a process
    except OSError:
        return False
    state, born = read_process_state(pid)
    next_image = os.path.join(os.path.dirname(log.path), f"{log.origin.pid}.{log.origin.image + 1}.log")
    return state not in ("", "Z", "X") and born <= log_written + 2 and not os.path.exists(next_image)


def read_process_state(pid: int) -> tuple[str, float]:
    """The state letter of a process and when it began (seconds of wall clock); ("", 0) if there is none."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        ticks = int(fields[_START_TIME_FIELD])
    except (OSError, IndexError, ValueError):
        return "", 0.0
    booted = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
    return fields[0].decode(), booted + ticks / os.sysconf("SC_CLK_TCK")
