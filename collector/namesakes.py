"""namesakes -- processes that have the same number as another one, in a PID namespace below ours"""

from __future__ import annotations

import os
from collections.abc import Sequence


def namesakes_of(own_pid: int) -> Sequence[int]:
    """Give the processes that are `own_pid` to themselves and have another number here."""
    return list_namesakes().get(own_pid, ())


def list_namesakes() -> dict[int, list[int]]:
    """Give all processes of PID namespaces below ours, by what number they are to themselves. proc_pid_status(5), NSpid."""
    found: dict[int, list[int]] = {}
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        try:
            with open(f"/proc/{pid}/status", "rb", buffering=0) as file:
                numbers = file.read().partition(b"\nNSpid:")[2].partition(b"\n")[0].split()
        except OSError:
            continue
        if len(numbers) > 1:
            found.setdefault(int(numbers[-1]), []).append(pid)
    return found
