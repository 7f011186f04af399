"""run -- what recording costs: CPU and wall time at several rates, beside the peers, and where a sample's nanoseconds go

    python3 experiments/001-overhead/run.py [--quick]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import peers
import programs
from measure import NATIVE, USUAL_HZ, Bench, CannotMeasure, Cost, Report, least_overhead, main, overhead, remove, run, spread, take_turns, wall_overhead

HERE = Path(__file__).resolve().parent
FLOOR = "perf task-clock:u -g"
DWARF = "perf task-clock:u dwarf"
BARE = "collector, no metrics"
JUDGED = ("collector", BARE, FLOOR)  # by the aims: many rounds of these alone
AIMS = {("tight loop", USUAL_HZ): 0.005, ("g++ -O2 big.cc", USUAL_HZ): 0.015}
MARGINS = {USUAL_HZ: 0.002, 9973: 0.01}
WRAPPED = ("col_sampler_tick", "col_unwind_walk_deep", "col_open_frame_add", "col_clock_thread_cpu")


def output_of(bench: Bench, recorder: peers.Recorder) -> Path:
    """Where a recorder of this name writes."""
    return bench.scratch / "out" / (recorder.name.replace(" ", "-") + recorder.suffix)


def recorded(bench: Bench, recorder: peers.Recorder, load: programs.Load, rate_hz: int) -> Callable[[], Cost]:
    """A run of the load under the recorder."""
    output = output_of(bench, recorder)

    def record() -> Cost:
        output.parent.mkdir(exist_ok=True)
        for path in output.parent.glob(output.name + "*"):
            remove(path)
        return recorder.record(load.command, rate_hz, output, load.environment)

    return record


def start_costs(bench: Bench, recorders: dict[str, peers.Recorder], rounds: int) -> dict[str, tuple[float, float]]:
    """Seconds of CPU and of wall time that each recorder adds to `true`."""
    nothing = programs.Load("true", ("/bin/true",))
    variants = {"plain": lambda: run(nothing.command)}
    variants |= {name: recorded(bench, recorder, nothing, USUAL_HZ) for name, recorder in recorders.items()}
    costs, _ = take_turns(variants, rounds)
    plain = costs.pop("plain")
    return {
        name: (spread([a.cpu_s - b.cpu_s for a, b in zip(taken, plain)]).median, spread([a.wall_s - b.wall_s for a, b in zip(taken, plain)]).median)
        for name, taken in costs.items()
    }


def compare(bench: Bench, report: Report, load: programs.Load, rate_hz: int, recorders: dict[str, peers.Recorder], starts: dict, rounds: int) -> dict[str, tuple[str, float, float]]:
    """One load at one rate under each recorder: a line each; gives each one's CPU overhead as text, by its cheapest run, and its median."""
    variants: dict[str, Callable[[], Cost]] = {"plain": lambda: run(load.command, load.environment)}
    variants |= {name: recorded(bench, recorder, load, rate_hz) for name, recorder in recorders.items()}
    costs, failures = take_turns(variants, rounds)
    plain = costs.pop("plain")
    base = spread([cost.cpu_s for cost in plain])
    report.say()
    report.say(f"{load.name}, {rate_hz} Hz, {rounds} rounds: {base.text()} s of CPU time plain")
    found: dict[str, tuple[str, float, float]] = {}
    for name, taken in costs.items():
        recorder, output = recorders[name], output_of(bench, recorders[name])
        cpu, least = overhead(taken, plain, starts[name][0]), least_overhead(taken, plain, starts[name][0])
        found[name] = f"{cpu.text(100, 2, '+')} %, least {least * 100:+.2f} %", least, cpu.median
        wall = wall_overhead(taken, plain)
        try:
            count = recorder.sample_count(output, rate_hz)
            if name == "gperftools" and load.name.startswith(("g++", "1,000")):
                count = 0  # one file a process, most of them over each other
        except (CannotMeasure, FileNotFoundError, IndexError):
            count = 0
        each = f"{least * base.low / count * 1e6:8.2f}" if count else "       ?"
        size = f"{recorder.size(output) / count:9.1f}" if count else "        ?"
        delivered = f"{count / (base.median * rate_hz) * 100:5.0f} %" if count else "      ?"
        report.say(f"  {name:24}{cpu.text(100, 2, '+'):>26} %{least * 100:+8.2f} %{wall.text(100, 1, '+'):>26} %{each:>8}{size:>10}{delivered:>11}")
    for name, reason in failures.items():
        report.say(f"  {name:24}failed: {reason}")
    return found


