"""timeline -- the CPU time of each process or thread over the time of the recording, in equal steps"""

from __future__ import annotations

from dataclasses import dataclass
from operator import add

from collector.profile.metrics import has_waits, primary
from collector.profile.model import Profile
from collector.profile.samples import EVER, Span
from collector.units import NS_PER_S


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """The CPU time, or what else is the first metric, of a process image (`tid` None) or thread in each step."""

    experiment: str
    pid: int
    image: int
    tid: int | None
    name: str
    node: str
    rank: int | None
    local_rank: int | None
    cpu: float
    steps: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Timeline:
    """Rows of steps of one length in seconds, from the start of each experiment on."""

    step: float
    rows: list[TimelineRow]


def timeline(profile: Profile, count: int, is_by_thread: bool = False) -> Timeline:
    """So many steps over the longest experiment; rows in the order in which they began, without those that have no time."""
    longest_ns = max((recording.end_ns - recording.start_ns for recording in profile.recordings), default=0)
    step_ns = longest_ns // count + 1
    begun = [[_step(one.start_ns, step_ns, number) for number in range(count)] for one in profile.recordings]
    owners = [profile.processes[thread.process] for thread in profile.threads]
    cells = profile.samples.phase_cells([begun[process.experiment] for process in owners])
    of_threads: dict[int, list[float]] = {}
    for thread, step, values in zip(cells.threads, cells.phases, zip(*cells.values)):
        of_threads.setdefault(thread, [0.0] * count)[step] += primary(profile.metrics, values)
    sums: dict[int, list[float]] = {}
    for thread, steps in of_threads.items():
        _carry_waits_back(profile, steps, step_ns / NS_PER_S)
        key = thread if is_by_thread else profile.threads[thread].process
        sums[key] = [*map(add, sums[key], steps)] if key in sums else steps
    rows = [(_thread_row if is_by_thread else _process_row)(profile, key, tuple(steps)) for key, steps in sums.items()]
    starts = {key: (profile.threads if is_by_thread else profile.processes)[key].start_ns for key in sums}
    ordered = [row for _, _, row in sorted(zip(starts.values(), range(len(rows)), rows))]
    return Timeline(step_ns / NS_PER_S, ordered)


def _carry_waits_back(profile: Profile, steps: list[float], step_s: float) -> None:
    """A wait has the time at which it ended: what is more than a thread can wait in a step was in those before it."""
    if not has_waits(profile.metrics[0]):
        return
    for number in range(len(steps) - 1, 0, -1):
        excess = max(0.0, steps[number] - step_s)
        steps[number] -= excess
        steps[number - 1] += excess


def _step(start_ns: int, step_ns: int, number: int) -> Span:
    """One of equal steps; the times of a damaged log may be as late as can be."""
    return Span(min(start_ns + number * step_ns, EVER), min(start_ns + (number + 1) * step_ns, EVER), number)


def _thread_row(profile: Profile, index: int, steps: tuple[float, ...]) -> TimelineRow:
    thread = profile.threads[index]
    process = profile.processes[thread.process]
    name = profile.recordings[process.experiment].name
    return TimelineRow(name, process.pid, process.image, thread.tid, thread.name, process.node, process.rank, process.local_rank, sum(steps), steps)


def _process_row(profile: Profile, index: int, steps: tuple[float, ...]) -> TimelineRow:
    process = profile.processes[index]
    name = profile.recordings[process.experiment].name
    return TimelineRow(name, process.pid, process.image, None, process.name, process.node, process.rank, process.local_rank, sum(steps), steps)
