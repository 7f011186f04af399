"""jobs -- parallel jobs of as many ranks as one likes, made of real recordings"""

from __future__ import annotations

from pathlib import Path

import programs
from measure import ROOT, Bench, CannotMeasure, run

SAMPLES = 10_000
_SIMULATE = ROOT / "tests" / "simulated_ranks.py"


def record(bench: Bench) -> list[Path]:
    """Real recordings, each of about ten seconds: a compiler, whose stacks are deep and all different, and a database."""
    loads, missing = programs.prepare(bench, (programs._compiler, programs._sqlite))
    if missing:
        raise CannotMeasure(missing[0])
    found = []
    for number, load in enumerate(loads):
        command = [word if word != "-DCOPIES=1" else f"-DCOPIES={bench.choose(1, 3)}" for word in load.command]
        path = bench.scratch / f"{number}.expt"
        run([bench.collector, "record", "-o", path, *command], load.environment)
        found.append(path)
    return found


def simulate(bench: Bench, recorded: list[Path], count: int) -> Path:
    """A job of so many ranks."""
    path = bench.scratch / f"{count}.expt"
    run([bench.python, _SIMULATE, *recorded, path, count, bench.choose(1000, SAMPLES)], {"PYTHONPATH": str(ROOT)})
    return path
