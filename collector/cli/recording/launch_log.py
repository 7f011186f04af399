"""launch_log -- what `collector record` itself knows, written into launch.log"""

from __future__ import annotations

import os
import resource
import time

from collector import __version__
from collector.capture.launch import Ending
from collector.capture.metric_table import Definition
from collector.capture.rank import read_rank
from collector.capture.readings import ProcessReadings
from collector.cli.working_directory import working_directory
from collector.experiment.liveness import read_pid_namespace, read_process_state
from collector.experiment.log_writer import LogWriter
from collector.format import FRAME_MAX_BYTES, VERSION_MAJOR, VERSION_MINOR, Kind, SampleCause


class LaunchLog:
    """The launcher's log: the command, periodic samples of the processes, how the program ended."""

    def __init__(self, experiment: str) -> None:
        """Make it. OSError if that cannot be done."""
        self._writer = LogWriter(os.path.join(experiment, "launch.log"))
        self._end_ns: int | None = None
        # A shell that ends in us has left us the account of all it ran before.
        self._before = resource.getrusage(resource.RUSAGE_CHILDREN)
        self._own_s = (0.0, 0.0)

    @property
    def error(self) -> OSError | None:
        """The first write that failed, None if all went well."""
        return self._writer.error

    def begin(self, path: str, command: list[str], options: list[str]) -> None:
        """Write what is run and how; `options` are texts of the form name=value."""
        system = os.uname()
        times = os.times()
        rank = read_rank(os.environ)
        self._writer.append(
            Kind.INITIALIZE,
            time.monotonic_ns(),
            VERSION_MAJOR,
            VERSION_MINOR,
            time.time_ns(),
            os.getpid(),
            os.getppid(),
            0,
            system.nodename,
            system.machine,
            system.release,
            os.cpu_count() or 1,
            os.sysconf("SC_PAGE_SIZE"),
            path,
            _fitting(command),
            working_directory(),
            _fitting(options),
            __version__,
            os.getuid(),
            round(times.user * 1e9),
            round(times.system * 1e9),
            read_process_state(os.getpid())[1] or None,
            read_pid_namespace(),
            rank.rank if rank else None,
            rank.local_rank if rank else None,
        )

    def sample(self, pid: int, readings: ProcessReadings) -> None:
        """Write the readings of a process, taken just now."""
        self._writer.append(Kind.SAMPLE, time.monotonic_ns(), "", int(SampleCause.PERIODIC), pid, *readings)

    def message(self, text: str) -> None:
        """Write a warning: something that the user asked for could not be done."""
        self._writer.append(Kind.MESSAGE, time.monotonic_ns(), 1, text, 1, None)

    def metrics(self, definitions: list[Definition], interval_ns: int) -> None:
        """Write what there is to know of the metrics that are asked for, once for all processes."""
        now_ns = time.monotonic_ns()
        for one in definitions:
            self._writer.append(
                Kind.PMCALLOCATE, now_ns, one.source, one.name, "plugin", one.unit, interval_ns, interval_ns, one.detail, one.attributes
            )

    def unrecorded(self, pid: int, status: int | None, path: str | None, reason: str) -> None:
        """Write that a descendant is gone in which nothing was recorded, with its wait status if somebody saw it."""
        self._writer.append(Kind.SYSEXIT, self._end_ns or time.monotonic_ns(), pid, status, path, reason)

    def finish(self, pid: int, last: ProcessReadings | None, ending: Ending) -> None:
        """Write how the program ended. What is written after this belongs to the same moment."""
        own = (last.user_ns, last.system_ns) if last else (0, 0)
        self._writer.append(Kind.PROCEXIT, ending.time_ns, pid, 0, 0, *own, ending.status)
        self._end_ns = time.monotonic_ns()

    def exclude(self, user_s: float, system_s: float) -> None:
        """Leave a child of ours out of the account: it was waited for, but is no process of the program."""
        self._own_s = (self._own_s[0] + user_s, self._own_s[1] + system_s)

    def close(self) -> None:
        """End the log with the CPU time of all processes that were waited for."""
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        user_s = max(0.0, after.ru_utime - self._before.ru_utime - self._own_s[0])
        system_s = max(0.0, after.ru_stime - self._before.ru_stime - self._own_s[1])
        self._writer.close(self._end_ns or time.monotonic_ns(), round(user_s * 1e9), round(system_s * 1e9))


def _fitting(texts: list[str]) -> list[str]:
    """Those that fit into a quarter of a frame, as the recorder cuts its own; "..." stands for the rest."""
    room = FRAME_MAX_BYTES // 4
    for place, text in enumerate(texts):
        room -= len(os.fsencode(text)) + 5
        if room < 0:
            return [*texts[:place], "..."]
    return texts
