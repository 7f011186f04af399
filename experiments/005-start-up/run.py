"""run -- what recording costs before the first sample: a process, the command itself, a thread, a fork; memory; and bytes on disk for a child that is never sampled

    python3 experiments/005-start-up/run.py [--quick]
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import peers
from measure import SOURCES, USUAL_HZ, Bench, CannotMeasure, Cost, Report, Spread, main, remove, run, size_of, spread, take_turns

HERE = Path(__file__).resolve().parent
MEMORY_FOLDER = Path("/dev/shm")


def preload(bench: Bench, experiment: Path) -> dict[str, str]:
    """The environment that records into an experiment, without the launcher."""
    return {"LD_PRELOAD": str(bench.recorder), "COLLECTOR_EXPERIMENT": str(experiment)}


def numbers_of(costs: list[Cost], place: int) -> list[float]:
    """The number at that place of each run's output."""
    lines = ([line for line in cost.output.splitlines() if re.fullmatch(r"[\d. ]+", line)] for cost in costs)
    return [float(found[-1].split()[place]) for found in lines]


def differences(costs: list[Cost], plain: list[Cost], place: int) -> Spread:
    """By how much the numbers that the program printed exceed those of the plain run of the same round."""
    return spread([a - b for a, b in zip(numbers_of(costs, place), numbers_of(plain, place))])


def fresh(output: Path, act: Callable[[], Cost]) -> Callable[[], Cost]:
    """The act, after what the last one wrote has been taken away."""

    def once() -> Cost:
        for path in output.parent.glob(output.name + "*"):
            remove(path)
        return act()

    return once


def processes(bench: Bench, report: Report, recorders: dict[str, peers.Recorder]) -> None:
    """A program that starts `true` many times: what one of these costs more than plain."""
    count = bench.choose(150, 500)
    spawner = bench.compile(SOURCES / "short_processes.c")
    command = (spawner, count, "/bin/true")
    folders = {"": bench.scratch / "spawned", " (memory)": MEMORY_FOLDER / f"experiment-{os.getpid()}"}
    folders = {label: folder for label, folder in folders.items() if folder.parent.is_dir()}
    variants: dict[str, Callable[[], Cost]] = {"plain": lambda: run(command)}
    outputs: dict[str, Path] = {}
    for label, folder in folders.items():
        folder.mkdir()
        output = outputs[f"collector{label}"] = folder / "data.expt"
        variants[f"collector{label}"] = fresh(output, lambda output=output: run(command, preload(bench, output)))
    folder = folders[""]
    through = outputs["collector record"] = folder / "through.expt"
    variants["collector record"] = fresh(through, lambda: recorders["collector"].record(command, USUAL_HZ, through))
    for name in ("perf task-clock:u -g", "gprofng", "gperftools"):
        if name in recorders and not (bench.is_quick and name == "gprofng"):
            output = outputs[name] = folder / (name.split()[0] + recorders[name].suffix)
            variants[name] = fresh(output, lambda name=name, output=output: recorders[name].record(command, USUAL_HZ, output))
    costs, failures = take_turns(variants, bench.choose(5, 7))
    plain = costs.pop("plain")
    report.say(f"a process (posix_spawn, exec and exit of `true`, {count} a run): {spread(numbers_of(plain, 0)).text()} us plain")
    added: dict[str, Spread] = {}
    for name, taken in costs.items():
        output = outputs[name]
        size = sum(size_of(path) for path in output.parent.glob(output.name + "*")) / count
        added[name] = differences(taken, plain, 0)
        report.say(f"  {name:24}{added[name].text(1, 0, '+'):>28} us of wall time, {differences(taken, plain, 1).text(1, 0, '+'):>28} us of CPU time, {size / 1000:8.2f} kB on disk")
        if name == "collector record":
            report.head("bytes on disk for a child without samples", f"{size:.0f}", "", "<= 4096", size <= 4096)
    for name, reason in failures.items():
        report.say(f"  {name:24}failed: {reason}")
    for name, aim in (("collector", 300.0), ("collector (memory)", 250.0)):
        if name in added:
            theirs = ", ".join(f"{other} {value.median:.0f}" for other, value in added.items() if not other.startswith("collector"))
            report.head(f"one more process, {name}", f"{added[name].text(1, 0, '+')} us", theirs, f"<= {aim:.0f} us", added[name].median <= aim)
    remove(folders.get(" (memory)", bench.scratch / "nothing"))