def count_analysis(bench: Bench, report: Report, load: programs.Load, rate_hz: int, recorders: dict[str, peers.Recorder], found: dict[str, tuple[str, float, float]]) -> None:
    """What is to be paid until the result of the last recordings is seen: a table of functions with inclusive times."""
    if DWARF not in found or "collector" not in found:
        return
    plain_s = run(load.command, load.environment).cpu_s
    ours, theirs = (recorders[name].analyse(output_of(bench, recorders[name])).cpu_s / plain_s for name in ("collector", DWARF))
    report.say(f"  and the analysis into a table of functions: collector {ours * 100:+.1f} %, {DWARF} {theirs * 100:+.1f} %")
    if rate_hz == 9973:
        ours, theirs = found["collector"][2] + ours, found[DWARF][2] + theirs
        report.head(f"{load.name}, 9973 Hz, analysis counted", f"{ours * 100:+.1f} %", f"perf dwarf {theirs * 100:+.1f} %", "half of perf dwarf", ours <= theirs / 2)


def compare_python(bench: Bench, report: Report, ours: peers.Recorder, loads: list[programs.Load]) -> None:
    """The profilers of Python programs on one, each at a thousand samples a second; memray follows allocations instead."""
    for load in loads:
        script, *words = load.command[1:]
        folder = bench.scratch / "python-peers"
        folder.mkdir(exist_ok=True)
        ways = {
            "pyinstrument": ["-i", "0.001", "-o", folder / "pyinstrument.txt", script, *words],
            "py-spy": ["record", "-r", "1000", "-o", folder / "py-spy.svg", "--", bench.python, script, *words],
            "memray": ["run", "-f", "-q", "-o", folder / "memray.bin", script, *words],
        }
        plain_one = programs.Load("python", (bench.python, script, *words))
        variants: dict[str, Callable[[], Cost]] = {"plain": lambda plain_one=plain_one: run(plain_one.command), "collector": recorded(bench, ours, plain_one, USUAL_HZ)}
        for name, arguments in ways.items():
            command = peers.install_python_peer(bench, name)
            if command is None:
                report.say(f"missing: {name}")
            else:
                variants[name] = lambda command=command, arguments=arguments: run([command, *arguments])
        costs, failures = take_turns(variants, 3)
        plain = costs.pop("plain")
        report.say()
        report.say(f"{load.name} by the experiments' own Python, 3 rounds, start-up included")
        for name, taken in costs.items():
            report.say(f"  {name:24}{overhead(taken, plain).text(100, 2, '+'):>26} %{'':10}{wall_overhead(taken, plain).text(100, 1, '+'):>26} %")
        for name, reason in failures.items():
            report.say(f"  {name:24}failed: {reason}")


def summarise(report: Report, load: programs.Load, rate_hz: int, found: dict[str, tuple[str, float, float]]) -> None:
    """The rows of the summary that this load is good for."""
    ours, theirs = found.get("collector"), found.get(FLOOR)
    if not ours or (rate_hz not in MARGINS):
        return
    aim, limit = AIMS.get((load.name, rate_hz)), None
    if theirs and load.name in ("tight loop", "g++ -O2 big.cc"):
        limit = theirs[1] + MARGINS[rate_hz]
    bounds = [bound for bound in (aim, limit) if bound is not None]
    words = " and ".join(
        ([f"<= {aim * 100:.1f} %"] if aim is not None else []) + ([f"<= perf + {MARGINS[rate_hz] * 100:.1f} points"] if limit is not None else [])
    )
    peer = f"{FLOOR} {theirs[0]}" if theirs else ""
    report.head(f"CPU overhead, {load.name}, {rate_hz} Hz", ours[0], peer, words, verdict(ours, theirs, aim, MARGINS[rate_hz] if limit is not None else None) if bounds else None)


def verdict(ours: tuple[str, float, float], theirs: tuple[str, float, float] | None, aim: float | None, margin: float | None) -> bool | None:
    """True or False where the medians and the cheapest runs agree; None, undecided, where the noise is larger than the aim."""
    answers = set()
    for place in (1, 2):
        bounds = [] if aim is None else [aim]
        bounds += [theirs[place] + margin] if theirs and margin is not None else []
        answers.add(all(ours[place] <= bound for bound in bounds))
    return answers.pop() if len(answers) == 1 else None


def split(bench: Bench, report: Report, loads: list[programs.Load], rounds: int) -> None:
    """Where a sample's nanoseconds go, hot and cold. The handler is timed from inside; what is left of the whole is the kernel's."""
    build = bench.scratch / "split"
    build.mkdir()
    source = HERE / "split.c"
    run(["gcc", "-std=gnu11", "-D_GNU_SOURCE", "-O2", "-fPIC", "-ftls-model=initial-exec", f"-I{NATIVE / 'src'}", "-c", source, "-o", build / "split.o"])
    wraps = " ".join(f"-Wl,--wrap={name}" for name in WRAPPED)
    run(["make", "-s", "-C", NATIVE, f"BUILD={build}", f"LDFLAGS={wraps} {build / 'split.o'}", build / "libcollector.so"])
    for rate_hz in (9973, USUAL_HZ):
        split_at(rate_hz, bench, report, build / "libcollector.so", loads, rounds)


