"""threads -- the threads of a process, and whose a sample is; thread ids are used again and again"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from collector.load.accounting import TOLERATED_TICKS, balance
from collector.profile import model
from collector.target.process import LoggedThread


class ThreadLives:
    """Finds the thread that had an id at some time; positions begin at `first`."""

    def __init__(self, threads: Sequence[LoggedThread], first: int) -> None:
        self._starts: dict[int, list[int]] = {}
        self._positions: dict[int, list[int]] = {}
        for position, thread in enumerate(threads, first):
            self._starts.setdefault(thread.thread_id, []).append(thread.start_time or 0)
            self._positions.setdefault(thread.thread_id, []).append(position)

    def __contains__(self, thread_id: int) -> bool:
        """Whether a thread ever had that id."""
        return thread_id in self._starts

    def at(self, thread_id: int, time_ns: int) -> int:
        """The position of the thread. One that was sampled is always known; before its time it is the first."""
        life = bisect_right(self._starts[thread_id], time_ns) - 1
        return self._positions[thread_id][max(0, life)]


def thread_of(process: int, thread: LoggedThread, within: model.Process) -> model.Thread:
    """A thread as profiles have it; `within` is its process."""
    return model.Thread(
        process,
        thread.thread_id,
        thread.name or "",
        thread.start_time or within.start_ns,
        thread.end_time,
        thread.user_ns,
        thread.system_ns,
    )


def balanced(thread: model.Thread, process: model.Process, sampled_ns: int, has_gaps: bool, pending_ns: int = 0) -> model.Thread:
    """The thread with what its samples leave open of the kernel's account filled in, or stated.

    Of a thread whose end nobody saw there is no account: its samples are all that is known, and what its recorder left pending.
    """
    if thread.user_ns is None or thread.system_ns is None:
        cpu_ns = sampled_ns + pending_ns if sampled_ns else 0
        return thread._replace(scale=cpu_ns / sampled_ns if sampled_ns else 1.0, cpu_ns=cpu_ns)
    accounted_ns = thread.user_ns + thread.system_ns
    if thread.tid == process.pid:
        accounted_ns -= process.before_ns
    scale, unattributed_ns = balance(sampled_ns, max(0, accounted_ns), _tick_ns(process), has_gaps, pending_ns)
    return thread._replace(scale=scale, unattributed_ns=unattributed_ns, cpu_ns=max(0, accounted_ns))


def placed(thread: model.Thread, process: model.Process, sampled_ns: int, missing_ns: int, system_ns: int) -> model.Thread:
    """The thread whose samples are filled in where ticks were missing, as far as they were, and not all of them alike.

    What it used after its last tick, up to a period, belongs to none of these places. Of the missing time the recorder has found some to be system time, and
    where: of what was still open when the thread ended as large a part is more of the same.
    """
    open_ns = (thread.scale - 1) * sampled_ns - _tick_ns(process)
    if not missing_ns or open_ns <= 0:
        return thread
    placed_ns = min(missing_ns, open_ns)
    as_system_ns = placed_ns * min(1.0, system_ns / missing_ns)
    return thread._replace(
        scale=thread.scale - placed_ns / sampled_ns,
        missing_scale=(placed_ns - as_system_ns) / missing_ns,
        system_scale=as_system_ns / system_ns if system_ns else 0.0,
    )


def unsampled_ns(thread: model.Thread, process: model.Process, pending_ns: int = 0) -> tuple[int, int] | None:
    """User and system CPU time of a thread without samples; None if there is none, or so much that its ticks must be missing."""
    missing_ns = thread.unattributed_ns
    if not 0 < missing_ns <= TOLERATED_TICKS * _tick_ns(process) + pending_ns:
        return None
    accounted_ns = (thread.user_ns or 0) + (thread.system_ns or 0)
    system_ns = missing_ns * (thread.system_ns or 0) // accounted_ns
    return missing_ns - system_ns, system_ns


def _tick_ns(process: model.Process) -> int:
    clock = process.clock
    return max(clock.period_ns, clock.effective_period_ns) if clock else 0
