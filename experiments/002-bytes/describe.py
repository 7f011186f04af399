"""describe -- the stacks of an experiment in numbers: python describe.py NAME.expt; reads with collector's own reader

Prints: samples, frames a stack, share of stacks that are unlike any before in their thread, frames that differ from the sample before.
"""

from __future__ import annotations

import sys
from pathlib import Path

from collector.experiment import events
from collector.experiment.log_reader import EventReader


def main() -> None:
    """Print one line."""
    samples = frames = new_frames = unique = 0
    for log in Path(sys.argv[1]).glob("[0-9]*.log"):
        before: dict[int, tuple[int, ...]] = {}
        seen: set[tuple[int, ...]] = set()
        for event in EventReader(log):
            if not isinstance(event, events.PcSample):
                continue
            chain, last = tuple(event.stack), before.get(event.thread, ())
            same = 0
            while same < min(len(chain), len(last)) and chain[-1 - same] == last[-1 - same]:
                same += 1
            samples, frames, new_frames = samples + 1, frames + len(chain), new_frames + len(chain) - same
            before[event.thread] = chain
            unique += chain not in seen
            seen.add(chain)
    samples = max(samples, 1)
    print(samples, f"{frames / samples:.1f} {unique / samples:.3f} {new_frames / samples:.1f}")


main()
