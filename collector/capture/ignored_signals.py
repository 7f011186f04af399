"""ignored_signals -- the signals that Python ignores itself: were they ignored before?

Nothing in this process remembers. But a shell that ignores a signal has its children ignore it too (`trap '' PIPE`), and
a shell that is our parent shows what it ignores. Of other parents nothing is known: many ignore SIGPIPE for themselves alone.
"""

import os
import signal

PYTHON_IGNORES = (signal.SIGPIPE, signal.SIGXFSZ)

_SHELLS = {"sh", "ash", "bash", "busybox", "dash", "ksh", "ksh93", "mksh", "rbash", "zsh"}
_IGNORED = "SigIgn:\t"


def signals_to_default() -> list[signal.Signals]:
    """Give those of the signals that Python ignores which a program started here is to find at their defaults."""
    kept = ignored_by(os.getppid())
    return [number for number in PYTHON_IGNORES if number not in kept]


def ignored_by(pid: int) -> set[signal.Signals]:
    """Which of PYTHON_IGNORES a shell has its children ignore; none if the process is no shell, or gone."""
    try:
        name = os.path.basename(os.readlink(f"/proc/{pid}/exe"))
        with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
            masks = [line.removeprefix(_IGNORED) for line in file if line.startswith(_IGNORED)]
    except OSError:
        return set()
    mask = int(masks[0], 16) if masks and name in _SHELLS else 0
    return {number for number in PYTHON_IGNORES if mask >> (number - 1) & 1}
