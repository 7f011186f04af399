"""make -- python make.py FROM.expt TO.html SAMPLES THREADS: the page of a recording with its samples over and over, one turn behind the other, dealt out to so many threads

Stacks are those of the recording; THREADS 0 leaves its threads as they are. Prints seconds to load the recording and to make the page, numbers of samples, cells and nodes, the step
in ns, and the peak of resident memory in KiB.
"""

from __future__ import annotations

import resource
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from collector.load import load
from collector.page import document
from collector.page.cells import CellTable, cells_of
from collector.profile.model import Profile
from collector.profile.samples import Grouping, SampleRows


@dataclass
class Multiplied:
    """Samples `copies` times, each turn later by `turn_ns`; all else is asked of the original."""

    original: Any
    copies: int
    turn_ns: int
    threads: int

    def rows(self, grouping: Grouping, is_folded: bool = True) -> SampleRows:
        """See `profile.samples.Samples`."""
        rows: SampleRows = self.original.rows(grouping, is_folded)
        count = len(rows.nodes)
        times = [time_ns + copy * self.turn_ns for copy in range(self.copies) for time_ns in rows.times_ns]
        threads = list(rows.threads) * self.copies if not self.threads else [(place // 50) % self.threads for place in range(count * self.copies)]
        return rows._replace(
            times_ns=times, threads=threads, nodes=list(rows.nodes) * self.copies, is_finished=list(rows.is_finished) * self.copies,
            values=tuple(list(column) * self.copies for column in rows.values),
        )  # fmt: skip

    def __getattr__(self, name: str) -> Any:
        return getattr(self.original, name)


def multiplied(profile: Profile, wanted: int, threads: int) -> tuple[Profile, int]:
    """The profile, and how many samples it has."""
    count = int(sum(profile.samples.cells().counts))
    copies = max(1, round(wanted / count))
    turn_ns = max(one.end_ns - one.start_ns for one in profile.recordings)
    recordings = tuple(one._replace(end_ns=one.start_ns + copies * turn_ns) for one in profile.recordings)
    samples: Any = Multiplied(profile.samples, copies, turn_ns, threads)
    dealt = tuple(profile.threads[0]._replace(tid=1000 + number, name=f"worker {number}") for number in range(threads)) or profile.threads
    return profile._replace(recordings=recordings, samples=samples, threads=dealt), count * copies


def main() -> None:
    """Write the page, and say what it took."""
    begun = time.perf_counter()
    profile = load([sys.argv[1]])
    profile.samples.cells()
    loaded = time.perf_counter()
    profile, count = multiplied(profile, int(sys.argv[3]), int(sys.argv[4]))
    made: list[CellTable] = []

    def kept(one: Profile, **options: Any) -> CellTable:
        made.append(cells_of(one, **options))
        return made[-1]

    document.cells_of = kept  # type: ignore[attr-defined]
    Path(sys.argv[2]).write_text(document.render([document.experiment_data(profile, {})], "multiplied"), encoding="utf-8", errors="replace")
    cells, ended = made[0], time.perf_counter()
    peak_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"{loaded - begun:.2f} {ended - loaded:.2f} {count} {len(cells.nodes)} {len(cells.parents)} {cells.step_ns} {peak_kib}")


main()
