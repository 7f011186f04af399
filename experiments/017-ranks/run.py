"""run -- what the ranks of an MPI job leave on the disk, and how long until one knows which of them is slow: collector, perf, gprofng

    python3 experiments/017-ranks/run.py [--quick]
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import peers
from measure import TARGETS, USUAL_HZ, Bench, CannotMeasure, Report, main, remove, run, size_of, spread

RANKS = 8
RATE_HZ = USUAL_HZ
LAUNCH = ("mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", RANKS)
RANK = "$OMPI_COMM_WORLD_RANK"


@dataclass(frozen=True, slots=True)
class Way:
    """How a job is recorded into a directory, and asked: which functions all ranks spend their time in, and how it differs by rank."""

    name: str
    command: Callable[[Path], list[object]]
    functions: Callable[[Path], list[list[object]]]
    by_rank: Callable[[Path], list[list[object]]]


def ways(bench: Bench, program: Path, unit_ms: int) -> list[Way]:
    """Those that are here."""
    target = f"{program} {unit_ms}"

    def each(place: Path, pattern: str, *command: object) -> list[list[object]]:
        return [[*command, path] for path in sorted(place.glob(pattern))]

    found = [
        Way(
            "collector",
            lambda place: [bench.collector, "record", "-o", place / "run.expt", program, unit_ms],
            lambda place: [[bench.collector, "report", place / "run.expt", "functions", "-l", 20]],
            lambda place: [[bench.collector, "report", place / "run.expt", "functions", "--by", "rank", "-l", 20]],
        )
    ]
    if not peers.install(["perf"]):
        reports = ("perf", "report", "--stdio", "--no-children", "-g", "none", "-i")
        found.append(
            Way(
                "perf -g",
                lambda place: ["sh", "-c", f"exec perf record -q -g -F {RATE_HZ} -o {place}/{RANK}.data {target}"],
                lambda place: each(place, "*.data", *reports),
                lambda place: each(place, "*.data", *reports),
            )
        )
    if not peers.install(["gprofng"]):
        views = ("gprofng", "display", "text", "-functions")
        found.append(
            Way(
                "gprofng",
                lambda place: ["sh", "-c", f"exec gprofng collect app -p on -O {place}/{RANK}.er {target}"],
                lambda place: [[*views, *sorted(place.glob("*.er"))]],
                lambda place: each(place, "*.er", *views),
            )
        )
    return found


def files_below(place: Path) -> int:
    """How many files and directories a job left."""
    return sum(1 for _ in place.rglob("*"))


def measure_way(bench: Bench, report: Report, way: Way, rounds: int) -> tuple[int, int, float, float]:
    """One way: a job is recorded and asked in each round, with nothing kept from the round before."""
    walls, firsts, agains, cpus = [], [], [], []
    for number in range(rounds):
        place, cache = bench.scratch / f"{way.name.split()[0]}.{number}", bench.scratch / "cache"
        remove(place)
        remove(cache)
        place.mkdir()
        walls.append(run([*LAUNCH, *way.command(place)]).wall_s)
        fresh = {"XDG_CACHE_HOME": str(cache)}
        costs = [run(command, fresh) for command in way.functions(place)]
        firsts.append(sum(cost.wall_s for cost in costs))
        again = [run(command, fresh) for command in way.by_rank(place)]
        agains.append(sum(cost.wall_s for cost in again))
        cpus.append(sum(cost.cpu_s for cost in (*costs, *again)))
        last = place
    entries, size = files_below(last), size_of(last)
    report.say(
        f"{way.name:12}{spread(walls).median:10.1f}{entries:11}{size / 1024:12.0f}{len(way.functions(last)):7}{spread(firsts).median:9.2f}"
        f"{len(way.by_rank(last)):7}{spread(agains).median:9.2f}{spread(cpus).median:9.2f}"
    )
    return entries, size, spread(firsts).median, spread(agains).median


def measure_it(bench: Bench) -> Report:
    """All ways, beside each other."""
    if not all(map(shutil.which, ("mpicc.openmpi", LAUNCH[0]))):
        raise CannotMeasure("there is no Open MPI: apt install openmpi-bin libopenmpi-dev")
    report = Report()
    unit_ms, rounds = bench.choose(20, 100), bench.choose(1, 3)
    program = bench.compile(TARGETS / "ranks.c", compiler="mpicc.openmpi")
    plain = run([*LAUNCH, program, unit_ms])
    used = {name: int(ns) for name, ns in re.findall(r"^(\S+) (\d+)$", plain.output, re.MULTILINE)}
    total_s = sum(ns for name, ns in used.items() if name.endswith(".process")) / 1e9
    report.say(f"{RANKS} ranks of Open MPI on one node, {total_s:.1f} s of CPU time, the last rank works 2.0 times as long; {RATE_HZ} Hz, plain {plain.wall_s:.1f} s")
    report.say()
    report.say(f"{'':12}{'recorded':>10}{'files and':>11}{'':>12}{'functions of all':>16}{'by rank':>16}{'CPU of':>9}")
    report.say(f"{'':12}{'s':>10}{'direct.':>11}{'KiB':>12}{'calls':>7}{'s':>9}{'calls':>7}{'s':>9}{'both, s':>9}")
    figures = {}
    for way in ways(bench, program, unit_ms):
        try:
            figures[way.name] = measure_way(bench, report, way, rounds)
        except CannotMeasure as reason:
            report.say(f"{way.name:12}{reason}")
    report.say()
    report.say(peers.GPROFNG_NOTE)
    own = figures.get("collector")
    if own is not None:
        others = {name: row for name, row in figures.items() if name != "collector"}
        report.head(f"{RANKS} ranks on the disk", f"{own[0]} files and directories, {own[1] / 1024:.0f} KiB", told(others, lambda row: f"{row[0]}, {row[1] / 1024:.0f} KiB"))
        report.head("functions of all ranks, first time", f"{own[2]:.2f} s", told(others, lambda row: f"{row[2]:.2f} s"))
        report.head("functions by rank", f"{own[3]:.2f} s", told(others, lambda row: f"{row[3]:.2f} s, by hand"))
    return report


def told(others: dict[str, tuple[int, int, float, float]], words: Callable[[tuple[int, int, float, float]], str]) -> str:
    """The peers' figures in one cell."""
    return "; ".join(f"{name} {words(row)}" for name, row in others.items())


if __name__ == "__main__":
    main(__file__, measure_it)
