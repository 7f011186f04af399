"""ranks -- processes that belong to a rank of a parallel job, though their environment did not say so"""

from __future__ import annotations

from collections.abc import Sequence

from collector.experiment.directory import ExperimentDirectory
from collector.profile.model import Process

_LISTED = 10


def missing_ranks(parts: Sequence[ExperimentDirectory], options: Sequence[str]) -> list[str]:
    """A sentence on the ranks of a job that left nothing at all, if its launcher said how many there are, and all were to be recorded."""
    values = dict(option.partition("=")[::2] for option in options)
    size = values.get("job_size", "")
    if not parts or not size.isdecimal() or "ranks" in values:
        return []
    missing = sorted(set(range(int(size))) - {part.rank for part in parts})
    names = ", ".join(map(str, missing[:_LISTED])) + (", ..." if len(missing) > _LISTED else "")
    return [f"{len(missing)} of the job's {size} ranks left nothing here: {names}."] if missing else []


def with_ranks(processes: Sequence[Process], rank: int | None = None, host: str = "") -> list[Process]:
    """Those of one node: a process without a rank has that of its image before, or else of its parent, as where a script clears the environment,
    or else `rank` on `host`, as where a full disk left nothing of its log.
    """
    known: dict[int, Process] = {}  # by process id; numbers are used again, so in the order of time
    found = list(processes)
    for place in sorted(range(len(found)), key=lambda place: (found[place].start_ns, found[place].image)):
        process = found[place]
        before = known.get(process.pid)
        giver = before if before is not None and before.identity == process.identity else known.get(process.parent_pid)
        if process.rank is None and giver is not None and giver.rank is not None:
            process = found[place] = process._replace(rank=giver.rank, local_rank=giver.local_rank)
        elif process.rank is None and rank is not None:
            process = found[place] = process._replace(rank=rank, node=process.node or host)
        known[process.pid] = process
    return found
