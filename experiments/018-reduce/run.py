"""run -- what it costs to reduce a job of thousands of ranks, and how that grows

    python3 experiments/018-reduce/run.py [--quick] [--ranks 64,512,4096]
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from jobs import SAMPLES, record, simulate
from measure import Bench, Cost, Report, main, remove, run, size_of

TARGET = 100_000
MOST_MIB = 500


def sizes(bench: Bench) -> list[int]:
    """How many ranks are simulated."""
    return RANKS or ([16, 64] if bench.is_quick else [64, 512, 4096])


def told(cost: Cost) -> str:
    """A cost in a line."""
    return f"{cost.wall_s:8.1f} s wall{cost.cpu_s:9.1f} s CPU{cost.peak_kib / 1024:7.0f} MiB"


def measure_growth(bench: Bench, report: Report, recorded: list[Path]) -> dict[int, Cost]:
    """Reduce and report jobs of each size."""
    costs: dict[int, Cost] = {}
    for count in sizes(bench):
        job, small = simulate(bench, recorded, count), bench.scratch / f"{count}.profile"
        costs[count] = run([bench.collector, "reduce", job, "-j", 2, "-o", small])
        report.say(f"{count:6,} ranks  {size_of(job) >> 20:6,} MiB  reduce -j 2             {told(costs[count])}   file {size_of(small) / 2**20:.1f} MiB")
        for view in (("functions",), ("functions", "--by", "rank")):
            seen = run([bench.collector, "report", small, *view])
            report.say(f"{'':28}report {' '.join(view):21}{told(seen)}")
            report.head(f"{' '.join(view)} of {count:,} ranks, reduced", f"{seen.wall_s:.2f} s")
        peak = costs[count].peak_kib / 1024
        report.head(f"reduce {count:,} ranks: peak of any process", f"{peak:.0f} MiB", aim=f"<= {MOST_MIB} MiB", holds=peak <= MOST_MIB)
        remove(job)
    return costs


def tell_growth(report: Report, costs: dict[int, Cost]) -> None:
    """How CPU time grows, and what it says of more ranks than were simulated."""
    (few, first), (many, last) = list(costs.items())[0], list(costs.items())[-1]
    growth = (last.cpu_s / first.cpu_s) / (many / few)
    report.head(f"CPU time from {few} to {many:,} ranks, beside the number of ranks", f"x {growth:.2f}", aim="<= 1.1", holds=growth <= 1.1)
    each_s, each_kib = last.cpu_s / many, (last.peak_kib - first.peak_kib) / (many - few)
    hours = each_s * TARGET / 3600
    report.say(f"{TARGET:,} ranks, by calculation: {1000 * each_s:.0f} ms CPU a rank, {hours:.1f} hours of CPU; {last.peak_kib / 2**20 + each_kib * (TARGET - many) / 2**20:.1f} GiB in the first process.")


def measure_it(bench: Bench) -> Report:
    """All of it."""
    report = Report()
    recorded = record(bench)
    report.say(f"Each rank has {bench.choose(1000, SAMPLES):,} samples and the metrics that are recorded by default; half of the ranks are a compiler, half a database.")
    costs = measure_growth(bench, report, recorded)
    if len(costs) > 1:
        tell_growth(report, costs)
    return report


def asked() -> list[int]:
    """The numbers of --ranks, taken from the command line."""
    if "--ranks" not in sys.argv:
        return []
    place = sys.argv.index("--ranks")
    numbers = [int(word) for word in sys.argv[place + 1].split(",")]
    del sys.argv[place : place + 2]
    return sorted(numbers)


RANKS = asked()

if __name__ == "__main__":
    main(__file__, measure_it)
