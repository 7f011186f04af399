"""run -- what it costs to tell of generated code, and what is told by compilers that nobody here wrote

    python3 experiments/009-dynamic-code/run.py [--quick]
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from measure import TARGETS, Bench, CannotMeasure, Cost, Report, main, remove, run, spread, take_turns

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from collector.experiment.events import MappingChange
from collector.experiment.merge import events
from collector.format import MapAction, MapKind


def preloaded(bench: Bench, experiment: Path) -> dict[str, str]:
    remove(experiment)
    return {"LD_PRELOAD": str(bench.recorder), "COLLECTOR_EXPERIMENT": str(experiment)}


def measure_calls(bench: Bench, report: Report) -> None:
    """Calls of functions of 128 bytes with 8 lines, each by its own clock reading, which costs the same without a recorder."""
    program, experiment, count = bench.compile(TARGETS / "code_cost.c"), bench.scratch / "cost.expt", 100_000
    variants = {
        "without a recorder": lambda: run([program, count]),
        "recorded": lambda: run([program, count], preloaded(bench, experiment)),
    }
    costs, failures = take_turns(variants, bench.choose(3, 15))
    for reason in failures.values():
        raise CannotMeasure(reason)

    def figure(cost: Cost, name: str) -> float:
        return float(re.search(rf"^{name} (\d+)$", cost.output, re.MULTILINE)[1])

    base = {name: spread([figure(cost, name) for cost in costs["without a recorder"]]).median for name in ("load", "unload")}
    report.say(f"{count:,} functions of 128 bytes with 8 lines: nanoseconds a call, less the same program without a recorder")
    for name in ("load", "unload"):
        found = spread([figure(cost, name) - base[name] for cost in costs["recorded"]])
        report.say(f"  collector_func_{name:<8}{found.text(1, 0):>24}")
        report.head(f"collector_func_{name}", f"{found.median / 1e3:.2f} us", "", "<= 2 us", found.median <= 2000)


def measure_hotspot(bench: Bench, report: Report) -> None:
    """The stubs that a JVM tells of by itself."""
    if not shutil.which("javac"):
        report.say("HotSpot: no JDK is installed")
        return
    run(["javac", "-d", bench.scratch, TARGETS / "BusyJava.java"])
    experiment = bench.scratch / "java.expt"
    run(["java", "-cp", bench.scratch, "BusyJava", 500], preloaded(bench, experiment))
    told = [event for event in events(experiment) if isinstance(event, MappingChange) and event.map_kind is MapKind.DYNAMIC_FUNCTION and event.action is MapAction.INSERT]
    version = run(["java", "-version"], errors=True).output.splitlines()[0]
    report.say(f"{version}: told of {len(told)} stubs by itself, {len({event.name for event in told})} names, {sum(len(event.code or b'') for event in told):,} bytes of code")
    report.head("stubs that HotSpot tells of", f"{len(told)}", "", "> 300", len(told) > 300)


def measure_it(bench: Bench) -> Report:
    """All of it."""
    report = Report()
    measure_calls(bench, report)
    measure_hotspot(bench, report)
    return report


if __name__ == "__main__":
    main(__file__, measure_it)
