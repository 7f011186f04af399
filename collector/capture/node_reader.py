"""node_reader -- the process beside the program that reads the metrics of the node

It is a child of the launcher, so the program has nothing of it: neither its plugins, nor what they cost, nor what becomes of a
plugin that crashes or never returns.
"""

from __future__ import annotations

import os
import resource
import select
import signal
import sys
import time
from collections.abc import Sequence

from collector.capture.native import host_metrics
from collector.named_tuple import NamedTuple

_PATIENCE_S = 2.0
_NAP_S = 0.005
_PYTHON_FAILED = 255


class NodeReaderEnd(NamedTuple):
    """How it ended: why it did not read to the end ("" if it did), and the CPU time it took in seconds."""

    problem: str
    user_s: float
    system_s: float


class NodeReader:
    """The process, from its start to its end."""

    def __init__(self, recorder: str, preloads: Sequence[str], experiment: str, table: str, window: tuple[int, int]) -> None:
        """Start it; signals must be blocked, and stay so in it. OSError if there can be no process."""
        reading, self._end = os.pipe()
        try:
            self._pid = _fork()
        except OSError:
            os.close(self._end)
            os.close(reading)
            raise
        if self._pid == 0:
            status = _PYTHON_FAILED
            try:
                _keep_only(reading)
                status = -host_metrics(recorder, preloads, experiment, table, window, reading)
            finally:
                os._exit(status)
        os.close(reading)

    def finish(self) -> NodeReaderEnd:
        """Have it end in order; a plugin that never comes back is given two seconds."""
        os.close(self._end)
        is_late = not _ends_within(self._pid, _PATIENCE_S)
        if is_late:
            os.kill(self._pid, signal.SIGKILL)
        _, status, usage = os.wait4(self._pid, 0)
        return _describe_end(os.waitstatus_to_exitcode(status), is_late, usage)


def _keep_only(descriptor: int) -> None:
    """Close what the launcher has open but for `descriptor` and the standard ones: processes and their events live on while anybody has them open."""
    os.closerange(3, descriptor)
    os.closerange(descriptor + 1, os.sysconf("SC_OPEN_MAX"))


def _fork() -> int:
    """os.fork in a process in which a thread of the library holds events, but no lock of Python's: with `-W error`, 3.15 would refuse."""
    if not sys.warnoptions:
        return os.fork()
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _describe_end(code: int, is_late: bool, usage: resource.struct_rusage) -> NodeReaderEnd:
    problem = ""
    if is_late:
        problem = "the metrics of the machine were not read to the end: a plugin did not return"
    elif code < 0:
        problem = f"the metrics of the machine were not read to the end: signal {-code} killed the process that reads them"
    elif code == _PYTHON_FAILED:
        problem = "the metrics of the machine were not read: the recorder could not be loaded"
    elif code:
        problem = f"the metrics of the machine were not read: {os.strerror(code).lower()}"
    return NodeReaderEnd(problem, usage.ru_utime, usage.ru_stime)


def _ends_within(pid: int, seconds: float) -> bool:
    """Wait until a child has ended; it stays a zombie."""
    try:
        descriptor = os.pidfd_open(pid)
    except (AttributeError, OSError):
        return _ends_after_naps(pid, seconds)
    try:
        return bool(select.select([descriptor], [], [], seconds)[0])
    finally:
        os.close(descriptor)


def _ends_after_naps(pid: int, seconds: float) -> bool:
    until = time.monotonic() + seconds
    while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        if time.monotonic() > until:
            return False
        time.sleep(_NAP_S)
    return True