def commands(bench: Bench, report: Report, recorders: dict[str, peers.Recorder]) -> None:
    """Each recorder's command around `true`."""
    folder = bench.scratch / "around"
    folder.mkdir()
    variants: dict[str, Callable[[], Cost]] = {"plain": lambda: run(["/bin/true"])}
    for name in ("collector", "perf task-clock:u -g", "gprofng", "gperftools"):
        if name in recorders:
            output = folder / (name.split()[0] + recorders[name].suffix)
            variants[name] = fresh(output, lambda name=name, output=output: recorders[name].record(["/bin/true"], USUAL_HZ, output))
    if not peers.install(["heaptrack"]):
        variants["heaptrack"] = fresh(folder / "heap", lambda: run(["heaptrack", "-o", folder / "heap", "/bin/true"]))
    if not peers.install(["valgrind"]):
        variants["valgrind (callgrind)"] = fresh(folder / "grind", lambda: run(["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={folder / 'grind'}", "/bin/true"]))
    told, added = turns_around(report, "`true`", variants, bench.choose(5, 9))
    if "collector" in added:
        report.head("collector record true, wall time", f"{added['collector'].text(1e3, 0)} ms", told, "<= 60 ms", added["collector"].median <= 0.06)
    code = ["-c", "import time; time.sleep(0.2)"]  # py-spy wants a process that lives
    variants = {"plain": lambda: run([bench.python, *code])}
    variants["collector"] = fresh(folder / "py.expt", lambda: recorders["collector"].record([bench.python, *code], USUAL_HZ, folder / "py.expt"))
    words = {
        "py-spy": ["record", "-d", "1", "-o", folder / "py-spy", "--", bench.python, *code],
        "memray": ["run", "-f", "-q", "-o", folder / "memray", *code],
        "pyinstrument": ["-o", folder / "pyinstrument", *code],
    }
    for name in peers.PYTHON_PEERS:
        peer = peers.install_python_peer(bench, name)
        if peer is None:
            report.say(f"missing: {name}")
            continue
        variants[name] = fresh(folder / name, lambda name=name, peer=peer: run([peer, *words[name]]))
    turns_around(report, "`python3` that sleeps 0.2 s", variants, bench.choose(3, 5))


def turns_around(report: Report, what: str, variants: dict[str, Callable[[], Cost]], rounds: int) -> tuple[str, dict[str, Spread]]:
    """Wall time that each variant adds to the plain one; says a line for each."""
    costs, failures = take_turns(variants, rounds)
    plain = costs.pop("plain")
    report.say()
    report.say(f"the command itself around {what}, {rounds} rounds, ms more than plain ({spread([cost.wall_s for cost in plain]).median * 1e3:.1f} ms)")
    added = {}
    for name, taken in costs.items():
        added[name] = spread([a.wall_s - b.wall_s for a, b in zip(taken, plain)])
        cpu = spread([a.cpu_s - b.cpu_s for a, b in zip(taken, plain)])
        report.say(f"  {name:24}{added[name].text(1e3, 1):>28} of wall time{cpu.text(1e3, 1):>28} of CPU time")
    for name, reason in failures.items():
        report.say(f"  {name:24}failed: {reason}")
    return ", ".join(f"{name} {value.median * 1e3:.0f}" for name, value in added.items() if name != "collector"), added


def starts(bench: Bench, report: Report) -> None:
    """CPU time of short commands, children included, in those of an interpreter that does nothing."""
    folder = bench.scratch / "starts"
    folder.mkdir()
    sample = folder / "sample.expt"
    run([bench.collector, "record", "-O", sample, bench.python, "-c", "sum(range(3_000_000))"])
    python = bench.collector.parent / "python3"
    variants: dict[str, Callable[[], Cost]] = {
        "python3 -c pass": lambda: run([python, "-c", "pass"]),
        "collector --help": lambda: run([bench.collector, "--help"]),
        "collector record true": lambda: run([bench.collector, "record", "-O", folder / "true.expt", "true"]),
        "collector report": lambda: run([bench.collector, "report", sample]),
    }
    take_turns(variants, 2)  # what is kept between two starts is there
    costs, failures = take_turns(variants, bench.choose(10, 30))
    plain = spread([cost.cpu_s for cost in costs.pop("python3 -c pass")])
    report.say()
    report.say(f"CPU time of short commands; python3 -c pass: {plain.text(1e3, 1)} ms")
    for name, taken in costs.items():
        ratio = spread([cost.cpu_s / plain.median for cost in taken])
        report.say(f"  {name:24}{ratio.text(1, 1):>28} times as much")
        most = {"collector record true": 4, "collector report": 8}.get(name)
        if most:
            report.head(f"{name} against python3 -c pass, CPU time", ratio.text(1, 1), "", f"<= {most}", ratio.median <= most)
    for name, reason in failures.items():
        report.say(f"  {name:24}failed: {reason}")


