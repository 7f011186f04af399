"""run -- what it costs to have it recorded where threads wait, and how true that is: --wall beside a recording without it

    python3 experiments/016-waits/run.py [--quick]
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from measure import TARGETS, Bench, CannotMeasure, Cost, Report, Spread, main, remove, run, spread, take_turns

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
ENDS = """
import sys
from collector.load import load
from collector.profile import aggregate
from collector.profile.causes import is_finished
profile = load([sys.argv[1]])
names = [metric.name for metric in profile.metrics]
blocked, looks = names.index("blocked"), names.index("looks")
total = aggregate.total_values(profile)
rooted = sum(row.values[blocked] for row in aggregate.stack_ends(profile) if is_finished(row.cause))
unseen = next((row.inclusive[blocked] for row in aggregate.functions(profile) if row.function.name == "(wait not seen)"), 0)
threads = sum(row.values[blocked] > 0 for row in aggregate.threads(profile))
told = dict(text.split("=", 1) for text in profile.recordings[0].waits)
print(threads, total[blocked], rooted - unseen, unseen, *(int(told.get(name, 0)) for name in ("looks", "torn", "unread", "refused")))
"""
PROGRAMS = ("postgres", "redis", "nginx", "node", "java", "python3")


def variants(bench: Bench, command: tuple[object, ...]) -> dict[str, Callable[[], Cost]]:
    """The command plain, recorded, and recorded with --wall; where that is allowed, with --wall=exact as well, and with its clock alone."""

    def recorded(*options: str) -> Callable[[], Cost]:
        def once() -> Cost:
            output = bench.scratch / "costs.expt"
            remove(output)
            return run([bench.collector, "record", *options, "-o", output, "--", *command])

        return once

    found = {"plain": lambda: run(command), "recorded": recorded(), "with --wall": recorded("--wall")}
    if allows_exact(bench):
        found |= {"by the CPU timer": recorded("--clock", "cpu-timer"), "with --wall=exact": recorded("--wall=exact")}
    return found


def allows_exact(bench: Bench) -> bool:
    """Whether threads may tell their waits themselves here."""
    return subprocess.run([bench.collector, "record", "--wall=exact", "-n", "--", "true"], capture_output=True).returncode == 0


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
    costs, _ = take_turns(variants(bench, (program, "nap", bench.choose(1000, 5000))), bench.choose(3, 9))
    for name, value in added(costs, 0).items():
        report.say(f"CPU time of a nap of 300 us, {name}: {value.text(1, 2, '+')} us")
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


@contextmanager
def busy(count: int) -> Iterator[None]:
    """So many processes that compute all the time beside what is measured."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def truth(bench: Bench, report: Report, place: str, option: str = "--wall") -> None:
    """Threads with known waits: errors of their sums, and of rows."""
    report.say(f"known waits, {place}, {option}:")
    program = bench.compile(TARGETS / "known_waits.c")
    sums: list[float] = []
    rows: dict[str, list[float]] = {}
    ready: list[float] = []
    for _ in range(bench.choose(3, 9)):
        output = bench.scratch / "known.expt"
        remove(output)
        told = run([bench.collector, "record", option, "-o", output, "--", program, 2000], directory=bench.scratch).output
        known = {line.split()[0]: int(line.split()[1]) for line in told.splitlines()}
        found = [line.split() for line in run([bench.python, "-c", READ, output]).output.splitlines()]
        values = {(kind, name): (float(off_s), float(ready_s)) for kind, name, off_s, ready_s in reversed(found)}
        for name, ns in known.items():
            if name.endswith(".tid"):
                off_s, ready_s = values["thread", str(ns)]
                sums.append(off_s * 1e9 / known[name.removesuffix(".tid")] - 1)
                ready.append(ready_s * 1e9 / known[name.removesuffix(".tid")])
            elif name not in ("wait_both", "wait_file") and not name.endswith(".ends"):
                if ("function", name) not in values:
                    report.say(f"  {name} has no row in one of the runs")
                rows.setdefault(name, []).append(values.get(("function", name), (0.0, 0.0))[0] * 1e9 / ns - 1)
    worst = max(map(abs, sums))
    report.say(f"  time on no processor of each thread: error {spread(sums).text(100, 2, '+')} %, at most {100 * worst:.2f} %")
    report.say(f"  of it ready to run: {spread(ready).text(100, 1)} %")
    for name, errors in rows.items():
        report.say(f"  {name:16} error of the row {spread(errors).text(100, 1, '+')} %")
    report.head(f"waits of a thread, error of the sum, {place}, {option}", f"{spread(sums).text(100, 2, '+')} %", "", "<= 1 %", abs(spread(sums).median) <= 0.01)


def programs(bench: Bench, report: Report) -> None:
    """Programs that people run: how much of what they wait for has a stack that comes from the start of its thread."""
    report.say(f"{'':10} {'threads':>7} {'waited s':>9} {'rooted %':>9} {'cut off %':>9} {'unseen %':>9} {'looks':>7} {'torn':>6} {'unread':>6} {'refused':>7}")
    shares = []
    for name in PROGRAMS:
        output = bench.scratch / f"{name}.expt"
        try:
            run([bench.collector, "record", "--wall", "-o", output, "--", "bash", HERE / "programs.sh", name, bench.choose(3, 10)])
            threads, waited, rooted, unseen, *counts = map(float, run([bench.python, "-c", ENDS, output]).output.split())
        except CannotMeasure as reason:
            report.say(f"{name:10} not measured: {reason}")
            continue
        shares.append(rooted / waited)
        cut = max(0.0, waited - rooted - unseen)
        counted = " ".join(f"{count:{width}.0f}" for count, width in zip(counts, (7, 6, 6, 7)))
        report.say(f"{name:10} {threads:7.0f} {waited:9.1f} {100 * rooted / waited:9.2f} {100 * cut / waited:9.2f} {100 * unseen / waited:9.2f} {counted}")
    if shares:
        report.head("waiting stacks of servers that are rooted, at worst", f"{100 * min(shares):.1f} %", "", ">= 99 %", min(shares) >= 0.99)


def measure_waits(bench: Bench) -> Report:
    """All of it."""
    report = Report()
    options = ["--wall", *["--wall=exact"] * allows_exact(bench)]
    for option in options:
        truth(bench, report, "as the machine is", option)
    with busy(8):
        for option in options:
            truth(bench, report, "beside eight busy processes", option)
    programs(bench, report)
    costs_of_switches(bench, report)
    cost_of_idling(bench, report)
    return report


if __name__ == "__main__":
    main(__file__, measure_waits)
