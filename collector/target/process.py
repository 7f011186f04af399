"""process -- the processes of an experiment: their images, their threads, their parents, and the CPU time they took"""

from __future__ import annotations

from dataclasses import dataclass, replace

from collector.experiment.events import AnyRecord, CloseLog, Initialize, ProcExec, ProcExit, ProcFork, Sample, SysExit, ThrCreate, ThrExit
from collector.experiment.origin import Origin
from collector.experiment.samples import PcSampleBlock, SampleHead


@dataclass(frozen=True, slots=True)
class LoggedThread:
    """A thread. Times in nanoseconds; None where the log does not say. `is_exit`: it ended before its log did.

    `pending_ns`: CPU time at its end that no sample stands for because none was due.
    """

    origin: Origin
    thread_id: int
    name: str | None = None
    start_time: int | None = None
    end_time: int | None = None
    start_address: int | None = None
    user_ns: int | None = None
    system_ns: int | None = None
    is_exit: bool = False
    pending_ns: int = 0


@dataclass(frozen=True, slots=True)
class Image:
    """A program that a process ran: from its start or an execve until the next execve or its end.

    `is_complete`: its log was closed in order. `end_time` is that of its last event otherwise.
    """

    origin: Origin
    executable: str | None = None
    arguments: tuple[str, ...] = ()
    directory: str | None = None
    start_time: int | None = None
    end_time: int | None = None
    is_complete: bool = False


@dataclass(frozen=True, slots=True)
class LoggedProcess:
    """A process and its images, oldest first.

    `user_ns` and `system_ns` are the last the log knows of the whole process. `status` is the wait status, None if nobody saw it.
    """

    pid: int
    parent_pid: int | None = None
    is_forked: bool = False
    images: tuple[Image, ...] = ()
    threads: tuple[LoggedThread, ...] = ()
    user_ns: int | None = None
    system_ns: int | None = None
    status: int | None = None

    @property
    def start_time(self) -> int | None:
        """When its first image began."""
        return self.images[0].start_time if self.images else None

    @property
    def end_time(self) -> int | None:
        """The time of the last event of its last image."""
        return self.images[-1].end_time if self.images else None

    @property
    def executable(self) -> str | None:
        """The program of its last image."""
        return self.images[-1].executable if self.images else None

    @property
    def arguments(self) -> tuple[str, ...]:
        """The arguments of its last image."""
        return self.images[-1].arguments if self.images else ()


@dataclass(slots=True)
class _Account:
    """The last readings of a process's CPU time, and its wait status, as they become known."""

    user_ns: int | None = None
    system_ns: int | None = None
    status: int | None = None


_SAMPLES = PcSampleBlock, SampleHead


