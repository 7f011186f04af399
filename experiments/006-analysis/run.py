"""run -- how long it takes to see a result, and how much memory: from 10 thousand to 10 million samples, several views, first time and again

    python3 experiments/006-analysis/run.py [--quick]
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import peers
import programs
from measure import Bench, CannotMeasure, Cost, Report, main, remove, run, spread

HERE = Path(__file__).resolve().parent


def best_of(costs: list[Cost]) -> str:
    """Median wall and CPU time and the peak of memory."""
    return f"{spread([cost.wall_s for cost in costs]).text():>24} s{spread([cost.cpu_s for cost in costs]).median:9.2f} s CPU{max(cost.peak_kib for cost in costs) / 1024:8.0f} MiB"


def views_of(bench: Bench, source: str, function: str) -> dict[str, tuple[str, ...]]:
    """The views that are timed."""
    views = {"functions": ("functions",), "callers": ("callers-callees", function)}
    if not bench.is_quick:
        views |= {"calltree": ("calltree",), "lines": ("lines",), "source": ("source", source)}
    return views


def time_views(bench: Bench, report: Report, title: str, experiment: Path, views: dict[str, tuple[str, ...]], count: int) -> float:
    """Each view cold (no symbols cached) and warm; gives the seconds of the first view, warm."""
    first = 0.0
    for name, view in views.items():
        cache = bench.scratch / "cache"
        remove(cache)
        command, environment = [bench.collector, "report", experiment, *view], {"XDG_CACHE_HOME": str(cache)}
        try:
            cold = run(command, environment)
            warm = [run(command, environment) for _ in range(1 if count > 500_000 else bench.choose(1, 3))]
        except CannotMeasure as reason:
            report.say(f"{title:38}{name:12}failed: {reason}")
            continue
        report.say(f"{title:38}{name:12}cold{best_of([cold])}")
        report.say(f"{'':50}warm{best_of(warm)}")
        first = first or spread([cost.wall_s for cost in warm]).median
    return first


def measure_it(bench: Bench) -> Report:
    """All of it."""
    report = Report()
    recorders = peers.recorders(bench)
    for line in peers.name_missing(recorders):
        report.say(line)
    loads, missing = programs.prepare(bench, (programs.CENTRAL[1], programs.python) if not bench.is_quick else (programs.python,))
    sizes = (10_000, 100_000) if bench.is_quick else (10_000, 100_000, 1_000_000, 10_000_000)
    report.say("The samples of one recording at 9973 Hz, so many times over; wall time (median and quartiles), CPU time, peak of resident memory. Cold: no symbols cached.")
    for load in loads:
        original = bench.scratch / "original.expt"
        recorders["collector"].record(load.command, 9973, original, load.environment)
        function = max(recorders["collector"].seconds(original, Path()).items(), key=lambda item: item[1])[0]
        views = views_of(bench, function, function)
        views.pop("source", None)
        for wanted in sizes:
            copy = bench.scratch / "copy.expt"
            count = int(run([bench.python, HERE / "multiply.py", original, copy, wanted]).output)
            if count > 2_000_000 and load is not loads[0]:
                continue  # a minute a view
            chosen = views if count < 2_000_000 else {"functions": ("functions",)}
            seconds = time_views(bench, report, f"{load.name}, {count:,} samples", copy, chosen, count)
            if wanted in (100_000, 1_000_000, 10_000_000):
                report.head(f"functions of {count:,} samples of {load.name}, warm", f"{seconds:.2f} s")
        compare(bench, report, load, recorders)
    sources(bench, report, recorders["collector"])
    for line in missing:
        report.say(line)
    return report


def sources(bench: Bench, report: Report, recorder: peers.Recorder) -> None:
    """The view of an annotated source file, of a program with line information."""
    loads, _ = programs.prepare(bench, (programs.locks,))
    for load in loads:
        output, copy = bench.scratch / "lines.expt", bench.scratch / "copy.expt"
        recorder.record(load.command, 9973, output)
        count = int(run([bench.python, HERE / "multiply.py", output, copy, bench.choose(100_000, 1_000_000)]).output)
        time_views(bench, report, f"{load.name}, {count:,} samples", copy, {"source": ("source", "locks.c"), "lines": ("lines",)}, count)


def compare(bench: Bench, report: Report, load: programs.Load, recorders: dict[str, peers.Recorder]) -> None:
    """The table of functions by ours and by perf, of recordings at the same rate."""
    seconds: dict[str, float] = {}
    for name in ("collector", "perf task-clock:u -g", "perf task-clock:u dwarf"):
        recorder = recorders.get(name)
        rate_hz = 997 if "dwarf" in name else 9973
        if recorder is None or "dwarf" in name and bench.is_quick:
            continue
        output = bench.scratch / ("compared" + recorder.suffix)
        remove(output)
        recorder.record(load.command, rate_hz, output, load.environment)
        count = recorder.sample_count(output, rate_hz)
        costs = [recorder.analyse(output) for _ in range(bench.choose(1, 5))]
        seconds[name] = spread([cost.wall_s for cost in costs]).median
        report.say(f"{load.name}, functions by {name}, {count:,} samples {best_of(costs)}   {seconds[name] / count * 1e6:8.1f} us a sample")
    if len(seconds) > 1:
        told = ", ".join(f"{name} {value:.2f} s" for name, value in seconds.items() if name != "collector")
        report.head(f"functions of one recording of {load.name}, 9973 Hz", f"{seconds['collector']:.2f} s", told)


if __name__ == "__main__":
    main(__file__, measure_it)
