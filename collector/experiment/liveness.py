"""liveness -- whether the process that writes a log still lives"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collector.experiment.directory import LogFile

_START_TIME_FIELD = 19  # of /proc/PID/stat, counted from the state, which follows the name in parentheses


def is_alive(log: LogFile) -> bool:
    """True if the log is open and its process still runs. A zombie does not run; nor does a later process of the same id."""
    if not os.path.exists(log.open_path):
        return False
    try:
        with open(f"/proc/{log.origin.pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        born = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) + int(fields[_START_TIME_FIELD]) / os.sysconf("SC_CLK_TCK")
        log_written = os.stat(log.path).st_mtime
    except (OSError, IndexError, ValueError):
        return False
    return fields[0] not in (b"Z", b"X") and born <= log_written + 2
