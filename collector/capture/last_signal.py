"""last_signal -- end this process by the signal that ended the program, for whoever looks at how we ended

A shell leaves a loop, xargs stops, and make, ctest or Python's subprocess tell of a crash when a command was killed by a
signal; that it exited with 128+n says nothing to them.
"""

from __future__ import annotations

import os
import resource
import signal
from contextlib import suppress

from collector.capture.native import forbid_cores


def die_by(number: int) -> None:
    """Be killed by a signal, without a core file. Comes back where it does not kill, as the first process of a pid namespace."""
    _leave_no_core()
    with suppress(OSError, ValueError):  # SIGKILL needs none of this, and the C library keeps two signals to itself
        signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
    os.kill(os.getpid(), number)


def _leave_no_core() -> None:
    """The program has left its own; ours, in the same directory, could replace it."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    forbid_cores()
