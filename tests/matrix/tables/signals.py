"""signals -- each signal by its number"""

from __future__ import annotations

import signal

from matrix.case import Build, Case

_TOLD_APART = {signal.SIGTRAP, signal.SIGVTALRM, signal.SIGPROF, signal.SIGSEGV, signal.SIGCHLD, signal.SIGCONT, signal.SIGRTMIN}


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIGRTMIN+{number - signal.SIGRTMIN}"


CASES = [
    Case(
        "signals", f"each_{number:02}", f"{_name(number)} handled, sent in each way, blocked, waited for, ignored and with its default",
        command=("{program}", "number", str(number)), builds=(Build("each", "signals/each.c"),), burns=1, is_quick=number in _TOLD_APART,
    )
    for number in sorted(signal.valid_signals())
]
