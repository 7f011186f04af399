"""run -- whether two workers reduce a job twice as fast as one, with each engine

python3 experiments/021-engines/run.py [--quick]
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from jobs import SAMPLES, record, simulate
from measure import Bench, CannotMeasure, Cost, Report, main, run, spread

MPIRUN = ("mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1")
DASK = """
import subprocess, sys, time
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=int(sys.argv[1]), threads_per_worker=1, dashboard_address=None) as cluster:
        begun = time.perf_counter()
        status = subprocess.run([*sys.argv[2:], "--dask", cluster.scheduler_address]).returncode
        print(time.perf_counter() - begun)
    sys.exit(status)
"""


def of_the_cluster(cost: Cost) -> Cost:
    """What a command took on a cluster that is there: the script says that last."""
    return replace(cost, wall_s=float(cost.output.split()[-1]))


def measure_it(bench: Bench) -> Report:
    """One worker and two, with each engine, in turn."""
    report, rounds, count = Report(), bench.choose(1, 2), bench.choose(64, 4096)
    job = simulate(bench, record(bench), count)
    report.say(f"{count} ranks with {bench.choose(1000, SAMPLES):,} samples each, half of them a compiler, half a database")
    run([bench.python, "-m", "pip", "install", "-q", "mpi4py", "distributed"])
    script, small = bench.scratch / "cluster.py", bench.scratch / "workers.profile"
    script.write_text(DASK)
    command = (bench.python, "-m", "collector", "reduce", job, "-o", small)
    engines = {
        "processes": lambda count: run([*command, "-j", count]),
        "mpi4py": lambda count: run([*MPIRUN, "-n", count + 1, bench.python, "-m", "mpi4py.futures", *command[1:]]),
        "Dask": lambda count: of_the_cluster(run([bench.python, script, count, *command])),
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
            report.say(
                f"{name:10} {count} workers  {spread([cost.wall_s for cost in costs[count]]).text():>24} s wall{spread([cost.cpu_s for cost in costs[count]]).median:9.1f} s CPU"
            )
        report.head(f"two workers beside one, {name}", f"x {faster.text()}", aim=">= 1.7", holds=faster.median >= 1.7)
    return report


if __name__ == "__main__":
    main(__file__, measure_it)
