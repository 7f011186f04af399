"""run -- what it costs to note who opens a parallel region: the same program without the recorder, with it and no experiment, and recorded

    python3 experiments/019-openmp/run.py [--quick]
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from measure import Bench, CannotMeasure, Cost, Report, main, remove, run, spread, take_turns

HERE = Path(__file__).resolve().parent
COUNT = 300_000
PLAIN, IDLE, RECORDED = "not recorded", "recorder preloaded, no experiment", "recorded"


def measure_it(bench: Bench) -> Report:
    """Each compiler's runtime that is there."""
    report = Report()
    report.say(f"nanoseconds of the opener's CPU time for a region, less an empty function; {COUNT:,} regions a run")
    for compiler in ("gcc", "clang"):
        try:
            _measure(bench, report, compiler)
        except CannotMeasure as error:
            report.say(f"{compiler}: {error}")
    return report


def _measure(bench: Bench, report: Report, compiler: str) -> None:
    program = bench.scratch / f"regions-{compiler}"
    run([compiler, "-O2", "-g", "-fopenmp", HERE / "regions.c", "-o", program])
    experiment = bench.scratch / "regions.expt"

    def recorded() -> Cost:
        remove(experiment)
        return run([program, COUNT], {"LD_PRELOAD": str(bench.recorder), "COLLECTOR_EXPERIMENT": str(experiment)})

    variants = {
        PLAIN: lambda: run([program, COUNT]),
        IDLE: lambda: run([program, COUNT], {"LD_PRELOAD": str(bench.recorder)}),
        RECORDED: recorded,
    }
    costs, failures = take_turns(variants, bench.choose(5, 21))
    rows = {name: [[float(word) for word in cost.output.split()] for cost in taken] for name, taken in costs.items()}
    plain = [region - nothing for nothing, region in rows[PLAIN]]
    for name, found in rows.items():
        nanoseconds = [region - nothing for nothing, region in found]
        ratios = spread([ours / theirs for ours, theirs in zip(nanoseconds, plain)])
        more = spread([ours - theirs for ours, theirs in zip(nanoseconds, plain)])
        report.say(f"{compiler:6} {name:36} {spread(nanoseconds).text(1, 1):>28} ns   x {ratios.text(1, 3)}   {more.text(1, 1, '+')} ns")
        if name == RECORDED:
            report.head(f"a parallel region by {compiler}, recorded", f"{more.text(1, 0, '+')} ns, x {ratios.median:.2f}", "", "<= 100 ns more", more.median <= 100)
    for name, reason in failures.items():
        report.say(f"{compiler:6} {name:36} failed: {reason}")


if __name__ == "__main__":
    main(__file__, measure_it)
