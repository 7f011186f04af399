"""run -- what it costs to count beside the clock: a tick, a switch and a thread, with --counters and without

    python3 experiments/020-counters/run.py [--quick]
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from measure import SOURCES, Bench, Cost, Report, main, remove, run, spread, take_turns

WAYS: dict[str, tuple[str, ...]] = {
    "recorded": (),
    "--counters faults": ("--counters", "faults"),
    "--counters, one event": ("--counters", "page-faults"),
    "--counters, four events": ("--counters", "page-faults,minor-faults,major-faults,alignment-faults"),
}
SWITCH, CREATION = SOURCES.parent / "016-waits" / "waits.c", SOURCES.parent / "005-start-up" / "creation.c"


def variants(bench: Bench, command: tuple[object, ...], *options: str) -> dict[str, Callable[[], Cost]]:
    """The command plain, recorded, and recorded in each way of counting."""

    def recorded(more: tuple[str, ...]) -> Callable[[], Cost]:
        def once() -> Cost:
            output = bench.scratch / "counted.expt"
            remove(output)
            return run([bench.collector, "record", *options, *more, "-o", output, "--", *command], errors=bool(options))

        return once

    return {"plain": lambda: run(command), **{name: recorded(more) for name, more in WAYS.items()}}


def cost_of_ticks(bench: Bench, report: Report) -> None:
    """CPU time of a loop at ten times the usual rate, beyond the plain one, by its samples; what a recording of nothing takes is taken off."""
    program = bench.compile(SOURCES / "tight_loop.c", "-O1")
    rounds = bench.choose(5, 15)
    costs, _ = take_turns(variants(bench, (program, bench.choose(1000, 3000)), "-p", "hi"), rounds)
    starts, _ = take_turns(variants(bench, ("true",), "-p", "hi"), rounds)
    plain = costs.pop("plain")
    begin = {name: spread([cost.cpu_s for cost in taken]).median for name, taken in starts.items()}
    ticks: dict[str, list[float]] = {}
    for name, taken in costs.items():
        for cost, base in zip(taken, plain):
            samples = re.search(r"([\d,]+) samples", cost.output)
            count = float(samples[1].replace(",", "")) if samples else 0.0
            ticks.setdefault(name, []).append((cost.cpu_s - base.cpu_s - (begin[name] - begin["plain"])) / max(count, 1.0))
    for name, values in ticks.items():
        report.say(f"a tick, {name}: {spread(values).text(1e6, 1)} us, {spread(values).median / spread(ticks['recorded']).median:.1f} times that without")


def cost_printed(bench: Bench, report: Report, what: str, place: int, command: tuple[object, ...]) -> None:
    """By how much a figure that the program prints exceeds that of the plain run."""
    costs, _ = take_turns(variants(bench, command), bench.choose(3, 9))
    printed = {name: [float(re.findall(r"[\d.]+", cost.output.splitlines()[-1])[place]) for cost in taken] for name, taken in costs.items()}
    plain = printed.pop("plain")
    report.say(f"{what}, plain: {spread(plain).text(1, 2)} us")
    for name, values in printed.items():
        report.say(f"{what}, {name}: {spread([value - base for value, base in zip(values, plain)]).text(1, 2, '+')} us")


def measure_counters(bench: Bench) -> Report:
    """All of it."""
    report = Report()
    cost_of_ticks(bench, report)
    cost_printed(bench, report, "a switch", 0, ("taskset", "1", bench.compile(SWITCH), "switch", bench.choose(20000, 100000)))
    cost_printed(bench, report, "a thread's creation and end", 0, (bench.compile(CREATION), bench.choose(200, 1000)))
    return report


if __name__ == "__main__":
    main(__file__, measure_counters)
