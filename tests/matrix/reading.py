"""reading -- read a case's experiment back as a user would, in a process of its own, and judge what it says

The reader may not fail, whatever happened to the program; time that is known must be there, or its loss be told.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import signal
import time
import traceback
from dataclasses import asdict, dataclass
from functools import cache
from math import sqrt
from pathlib import Path

from matrix.case import BURN_NS

_PERIOD_NS = 1e9 / 941
_CLOCK_MONOTONIC_COARSE = 6  # which Python has no name for
_KERNEL_TICK_NS = time.clock_getres(_CLOCK_MONOTONIC_COARSE) * 1e9
_READ_CPU_S = 60  # a reader that needs more has gone astray
_READ_WALL_S = 600  # and so has one that waits


@dataclass(frozen=True, slots=True)
class Reading:
    """What an experiment says. `failure`: why it could not be read; `told`: all that it says is missing or went wrong."""

    failure: str = ""
    clocks: tuple[str, ...] = ()
    process_count: int = 0
    sample_count: int = 0
    total_ns: float = 0
    burn_ns: float = 0
    system_ns: float = 0
    interval_ns: float = 0
    accounted_ns: float | None = None
    told: tuple[str, ...] = ()


def read(experiment: Path) -> Reading:
    """Load an experiment and show its overview; done in a child, so that a reader that hangs or dies harms nobody."""
    _import_reader()
    reading_end, writing_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading_end)
        resource.setrlimit(resource.RLIMIT_CPU, (_READ_CPU_S, _READ_CPU_S))
        signal.alarm(_READ_WALL_S)
        try:
            found = _read_here(experiment)
        except BaseException:
            found = Reading(failure=traceback.format_exc().strip().splitlines()[-1])
        with open(writing_end, "w") as pipe:
            json.dump(asdict(found), pipe)
        os._exit(0)
    os.close(writing_end)
    with open(reading_end) as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    if not text:
        code = os.waitstatus_to_exitcode(status)
        return Reading(failure=f"the reader hangs (signal {-code})" if code in (-signal.SIGALRM, -signal.SIGXCPU, -signal.SIGKILL) else f"the reader ended with {code}")
    values = json.loads(text)
    return Reading(**{name: tuple(value) if isinstance(value, list) else value for name, value in values.items()})


@cache
def _import_reader() -> None:
    """Import what every child will need, once for all of them."""
    for name in ("collector.load", "collector.load.loader", "collector.profile.aggregate", "collector.reports.overview"):
        importlib.import_module(name)


def _read_here(experiment: Path) -> Reading:
    from collector.load import load
    from collector.profile import aggregate
    from collector.reports import overview
    from collector.reports.style import Style

    profile = load([str(experiment)])
    overview.render(profile, None, Style()).encode()  # as it is written to a terminal: names need not be text
    burns = [row for row in aggregate.functions(profile) if row.function.name == "burn"]
    told = [f"{loss.count:,} lost: {loss.cause}" for loss in profile.losses]
    told += [message.text for message in profile.messages if message.severity > 0]
    told += [f"{os.path.basename(process.program) or 'a process'} not recorded: {process.reason}" for process in profile.unrecorded]
    accounted = [recording.accounted_ns for recording in profile.recordings]
    return Reading(
        clocks=tuple(sorted({process.clock.name for process in profile.processes if process.clock})),
        process_count=len(profile.processes),
        sample_count=sum(profile.samples.cells().counts),
        total_ns=aggregate.total_values(profile)[0] * 1e9,
        interval_ns=max((process.clock.effective_period_ns for process in profile.processes if process.clock), default=0),
        system_ns=aggregate.total_values(profile)[2] * 1e9,
        burn_ns=sum(row.inclusive[0] for row in burns) * 1e9,
        accounted_ns=accounted[0] if accounted and accounted[0] is not None else None,
        told=tuple(dict.fromkeys(told)),
    )


def judge_time(reading: Reading, burns: int | None, native_ns: float = 0) -> tuple[str, bool]:
    """Hold the time in burn() against the truth; a sentence if it differs (else ""), and whether time is missing.

    Each stretch of work begins and ends inside a sample's interval: two errors, evenly spread over one interval. The interval
    is the one that the number of samples shows, which is longer than asked where the machine is slow, but no more than twice
    what the clock can do. Four standard errors, 2 % for what burn() does beyond its time, and the few ticks of time at the start
    and the end of a thread that readers spread over its samples. System time of other code may be shown under burn(), where it
    was that code's neighbour. How much of the time was the system's is what the kernel's ticks of some milliseconds say, which
    may be nothing of 300 short calls: then it is what the case needs besides natively, in `native_ns`. A machine that withholds the
    clock's ticks behind a long call withholds the kernel's as well, which then takes what was burnt there for the call's: up to one
    of them is allowed for.
    """
    from collector.load.accounting import TOLERATED_TICKS

    if burns is None:
        return "", False
    true_ns = burns * BURN_NS
    clock_ns = max(_PERIOD_NS, reading.interval_ns)
    interval_ns = min(max(clock_ns, true_ns / max(1, reading.sample_count)), 2 * clock_ns)
    allowed_ns = 4 * interval_ns * sqrt(2 * max(1, burns) / 12) + 0.02 * true_ns + TOLERATED_TICKS * clock_ns
    difference_ns = reading.burn_ns - true_ns
    if -allowed_ns - min(reading.system_ns, _KERNEL_TICK_NS) <= difference_ns <= allowed_ns + max(reading.system_ns, native_ns - true_ns):
        return "", False
    return (
        f"{true_ns / 1e6:.0f} ms in burn, {reading.burn_ns / 1e6:.1f} ms measured with {reading.sample_count} samples (±{allowed_ns / 1e6:.1f})",
        difference_ns < 0,
    )
