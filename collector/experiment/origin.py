"""origin -- which process image wrote a log, or which part of the launcher; and which images are one process"""

from __future__ import annotations

from collector.named_tuple import NamedTuple


class Origin(NamedTuple):
    """A process image: the process id, and how many times that process had called execve before.

    The launcher's logs have images below 0: it recorded nothing of itself.
    """

    pid: int
    image: int

    @property
    def is_process(self) -> bool:
        """Whether it is a recorded process."""
        return self.image >= 0

    def __str__(self) -> str:
        return f"{self.pid}.{self.image}" if self.is_process else _LAUNCHERS_NAMES[self]


LAUNCHER = Origin(0, -1)
"""The origin of launch.log."""

NODE = Origin(0, -2)
"""The origin of node.log, the metrics of the node as the launcher read them."""

WAITS = Origin(0, -3)
"""The origin of waits.log: where the threads of the program waited, as the launcher saw it."""

_LAUNCHERS_NAMES = {LAUNCHER: "launch", NODE: "node", WAITS: "waits"}
_LAUNCHERS_LOGS = {f"{name}.log": origin for origin, name in _LAUNCHERS_NAMES.items()}


def parse_log_name(name: str) -> Origin | None:
    """The origin that a file name such as `4711.0.log` states; None for other names."""
    if name in _LAUNCHERS_LOGS:
        return _LAUNCHERS_LOGS[name]
    pid, _, rest = name.partition(".")
    image = rest.removesuffix(".log")
    is_log = image != rest and pid.isdecimal() and image.isdecimal() and name.isascii() and len(name) < 40
    return Origin(int(pid), int(image)) if is_log else None


class ProcessIdentity(NamedTuple):
    """A process: its id, the image that it began with (0 unless the id was used before), and INITIALIZE's start_ticks."""

    pid: int
    first_image: int
    start_ticks: int | None = None


class ProcessIdentities:
    """Tells processes apart: numbers are used again, and count apart in each PID namespace. Wants the logs of each id in the order of their images."""

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
