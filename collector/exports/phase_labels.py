"""phase_labels -- the label of the phase that each sample is in, as `report --by label` has them"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence

from collector.exports.sample_table import SampleTable
from collector.printable import printable
from collector.profile.model import Profile
from collector.profile.phases import phase_spans


def phase_labels(profile: Profile, table: SampleTable) -> tuple[list[str | None], Sequence[int]]:
    """The labels, of which the first is None for the time before any, and which of them each sample has."""
    titles, spans = phase_spans(profile)
    labels: list[str | None] = [None, *map(printable, titles[1:])]
    numbers = array("I", bytes(4 * len(table.nodes)))
    if len(labels) > 1:
        for thread, places in table.iter_threads():
            starts = [span.start_ns for span in spans[thread]]
            for place in places:
                numbers[place] = spans[thread][bisect_right(starts, table.times_ns[place]) - 1].phase
    return labels, numbers
