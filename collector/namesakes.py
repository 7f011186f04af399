"""namesakes -- processes that have the same number as another one, in a PID namespace below ours"""

from __future__ import annotations

import os
from collections.abc import Iterator


def iter_namesakes(own_pid: int) -> Iterator[int]:
    """Give the processes that are `own_pid` to themselves and have another number here. proc_pid_status(5), NSpid."""
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        try:
            with open(f"/proc/{pid}/status", "rb", buffering=0) as file:
                numbers = file.read().partition(b"\nNSpid:")[2].partition(b"\n")[0].split()
        except OSError:
            continue
        if len(numbers) > 1 and int(numbers[-1]) == own_pid:
            yield pid
