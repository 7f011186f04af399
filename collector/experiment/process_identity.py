"""process_identity -- which logs are of one process: numbers are used again, and count apart in each PID namespace"""

from __future__ import annotations

from typing import NamedTuple

from collector.experiment.origin import Origin


class ProcessIdentity(NamedTuple):
    """A process: its id, the image that it began with (0 unless the id was used before), and INITIALIZE's start_ticks."""

    pid: int
    first_image: int
    start_ticks: int | None = None


class ProcessIdentities:
    """Tells processes apart. Wants the logs of each process id in the order of their images."""

    def __init__(self) -> None:
        self._known: dict[int, dict[tuple[int | None, int | None], ProcessIdentity]] = {}

    def identify(self, origin: Origin, start_ticks: int | None, pid_namespace: int | None, is_forked: bool) -> ProcessIdentity:
        """Whose image wrote a log. The numbers are INITIALIZE's; `is_forked`: it has a PROCFORK, as only the first of a process has."""
        known = self._known.setdefault(origin.pid, {})
        birth = start_ticks, pid_namespace
        if start_ticks is None and known:
            birth = next(reversed(known))  # where /proc is not there, a number counts for one process
        if is_forked or birth not in known:
            known[birth] = ProcessIdentity(origin.pid, origin.image, start_ticks)
        return known[birth]
