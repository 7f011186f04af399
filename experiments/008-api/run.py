"""run -- what a call of libcollector.h costs: in a program that is recorded, in one where the recorder is idle, and in one without it

    python3 experiments/008-api/run.py [--quick]
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from measure import Bench, Cost, Report, main, remove, run, spread, take_turns

HERE = Path(__file__).resolve().parent
CALLS = ("collector_sample", "pause and resume", "func_load and func_unload", "is_active")
RECORDED_COUNT, OTHER_COUNT = 20_000, 20_000_000


def measure_it(bench: Bench) -> Report:
    """All of it."""
    report = Report()
    program = bench.compile(HERE / "calls.c", "-fno-pie", "-no-pie")
    experiment = bench.scratch / "calls.expt"

    def recorded() -> Cost:
        remove(experiment)
        return run([program, RECORDED_COUNT], {"LD_PRELOAD": str(bench.recorder), "COLLECTOR_EXPERIMENT": str(experiment)})

    variants = {
        "not recorded": lambda: run([program, OTHER_COUNT]),
        "recorder preloaded, no experiment": lambda: run([program, OTHER_COUNT], {"LD_PRELOAD": str(bench.recorder)}),
        "recorded": recorded,
    }
    costs, failures = take_turns(variants, bench.choose(3, 15))
    report.say(f"nanoseconds of CPU time a call, less an empty function; {OTHER_COUNT:,} calls a run, {RECORDED_COUNT:,} where recorded")
    report.say(f"{'':36}" + "".join(f"{name:>32}" for name in CALLS))
    for name, taken in costs.items():
        rows = [[float(word) for word in cost.output.split()] for cost in taken]
        found = [spread([row[place] - row[0] for row in rows]) for place in range(1, 5)]
        report.say(f"{name:36}" + "".join(f"{value.text(1, 1):>32}" for value in found))
        if name == "recorded":
            report.head("collector_sample, recorded", f"{found[0].text(1e-3, 2)} us", "", "<= 5 us", found[0].median <= 5000)
            report.head("pause and resume, func_load and unload, recorded", f"{found[1].median / 1e3:.2f} us, {found[2].median / 1e3:.2f} us")
        if name == "not recorded":
            report.head("collector_sample, not recorded", f"{found[0].text(1, 2)} ns", "", "<= 3 ns", found[0].median <= 3)
    for name, reason in failures.items():
        report.say(f"{name:36}failed: {reason}")
    return report


if __name__ == "__main__":
    main(__file__, measure_it)
