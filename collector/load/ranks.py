"""ranks -- processes that belong to a rank of a parallel job, though their environment did not say so"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from collector.profile.model import Process


def with_ranks(processes: Sequence[Process]) -> list[Process]:
    """Those of one node: a process without a rank has that of its image before, or else of its parent, as where a script clears the environment."""
    known: dict[int, Process] = {}  # by process id; numbers are used again, so in the order of time
    found = list(processes)
    for place in sorted(range(len(found)), key=lambda place: (found[place].start_ns, found[place].image)):
        process = found[place]
        before = known.get(process.pid)
        giver = before if before is not None and before.identity == process.identity else known.get(process.parent_pid)
        if process.rank is None and giver is not None and giver.rank is not None:
            process = found[place] = replace(process, rank=giver.rank, local_rank=giver.local_rank)
        known[process.pid] = process
    return found