def creations(bench: Bench, report: Report, recorders: dict[str, peers.Recorder]) -> None:
    """pthread_create and fork inside a recorded program."""
    program = bench.compile(HERE / "creation.c")
    command = (program, bench.choose(200, 1000))
    experiment = bench.scratch / "creation.expt"
    variants: dict[str, Callable[[], Cost]] = {
        "plain": lambda: run(command),
        "collector": fresh(experiment, lambda: run(command, preload(bench, experiment))),
    }
    for name in ("perf task-clock:u -g", "gprofng", "gperftools"):
        if name in recorders:
            output = bench.scratch / (name.split()[0] + "-creation" + recorders[name].suffix)
            variants[name] = fresh(output, lambda name=name, output=output: recorders[name].record(command, USUAL_HZ, output))
    costs, failures = take_turns(variants, bench.choose(5, 15))
    plain = costs.pop("plain")
    report.say()
    report.say(f"plain: {spread(numbers_of(plain, 0)).text()} us to create and join a thread, {spread(numbers_of(plain, 1)).text(1, 0)} us to fork and wait")
    theirs = []
    for name, taken in costs.items():
        thread, fork = differences(taken, plain, 0), differences(taken, plain, 1)
        report.say(f"  {name:24}{thread.text(1, 2, '+'):>28} us a thread{fork.text(1, 0, '+'):>28} us a fork")
        if name != "collector":
            theirs.append(f"{name} {thread.median:.1f}")
    for name, reason in failures.items():
        report.say(f"  {name:24}failed: {reason}")
    if "collector" in costs:
        thread = differences(costs["collector"], plain, 0)
        report.head("one more thread", f"{thread.text(1, 1, '+')} us", ", ".join(theirs), "<= 5 us", thread.median <= 5)


def memory(bench: Bench, report: Report) -> None:
    """Resident memory that the recorder adds, with one thread and with more."""
    program = bench.compile(HERE / "memory.c")
    more = 32
    added: dict[int, list[Spread]] = {}
    for threads in (0, more):
        experiment = bench.scratch / "memory.expt"
        command = (program, threads)
        variants = {"plain": lambda: run(command), "recorded": fresh(experiment, lambda: run(command, {**preload(bench, experiment), "COLLECTOR_OPTIONS": "period=1003009"}))}
        costs, _ = take_turns(variants, bench.choose(3, 7))
        added[threads] = [differences(costs["recorded"], costs["plain"], place) for place in range(3)]
    one, each = added[0], [(many.median - single.median) / more for many, single in zip(added[more], added[0])]
    report.say()
    report.say(f"resident memory added: {one[0].text(1, 0)} KiB with one thread (anonymous {one[1].median:.0f}, of files {one[2].median:.0f}), "
               f"{each[0]:.1f} KiB for each further one (anonymous {each[1]:.1f}, of files {each[2]:.1f})")
    report.head("resident memory, one thread", f"{one[0].text(1, 0)} KiB", "", "<= 3072 KiB", one[0].median <= 3072)
    report.head("resident memory, each further thread", f"{each[0]:.0f} KiB", "", "<= 100 KiB", each[0] <= 100)


def measure_it(bench: Bench) -> Report:
    """All of it."""
    report = Report()
    recorders = peers.recorders(bench)
    for line in peers.name_missing(recorders):
        report.say(line)
    processes(bench, report, recorders)
    try:
        commands(bench, report, recorders)
    except CannotMeasure as reason:
        report.say(f"commands: {reason}")
    starts(bench, report)
    creations(bench, report, recorders)
    memory(bench, report)
    return report


if __name__ == "__main__":
    main(__file__, measure_it)
