"""process -- the processes of an experiment: their images, their threads, their parents, and the CPU time they took"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from collector.experiment.events import AnyRecord, CloseLog, Initialize, ProcExec, ProcExit, ProcFork, Sample, SysExit, ThrCreate, ThrExit
from collector.experiment.origin import Origin
from collector.experiment.samples import PcSampleBlock, SampleHead


class LoggedThread(NamedTuple):
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


class Image(NamedTuple):
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


class LoggedProcess(NamedTuple):
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
class _Process:
    """What is known of a process so far: the last readings of its CPU time, too, and its wait status."""

    parent_pid: int | None = None
    is_forked: bool = False
    user_ns: int | None = None
    system_ns: int | None = None
    status: int | None = None


@dataclass(slots=True)
class _Image:
    """What is known of an image so far; `threads` are those that had each id, oldest first."""

    origin: Origin
    process: _Process
    start_time: int
    last_time: int = 0
    end_time: int | None = None
    executable: str | None = None
    arguments: tuple[str, ...] = ()
    directory: str | None = None
    threads: dict[int, list[LoggedThread]] = field(default_factory=dict)


class ProcessTable:
    """Builds the processes from the records of all logs. Each log's records in their order; the logs in any."""

    def __init__(self) -> None:
        self._images: dict[Origin, _Image] = {}
        self._processes: dict[int, _Process] = {}
        self.unrecorded: list[SysExit] = []
        """The ends of descendants that were not recorded."""

    def add(self, origin: Origin, record: AnyRecord | SampleHead) -> None:
        """Take in one record of the log of `origin`."""
        image = self._images.get(origin)
        if image is None and origin.is_process:
            image = self._images[origin] = _Image(origin, self._process(origin.pid), record.time)
        if isinstance(record, (PcSampleBlock, SampleHead)):
            if image is not None:
                image.last_time = max(record.last_time, image.last_time)
                image.threads.setdefault(record.thread, [LoggedThread(origin, record.thread)])
            return
        if image is not None and record.time > image.last_time:
            image.last_time = record.time
        kind = type(record)
        if kind in _OF_ANY and record.pid is not None:  # type: ignore[attr-defined]  # they have one
            _account(self._process(record.pid), record)  # type: ignore[attr-defined, arg-type]  # they have one
        elif kind is SysExit:
            self.unrecorded.append(record)  # type: ignore[arg-type]  # which it is
        elif image is not None and kind in _OF_IMAGES:
            _OF_IMAGES[kind](image, record)

    def note_time(self, origin: Origin, time_ns: int) -> None:
        """The image was there at that time, as records say that are not added."""
        image = self._images.get(origin)
        if image is not None:
            image.last_time = max(time_ns, image.last_time)

    def processes(self) -> list[LoggedProcess]:
        """The recorded processes, oldest first."""
        by_pid: dict[int, list[_Image]] = {}
        for origin in sorted(self._images):
            by_pid.setdefault(origin.pid, []).append(self._images[origin])
        return sorted(
            (_logged(pid, self._process(pid), images) for pid, images in by_pid.items()), key=lambda process: (process.start_time or 0, process.pid)
        )

    def _process(self, pid: int) -> _Process:
        return self._processes.get(pid) or self._processes.setdefault(pid, _Process())


def _logged(pid: int, process: _Process, images: Sequence[_Image]) -> LoggedProcess:
    done = [
        Image(
            image.origin, image.executable, image.arguments, image.directory, image.start_time,
            image.last_time if image.end_time is None else image.end_time, image.end_time is not None,
        )
        for image in images
    ]  # fmt: skip
    threads = [thread for image in images for lives in image.threads.values() for thread in lives]
    threads.sort(key=_thread_order)
    return LoggedProcess(
        pid, process.parent_pid, process.is_forked, tuple(done), tuple(threads), process.user_ns, process.system_ns, process.status
    )


def _account(process: _Process, record: ProcExit | Sample | CloseLog) -> None:
    """Clocks only rise, so the largest reading is the last."""
    if record.user_ns is not None:
        process.user_ns = max(process.user_ns or 0, record.user_ns)
    if record.system_ns is not None:
        process.system_ns = max(process.system_ns or 0, record.system_ns)
    if isinstance(record, ProcExit) and record.status is not None:
        process.status = record.status


def _initialize(image: _Image, record: Initialize) -> None:
    image.executable, image.arguments, image.directory, image.start_time = record.executable, record.arguments or (), record.directory, record.time
    if image.process.parent_pid is None:
        image.process.parent_pid = record.ppid


def _close(image: _Image, record: CloseLog) -> None:
    image.end_time = record.time
    _account(image.process, record)


def _exec(image: _Image, record: ProcExec) -> None:
    if record.path and not image.executable:
        image.executable = record.path


def _fork(image: _Image, record: ProcFork) -> None:
    image.process.is_forked, image.process.parent_pid = True, record.parent_pid


def _begin_thread(image: _Image, record: ThrCreate) -> None:
    thread = LoggedThread(image.origin, record.thread, record.name, record.time, None, record.start_address)
    image.threads.setdefault(record.thread, []).append(thread)


def _end_thread(image: _Image, record: ThrExit) -> None:
    lives = image.threads.setdefault(record.thread, [])
    if not lives or (lives[-1].end_time is not None and record.user_ns is not None):
        lives.append(LoggedThread(image.origin, record.thread))
    if record.user_ns is None:  # its process was killed, and nobody saw when it ended; of one that did end more is known
        if lives[-1].end_time is None:
            lives[-1] = lives[-1]._replace(pending_ns=record.pending_ns or 0)
        return
    lives[-1] = lives[-1]._replace(
        name=record.name or lives[-1].name, end_time=record.time, user_ns=record.user_ns,
        system_ns=record.system_ns, is_exit=bool(record.is_exit), pending_ns=record.pending_ns or 0,
    )


_OF_ANY = (ProcExit, Sample)
"""Records that may be of another process than that of the log."""

_OF_IMAGES: dict[type, Callable[[_Image, Any], None]] = {
    Initialize: _initialize, CloseLog: _close, ProcExec: _exec, ProcFork: _fork, ThrCreate: _begin_thread, ThrExit: _end_thread
}


def _thread_order(thread: LoggedThread) -> tuple[int, Origin, int]:
    return (thread.start_time or 0, thread.origin, thread.thread_id)
