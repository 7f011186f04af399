"""compare_stacks -- how many samples of shapes.py have exactly the Python functions, files and lines that the program told: EXPERIMENT, TOLD in the environment"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from collector.analysis.plain import PlainAnalysis
from collector.load import load


def main() -> None:
    """Print those that are right, and all that are in a loop that was told."""
    told = json.loads(os.environ["TOLD"])
    loops = {(shape["stack"][-1][1], line): shape["stack"] for shape in told.values() for line in shape["lines"]}
    profile = load([sys.argv[1]], analysis=PlainAnalysis())
    right = count = 0
    for sample in profile.samples.samples:
        frames = [profile.frames[frame] for frame in profile.samples.stacks[sample.stack].frames]
        seen = [[profile.functions[frame.function].name, frame.file, frame.line] for frame in frames if frame.kind == "python"]
        if seen and (seen[-1][1], seen[-1][2]) in loops:
            wanted = loops[seen[-1][1], seen[-1][2]]
            count += 1
            right += seen == [*wanted[:-1], [*wanted[-1][:2], seen[-1][2]]]
    print(right, count)


main()
