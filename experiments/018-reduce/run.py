"""run -- what it costs to reduce a job of thousands of ranks, how that grows, and whether two workers are twice as fast as one

    python3 experiments/018-reduce/run.py [--quick] [--ranks 64,512,4096]
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import programs
from measure import ROOT, Bench, CannotMeasure, Cost, Report, main, remove, run, size_of, spread

SIMULATE = ROOT / "tests" / "simulated_ranks.py"
SAMPLES = 10_000
TARGET = 100_000
MOST_MIB = 500
MPIRUN = ("mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1")
DASK = """
import subprocess, sys
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=int(sys.argv[1]), threads_per_worker=1, dashboard_address=None) as cluster:
        sys.exit(subprocess.run([*sys.argv[2:], "--dask", cluster.scheduler_address]).returncode)
"""


def sizes(bench: Bench) -> list[int]:
    """How many ranks are simulated."""
    return RANKS or ([16, 64] if bench.is_quick else [64, 512, 4096])


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
    run([bench.python, SIMULATE, *recorded, path, count, bench.choose(1000, SAMPLES)], {"PYTHONPATH": str(ROOT)})
    return path


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
        if count != sizes(bench)[0] and count != sizes(bench)[-2]:
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


def measure_workers(bench: Bench, report: Report, job: Path, rounds: int) -> None:
    """One worker and two, with each engine, in turn."""
    run([bench.python, "-m", "pip", "install", "-q", "mpi4py", "distributed"])
    script, small = bench.scratch / "cluster.py", bench.scratch / "workers.profile"
    script.write_text(DASK)
    command = (bench.python, "-m", "collector", "reduce", job, "-o", small)
    engines = {
        "processes": lambda count: run([*command, "-j", count]),
        "mpi4py": lambda count: run([*MPIRUN, "-n", count + 1, bench.python, "-m", "mpi4py.futures", *command[1:]]),
        "Dask": lambda count: run([bench.python, script, count, *command]),
    }
    expected = b""
    for name, reduce in engines.items():
        costs: dict[int, list[Cost]] = {1: [], 2: []}
        try:
            for turn in range(rounds):
                for count in (1, 2) if turn % 2 else (2, 1):
                    costs[count].append(reduce(count))
                    expected = expected or small.read_bytes()
                    if small.read_bytes() != expected:
                        report.say(f"{name} with {count} workers gave other bytes")
        except CannotMeasure as reason:
            report.say(f"{name:10} not measured: {reason}")
            continue
        faster = spread([one.wall_s / two.wall_s for one, two in zip(costs[1], costs[2])])
        for count in (1, 2):
            report.say(f"{name:10} {count} workers  {spread([cost.wall_s for cost in costs[count]]).text():>24} s wall{spread([cost.cpu_s for cost in costs[count]]).median:9.1f} s CPU")
        report.head(f"two workers beside one, {name}", f"x {faster.text()}", aim=">= 1.7", holds=faster.median >= 1.7)


def measure_it(bench: Bench) -> Report:
    """All of it."""
    report = Report()
    recorded = record(bench)
    report.say(f"Each rank has {bench.choose(1000, SAMPLES):,} samples and the metrics that are recorded by default; half of the ranks are a compiler, half a database.")
    costs = measure_growth(bench, report, recorded)
    if len(costs) > 1:
        tell_growth(report, costs)
        measure_workers(bench, report, bench.scratch / f"{sizes(bench)[-2]}.expt", bench.choose(1, 3))
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
