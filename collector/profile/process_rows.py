"""process_rows -- what ran, as rows for Python programs, JSON and CSV: threads, processes, experiments

Times are seconds; moments are seconds since the experiment began.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from collector.profile.aggregate import ProcessRow, ThreadRow
from collector.profile.causes import exit_status
from collector.profile.metrics import CPU_METRICS, Figures, figures
from collector.profile.model import Clock, Process, Profile
from collector.units import NS_PER_S


@dataclass(frozen=True, slots=True)
class ThreadTime:
    """A thread; `values` are what its samples stand for, `accounted` what the kernel accounts, of which no sample stands for `unattributed`.

    `wall` is how long it was there, and `off_cpu` how long of it on no processor: waiting, or ready to run. Both are of its whole life, whatever is selected.
    `lock_held` is CPU time with the global interpreter lock of Python; None if no Python function was recorded.
    """

    experiment: str
    pid: int
    image: int
    tid: int
    name: str
    node: str
    rank: int | None
    local_rank: int | None
    start: float
    end: float | None
    wall: float
    off_cpu: float
    samples: int
    values: Figures
    accounted: Figures | None
    unattributed: float
    lock_held: float | None


@dataclass(frozen=True, slots=True)
class SampleClock:
    """What made the samples of a process: the period asked for, and the shortest it can deliver; `detail` says why not a better one."""

    name: str
    period: float
    effective_period: float
    detail: str


@dataclass(frozen=True, slots=True)
class ProcessTime:
    """A process image; a process that called execve has several, with the same `first_image`. `exit_status` is -n if signal n ended it, and
    `interpreter` empty if it has none. `rank` and `local_rank` are None of what belongs to no parallel job.
    """

    experiment: str
    pid: int
    image: int
    first_image: int
    parent_pid: int
    program: str
    arguments: tuple[str, ...]
    start: float
    end: float | None
    exit_status: int | None
    threads: int
    samples: int
    values: Figures
    accounted: Figures | None
    before_recording: float
    clock: SampleClock | None
    interpreter: str
    node: str
    rank: int | None
    local_rank: int | None


@dataclass(frozen=True, slots=True)
class ExperimentFacts:
    """What ran, where and when; `began` is seconds since 1970 (UTC), `accounted` the CPU time of all that was waited for. Of a job on several
    nodes `clock_moved` is by how much the wall clock of one moved as its ranks began, `clock_error` how far two may be apart by their time services.
    """

    experiment: str
    path: str
    command: tuple[str, ...]
    directory: str
    host: str
    machine: str
    kernel: str
    cpu_count: int
    page_bytes: int
    began: float
    clock_moved: float | None
    clock_error: float | None
    duration: float
    exit_status: int | None
    accounted: float | None
    options: tuple[str, ...]
    recorder: str
    format: str
    logs: int
    log_bytes: int


def thread_times(profile: Profile, rows: Iterable[ThreadRow]) -> list[ThreadTime]:
    """The rows of the view `threads`."""
    return [
        ThreadTime(
            experiment=profile.recordings[row.process.experiment].name,
            pid=row.process.pid,
            image=row.process.image,
            tid=row.thread.tid,
            name=row.thread.name,
            node=row.process.node,
            rank=row.process.rank,
            local_rank=row.process.local_rank,
            start=moment(profile, row.process.experiment, row.thread.start_ns),
            end=_end(profile, row.process.experiment, row.thread.end_ns),
            wall=row.wall_s,
            off_cpu=row.off_cpu_s,
            samples=row.sample_count,
            values=figures(profile.metrics, row.values),
            accounted=_accounted(profile, row.thread.user_ns, row.thread.system_ns),
            unattributed=row.thread.unattributed_ns / NS_PER_S,
            lock_held=row.lock_held_s,
        )
        for row in rows
    ]


def process_times(profile: Profile, rows: Iterable[ProcessRow]) -> list[ProcessTime]:
    """The rows of the view `processes`."""
    return [_process_time(profile, row, row.process) for row in rows]


def _process_time(profile: Profile, row: ProcessRow, process: Process) -> ProcessTime:
    return ProcessTime(
        experiment=profile.recordings[process.experiment].name,
        pid=process.pid,
        image=process.image,
        first_image=process.first_image,
        parent_pid=process.parent_pid,
        program=process.executable,
        arguments=process.arguments,
        start=moment(profile, process.experiment, process.start_ns),
        end=_end(profile, process.experiment, process.end_ns),
        exit_status=exit_status(process.status),
        threads=row.thread_count,
        samples=row.sample_count,
        values=figures(profile.metrics, row.values),
        accounted=_accounted(profile, process.user_ns, process.system_ns),
        before_recording=process.unrecorded_ns / NS_PER_S,
        clock=_clock(process.clock),
        interpreter=process.interpreter,
        node=process.node,
        rank=process.rank,
        local_rank=process.local_rank,
    )


def experiment_facts(profile: Profile) -> list[ExperimentFacts]:
    """The rows of the view `header`."""
    return [
        ExperimentFacts(
            experiment=recording.name,
            path=recording.path,
            command=recording.command,
            directory=recording.directory,
            host=recording.host,
            machine=recording.machine,
            kernel=recording.kernel,
            cpu_count=recording.cpu_count,
            page_bytes=recording.page_bytes,
            began=recording.wall_ns / NS_PER_S,
            clock_moved=None if recording.clock_moved_ns is None else recording.clock_moved_ns / NS_PER_S,
            clock_error=None if recording.clock_error_ns is None else recording.clock_error_ns / NS_PER_S,
            duration=(recording.end_ns - recording.start_ns) / NS_PER_S,
            exit_status=exit_status(recording.status),
            accounted=None if recording.accounted_ns is None else recording.accounted_ns / NS_PER_S,
            options=recording.options,
            recorder=recording.library_version,
            format=recording.format_version,
            logs=recording.log_count,
            log_bytes=recording.log_bytes,
        )
        for recording in profile.recordings
    ]


def moment(profile: Profile, experiment: int, time_ns: int) -> float:
    """Seconds since the experiment began."""
    return (time_ns - profile.recordings[experiment].start_ns) / NS_PER_S


def _end(profile: Profile, experiment: int, time_ns: int | None) -> float | None:
    return None if time_ns is None else moment(profile, experiment, time_ns)


def _accounted(profile: Profile, user_ns: int | None, system_ns: int | None) -> Figures | None:
    if user_ns is None or system_ns is None:
        return None
    return figures(CPU_METRICS, ((user_ns + system_ns) / NS_PER_S, user_ns / NS_PER_S, system_ns / NS_PER_S))


def _clock(clock: Clock | None) -> SampleClock | None:
    if clock is None:
        return None
    return SampleClock(clock.name, clock.period_ns / NS_PER_S, clock.effective_period_ns / NS_PER_S, clock.detail)
