"""run -- what it costs to have it recorded where threads wait, and how true that is: --wall beside a recording without it

    python3 experiments/016-waits/run.py [--quick]
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from measure import TARGETS, Bench, Cost, Report, Spread, main, remove, run, spread, take_turns

HERE = Path(__file__).resolve().parent
READ = """
import sys
from collector.load import load
from collector.profile import aggregate
profile = load([sys.argv[1]])
names = [metric.name for metric in profile.metrics]
off = [names.index("blocked"), names.index("runnable")]
for row in aggregate.threads(profile):
    print("thread", row.thread.tid, sum(row.values[place] for place in off), row.values[off[1]])
for row in aggregate.functions(profile):
    print("function", row.function.name.replace(" ", "_"), sum(row.inclusive[place] for place in off), row.inclusive[off[1]])
"""


def variants(bench: Bench, command: tuple[object, ...]) -> dict[str, Callable[[], Cost]]:
    """The command plain, recorded, and recorded with --wall."""

    def recorded(*options: str) -> Callable[[], Cost]:
        def once() -> Cost:
            output = bench.scratch / "costs.expt"
            remove(output)
            return run([bench.collector, "record", *options, "-o", output, "--", *command])

        return once

    return {"plain": lambda: run(command), "recorded": recorded(), "with --wall": recorded("--wall")}


def numbers(costs: list[Cost]) -> list[list[float]]:
    """The numbers that each run printed."""
    return [[float(word) for word in re.findall(r"[\d.]+", cost.output.splitlines()[-1])] for cost in costs]


def added(costs: dict[str, list[Cost]], place: int) -> dict[str, Spread]:
    """By how much the printed number exceeds the plain one of the same round."""
    printed = {name: numbers(taken) for name, taken in costs.items()}
    plain = printed.pop("plain")
    return {name: spread([one[place] - other[place] for one, other in zip(rows, plain)]) for name, rows in printed.items()}


def costs_of_switches(bench: Bench, report: Report) -> None:
    """A switch, a thread, a fork."""
    program = bench.compile(HERE / "waits.c")
    costs, _ = take_turns(variants(bench, ("taskset", "1", program, "switch", bench.choose(20000, 100000))), bench.choose(3, 9))
    for name, value in added(costs, 0).items():
        report.say(f"a switch, {name}: {value.text(1, 2, '+')} us")
    creation = bench.compile(HERE.parent / "005-start-up" / "creation.c")
    costs, _ = take_turns(variants(bench, (creation, bench.choose(200, 1000))), bench.choose(3, 9))
    for place, what in enumerate(("a thread's creation and end", "a fork and its end")):
        for name, value in added(costs, place).items():
            report.say(f"{what}, {name}: {value.text(1, 1, '+')} us")


def cost_of_idling(bench: Bench, report: Report) -> None:
    """CPU time of the launcher while a program with many threads does nothing: of a long run less a short one, so without its beginning and end."""
    program, short_s, more_s = bench.compile(HERE / "waits.c"), 2, bench.choose(8, 20)
    for threads in (1, 1000):
        taken: dict[str, list[float]] = {}
        for _ in range(bench.choose(1, 5)):
            for name in ("recorded", "with --wall"):
                short, long = (variants(bench, (program, "idle", threads, seconds))[name]().cpu_s for seconds in (short_s, short_s + more_s))
                taken.setdefault(name, []).append(long - short)
        share = spread([(wall - without) / more_s for wall, without in zip(taken["with --wall"], taken["recorded"])])
        report.say(f"{threads} idle threads: {share.text(100, 2)} % of a processor more than without --wall")
        if threads == 1000:
            report.head("1,000 idle threads watched", f"{share.text(100, 2)} % of a processor", "", "<= 1.2 %", share.median <= 0.012)


def truth(bench: Bench, report: Report) -> None:
    """Threads with known waits: errors of their sums, and of rows."""
    program = bench.compile(TARGETS / "known_waits.c")
    sums: list[float] = []
    rows: dict[str, list[float]] = {}
    ready: list[float] = []
    for _ in range(bench.choose(3, 9)):
        output = bench.scratch / "known.expt"
        remove(output)
        told = run([bench.collector, "record", "--wall", "-o", output, "--", program, 2000], directory=bench.scratch).output
        known = {line.split()[0]: int(line.split()[1]) for line in told.splitlines()}
        found = [line.split() for line in run([bench.python, "-c", READ, output]).output.splitlines()]
        values = {(kind, name): (float(off_s), float(ready_s)) for kind, name, off_s, ready_s in reversed(found)}
        for name, ns in known.items():
            if name.endswith(".tid"):
                off_s, ready_s = values["thread", str(ns)]
                sums.append(off_s * 1e9 / known[name.removesuffix(".tid")] - 1)
                ready.append(ready_s * 1e9 / known[name.removesuffix(".tid")])
            elif name not in ("wait_both", "wait_file"):
                rows.setdefault(name, []).append(values["function", name][0] * 1e9 / ns - 1)
    worst = max(map(abs, sums))
    report.say(f"time on no processor of each thread: error {spread(sums).text(100, 2, '+')} %, at most {100 * worst:.2f} %")
    report.say(f"of it ready to run, on this machine: {spread(ready).text(100, 1)} %")
    for name, errors in rows.items():
        report.say(f"  {name:16} error of the row {spread(errors).text(100, 1, '+')} %")
    report.head("waits of a thread, error of the sum", f"{spread(sums).text(100, 2, '+')} %", "", "<= 1 %", abs(spread(sums).median) <= 0.01)


def measure_waits(bench: Bench) -> Report:
    """All of it."""
    report = Report()
    truth(bench, report)
    costs_of_switches(bench, report)
    cost_of_idling(bench, report)
    return report


if __name__ == "__main__":
    main(__file__, measure_waits)