class ProcessTable:
    """Builds the processes from the records of all logs. Each log's records in their order; the logs in any."""

    def __init__(self) -> None:
        self._images: dict[Origin, Image] = {}
        self._last_times: dict[Origin, int] = {}
        self._processes: dict[int, LoggedProcess] = {}
        self._accounts: dict[int, _Account] = {}
        self._threads: dict[tuple[Origin, int], list[LoggedThread]] = {}
        self.unrecorded: list[SysExit] = []
        """The ends of descendants that were not recorded."""

    def add(self, origin: Origin, record: AnyRecord | SampleHead) -> None:
        """Take in one record of the log of `origin`."""
        if origin.is_process:
            self._see(origin, record)
        if isinstance(record, _SAMPLES):
            return
        if isinstance(record, SysExit):
            self.unrecorded.append(record)
        elif isinstance(record, (ProcExit, Sample)) and record.pid is not None:
            self._account(record.pid, record)
        elif origin.is_process:
            self._add_own(origin, record)

    def note_time(self, origin: Origin, time_ns: int) -> None:
        """The image was there at that time, as records say that are not added."""
        if origin in self._images:
            self._last_times[origin] = max(time_ns, self._last_times.get(origin, 0))

    def processes(self) -> list[LoggedProcess]:
        """The recorded processes, oldest first."""
        images: dict[int, list[Image]] = {}
        for origin in sorted(self._images):
            image = self._images[origin]
            end_time = image.end_time if image.is_complete else self._last_times[origin]
            images.setdefault(origin.pid, []).append(replace(image, end_time=end_time))
        threads: dict[int, list[LoggedThread]] = {}
        for (origin, _), lives in self._threads.items():
            threads.setdefault(origin.pid, []).extend(lives)
        complete = []
        for pid, own in images.items():
            account = self._accounts.get(pid, _Account())
            complete.append(replace(
                self._process(pid), images=tuple(own), threads=tuple(sorted(threads.get(pid, ()), key=_thread_order)),
                user_ns=account.user_ns, system_ns=account.system_ns, status=account.status,
            ))
        return sorted(complete, key=lambda process: (process.start_time or 0, process.pid))

    def _process(self, pid: int) -> LoggedProcess:
        return self._processes.get(pid) or self._processes.setdefault(pid, LoggedProcess(pid))

    def _see(self, origin: Origin, record: AnyRecord | SampleHead) -> None:
        """Whatever it is, it happened while the image, and the thread, were there."""
        if origin not in self._images:
            self._process(origin.pid)
            self._images[origin] = Image(origin, start_time=record.time)
        last = record.last_time if isinstance(record, _SAMPLES) else record.time
        self._last_times[origin] = max(last, self._last_times.get(origin, 0))
        if isinstance(record, _SAMPLES) and (origin, record.thread) not in self._threads:
            self._threads[origin, record.thread] = [LoggedThread(origin, record.thread)]

    def _add_own(self, origin: Origin, record: AnyRecord | SampleHead) -> None:
        image, process = self._images[origin], self._process(origin.pid)
        if isinstance(record, Initialize):
            self._initialize(image, process, record)
        elif isinstance(record, CloseLog):
            self._images[origin] = replace(image, is_complete=True, end_time=record.time)
            self._account(origin.pid, record)
        elif isinstance(record, ProcExec) and record.path and not image.executable:
            self._images[origin] = replace(image, executable=record.path)
        elif isinstance(record, ProcFork):
            self._processes[origin.pid] = replace(process, is_forked=True, parent_pid=record.parent_pid)
        elif isinstance(record, ThrCreate):
            thread = LoggedThread(origin, record.thread, record.name, record.time, None, record.start_address)
            self._threads.setdefault((origin, record.thread), []).append(thread)
        elif isinstance(record, ThrExit):
            self._end_thread(origin, record)

    def _initialize(self, image: Image, process: LoggedProcess, record: Initialize) -> None:
        self._images[image.origin] = replace(
            image, executable=record.executable, arguments=record.arguments or (), directory=record.directory, start_time=record.time
        )
        if process.parent_pid is None:
            self._processes[process.pid] = replace(process, parent_pid=record.ppid)

    def _account(self, pid: int, record: ProcExit | Sample | CloseLog) -> None:
        """Clocks only rise, so the largest reading is the last."""
        account = self._accounts.get(pid) or self._accounts.setdefault(pid, _Account())
        if record.user_ns is not None:
            account.user_ns = max(account.user_ns or 0, record.user_ns)
        if record.system_ns is not None:
            account.system_ns = max(account.system_ns or 0, record.system_ns)
        if isinstance(record, ProcExit) and record.status is not None:
            account.status = record.status

    def _end_thread(self, origin: Origin, record: ThrExit) -> None:
        lives = self._threads.setdefault((origin, record.thread), [])
        if not lives or lives[-1].end_time is not None:
            lives.append(LoggedThread(origin, record.thread))
        lives[-1] = replace(
            lives[-1], name=record.name or lives[-1].name, end_time=record.time, user_ns=record.user_ns,
            system_ns=record.system_ns, is_exit=bool(record.is_exit), pending_ns=record.pending_ns or 0,
        )


def _thread_order(thread: LoggedThread) -> tuple[int, Origin, int]:
    return (thread.start_time or 0, thread.origin, thread.thread_id)
