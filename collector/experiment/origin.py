"""origin -- which process image wrote a log"""

from __future__ import annotations

import re
from typing import NamedTuple

_LOG_NAME = re.compile(r"([0-9]+)\.([0-9]+)\.log\Z", re.ASCII)


class Origin(NamedTuple):
    """A process image: the process id, and how many times that process had called execve before.

    The launcher's own log has image -1: it recorded nothing of itself.
    """

    pid: int
    image: int

    def __str__(self) -> str:
        return "launch" if self.image < 0 else f"{self.pid}.{self.image}"


LAUNCHER = Origin(0, -1)
"""The origin of launch.log."""


def parse_log_name(name: str) -> Origin | None:
    """The origin that a file name such as `4711.0.log` states; None for other names."""
    if name == "launch.log":
        return LAUNCHER
    match = _LOG_NAME.match(name)
    return Origin(int(match[1]), int(match[2])) if match and len(name) < 40 else None