def split_at(rate_hz: int, bench: Bench, report: Report, recorder: Path, loads: list[programs.Load], rounds: int) -> None:
    """The same at one rate, by a recorder that times itself."""
    report.say()
    report.say(f"nanoseconds a sample at {rate_hz} Hz (preloaded, without the launcher); the kernel's: what the whole costs and the handler does not")
    report.say(f"  {'':24}{'whole':>20}{'kernel':>9}{'handler':>9}{'unwinding':>11}{'writing':>9}{'clocks':>8}{'rest':>7}")
    for load in loads:
        experiment, told = bench.scratch / "split.expt", bench.scratch / "split.txt"
        environment = {"LD_PRELOAD": str(recorder), "COLLECTOR_EXPERIMENT": str(experiment), "COLLECTOR_OPTIONS": f"period={round(1e9 / rate_hz)}", "COLLECTOR_SPLIT": str(told)}

        def record(load: programs.Load = load, environment: dict[str, str] = environment, experiment: Path = experiment) -> Cost:
            remove(experiment)
            return run(load.command, {**load.environment, **environment})

        remove(told)
        costs, _ = take_turns({"plain": lambda: run(load.command, load.environment), "recorded": record}, rounds)
        rows = [[float(word) for word in line.split()] for line in told.read_text().splitlines()]
        ticks = sum(row[0] for row in rows)
        handler, unwinding, writing, clocks = (sum(row[0] * row[place] for row in rows) / ticks for place in range(1, 5))
        each = spread([(a.cpu_s - b.cpu_s) / (ticks / rounds) * 1e9 for a, b in zip(costs["recorded"], costs["plain"])])
        rest = handler - unwinding - writing - clocks
        report.say(f"  {load.name:24}{each.text(1, 0):>20}{each.median - handler:9.0f}{handler:9.0f}{unwinding:11.0f}{writing:9.0f}{clocks:8.0f}{rest:7.0f}")
        report.head(f"a sample of {load.name}, {rate_hz} Hz", f"{handler:.0f} ns in the handler ({unwinding:.0f} unwinding, {writing:.0f} writing), {each.median:.0f} ns in all")


def measure_it(bench: Bench) -> Report:
    """All of it."""
    report = Report()
    recorders = peers.recorders(bench)
    for line in peers.name_missing(recorders):
        report.say(line)
    starts = start_costs(bench, {name: recorders[name] for name in recorders if not bench.is_quick or name in JUDGED}, bench.choose(3, 7))
    report.say("start-up, whose CPU time is subtracted from the figures below, not its wall time; ms of CPU and of wall time: "
               + ", ".join(f"{name} {cpu * 1e3:.1f} and {wall * 1e3:.0f}" for name, (cpu, wall) in starts.items()))
    report.say(peers.GPROFNG_NOTE)
    report.say()
    report.say(f"  {'':24}{'CPU overhead':>26}  {'least':>8}  {'wall overhead':>26}  {'us/sample':>10}{'B/sample':>10}{'delivered':>11}")
    central, missing = programs.prepare(bench, programs.CENTRAL)
    for load in central:
        for rate_hz in (USUAL_HZ, 9973) if bench.is_quick else (USUAL_HZ, 9973, 100, 4001):
            chosen = JUDGED if rate_hz in MARGINS else ("collector", FLOOR)
            rounds = bench.choose(2, 10) if rate_hz in MARGINS else 3
            found = compare(bench, report, load, rate_hz, {name: recorders[name] for name in recorders if name in chosen}, starts, rounds)
            summarise(report, load, rate_hz, found)
            if rate_hz in MARGINS and not bench.is_quick:
                found |= compare(bench, report, load, rate_hz, {name: recorders[name] for name in recorders if name not in JUDGED}, starts, 3)
                count_analysis(bench, report, load, rate_hz, recorders, found)
    if not bench.is_quick:
        others, more_missing = programs.prepare(bench, tuple(make for make in programs.COMPUTING + programs.CREATING if make not in programs.CENTRAL))
        missing += more_missing
        for load in others:
            chosen = ("collector", FLOOR, "gprofng", "gperftools")
            summarise(report, load, USUAL_HZ, compare(bench, report, load, USUAL_HZ, {name: recorders[name] for name in recorders if name in chosen}, starts, 3))
        compare_python(bench, report, recorders["collector"], [load for load in others if load.name == "python3"])
        central += [load for load in others if load.name in ("python3", "sqlite3")]
    split(bench, report, central, bench.choose(1, 3))
    for line in missing:
        report.say(line)
    return report


if __name__ == "__main__":
    main(__file__, measure_it)
