"""run -- how long it takes to see a result of real recordings, the first time and again, with how much memory; beside perf report of the same programs

    python3 experiments/006-analysis/run.py [--quick]
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import peers
from measure import SOURCES, Bench, CannotMeasure, Cost, Report, main, run, spread

HERE = Path(__file__).resolve().parent
PEER = "perf task-clock:u -g"
BOOST = "/usr/include/boost/geometry.hpp"
AGAIN_S = 0.15


@dataclass(frozen=True, slots=True)
class Aim:
    """What `seconds` and `peak_mib` are allowed the first view of `count` samples (or `logs`), and `bytes_each` a sample; 0 is no aim."""

    seconds: float
    count: int = 0
    logs: int = 0
    peak_mib: int = 0
    bytes_each: int = 0
    beats_peer: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """A program that is recorded at a rate, by `command` given a name for what it makes; the views that are asked besides that of functions."""

    name: str
    rate_hz: int
    needs: tuple[str, ...]
    command: Callable[[str], tuple[object, ...]]
    aim: Aim
    views: tuple[tuple[str, ...], ...] = ()


@dataclass(slots=True)
class Recording:
    """What one recorder made of a case."""

    output: Path
    count: int


def cases(bench: Bench) -> list[Case]:
    """All loads. What a compiler's garbage collector marks it marks by recursion, thousands of frames deep; a shallow program is the other end."""
    quick = bench.is_quick

    def compiling(source: str, macro: str) -> Callable[[str], tuple[object, ...]]:
        return lambda name: ("g++", "-std=c++17", "-w", macro, "-O2", "-c", SOURCES / source, "-o", bench.scratch / f"{name}.o")

    others = () if quick else (("callers-callees", ""), ("calltree",), ("lines",))
    loop = f"i=0; while [ $i -lt {bench.choose(500, 5000)} ]; do /bin/true; i=$((i+1)); done"
    found = [
        Case("g++ -O2 big.cc", 9973, ("g++",), compiling("big.cc", f"-DCOPIES={bench.choose(1, 27)}"), Aim(0.6, 250_000, bytes_each=60, beats_peer=True), others),
        Case("g++ -O2 geometry.cc", 9973, ("g++", BOOST), compiling("geometry.cc", "-DCASES=2"), Aim(4.0, 890_000, peak_mib=200)),
        Case(
            "shallow C++", 20_000, ("g++",), lambda _: (bench.compile(SOURCES / "shallow.cc"), bench.choose(1, 25)), Aim(0.3, 1_000_000),
            others and (*others, ("source", "shallow.cc")),
        ),
        Case("sh, a loop of true", 9973, (), lambda _: ("/bin/sh", "-c", loop), Aim(1.2, logs=5000), (("processes",),)),
    ]
    return [case for case in found if not (quick and BOOST in case.needs)]


def record(bench: Bench, case: Case, recorders: list[peers.Recorder]) -> dict[str, Recording]:
    """The program recorded by each, all at the same time: what that costs is not asked here."""

    def one(recorder: peers.Recorder, command: tuple[object, ...]) -> Recording:
        output = bench.scratch / f"{recorder.family}{recorder.suffix}"
        recorder.record(command, case.rate_hz, output)
        return Recording(output, recorder.sample_count(output, case.rate_hz))

    commands = [case.command(recorder.family) for recorder in recorders]  # compiled one after the other, before one of them runs
    with ThreadPoolExecutor() as together:
        return {recorder.name: made for recorder, made in zip(recorders, together.map(one, recorders, commands))}


def costs_text(costs: list[Cost]) -> str:
    """Median and quartiles of CPU time, median of wall time and the peak of memory."""
    wall_s = spread([cost.wall_s for cost in costs]).median
    return f"{spread([cost.cpu_s for cost in costs]).text():>22} s CPU{wall_s:8.2f} s wall{peak_mib(costs):6.0f} MiB"


def cpu_s(costs: list[Cost]) -> float:
    """The median."""
    return spread([cost.cpu_s for cost in costs]).median


def peak_mib(costs: list[Cost]) -> float:
    """Of the largest process of any run."""
    return max(cost.peak_kib for cost in costs) / 1024


class Asking:
    """`collector report` of an experiment with a cache of its own."""

    def __init__(self, bench: Bench, output: Path) -> None:
        self.bench, self.output = bench, output
        self.cache = bench.scratch / "cache"

    def ask(self, *view: str) -> Cost:
        """One view, with what is kept."""
        return run([self.bench.collector, "report", self.output, *view], {"XDG_CACHE_HOME": str(self.cache)})

    def forget_profiles(self) -> None:
        """Take away what is kept of experiments; the symbols of modules stay."""
        for path in (self.cache / "collector" / "profiles").glob("*"):
            path.unlink()

    def first(self, *view: str) -> Cost:
        """One view of an experiment of which nothing was asked before."""
        self.forget_profiles()
        return self.ask(*view)

    def hottest(self) -> str:
        """The function with the most time of its own."""
        return json.loads(self.ask("functions", "--json", "-l", "1").output)["rows"][0]["function"]


def time_view(report: Report, asking: Asking, view: tuple[str, ...], rounds: int, peer: Callable[[], Cost] | None = None) -> tuple[list[Cost], list[Cost], list[Cost]]:
    """The costs of a view the first time (symbols known, nothing kept), again, and of the peer, in turns."""
    first, again, beside = [], [], []
    for _ in range(rounds):
        first.append(asking.first(*view))
        again.append(asking.ask(*view))
        if peer is not None:
            beside.append(peer())
    report.say(f"  {view[0]:22}first {costs_text(first)}")
    report.say(f"{'':24}again {costs_text(again)}")
    if beside:
        report.say(f"  perf report -g              {costs_text(beside)}")
    return first, again, beside


def measure_case(bench: Bench, report: Report, case: Case, recorders: list[peers.Recorder]) -> None:
    """Record it, ask for its views, and see whether its aims hold."""
    made = record(bench, case, recorders)
    own, other = made["collector"], made.get(PEER)
    samples, size, of_samples, of_metrics = map(int, run([bench.python, HERE / "sizes.py", own.output]).output.split())
    logs = len(list(own.output.glob("[0-9]*.log")))
    report.say()
    report.say(f"{case.name} at {case.rate_hz} Hz: {samples:,} samples in {logs:,} logs" + (f", perf {other.count:,} samples" if other else ""))
    report.say(f"  {size / samples:.1f} bytes a sample: samples {of_samples / samples:.1f}, metrics {of_metrics / samples:.1f}, all else {(size - of_samples - of_metrics) / samples:.1f}")
    asking = Asking(bench, own.output)
    report.say(f"  {'functions':22}cold  {costs_text([asking.first('functions')])}")
    ask_peer = (lambda: run(["perf", "report", "-i", other.output, "--stdio", "--no-children"])) if other else None
    first, again, beside = time_view(report, asking, ("functions",), bench.choose(1, 3), ask_peer)
    hottest = asking.hottest()
    for view in case.views:
        time_view(report, asking, tuple(word or hottest for word in view), 1)
    judge(bench, report, case, samples, logs, size, of_metrics, (first, again, beside))


def judge(bench: Bench, report: Report, case: Case, samples: int, logs: int, size: int, of_metrics: int, costs: tuple[list[Cost], list[Cost], list[Cost]]) -> None:
    """Rows for the summary. An aim of so many samples is allowed more or less in proportion to how many there are; a quick run is judged by none."""
    first, again, beside = costs
    share = logs / case.aim.logs if case.aim.logs else samples / case.aim.count
    allowed_s = case.aim.seconds * share
    told = f"perf report {cpu_s(beside):.2f} s" if beside else ""
    holds = cpu_s(first) <= allowed_s and not (case.aim.beats_peer and beside and cpu_s(first) > cpu_s(beside))
    aim = f"<= {allowed_s:.2f} s" + (", perf's" if case.aim.beats_peer else "")
    what = f"{logs:,} logs" if case.aim.logs else f"{samples:,} samples"

    def head(question: str, ours: str, peer: str, aim: str, holds: bool) -> None:
        report.head(question, ours, peer, *(("", None) if bench.is_quick else (aim, holds)))

    head(f"functions of {what} of {case.name}, CPU time", f"{cpu_s(first):.2f} s", told, aim, holds)
    head("  the same again", f"{cpu_s(again):.2f} s", "", f"<= {AGAIN_S} s", cpu_s(again) <= AGAIN_S)
    if case.aim.peak_mib:
        head("  its memory at the most", f"{peak_mib(first):.0f} MiB", f"{peak_mib(beside):.0f} MiB" if beside else "", f"<= {case.aim.peak_mib} MB", peak_mib(first) * 1.048576 <= case.aim.peak_mib)
    if case.aim.bytes_each:
        head("  bytes of log a sample", f"{size / samples:.1f}, without metrics {(size - of_metrics) / samples:.1f}", "", f"<= {case.aim.bytes_each}", size / samples <= case.aim.bytes_each)


def measure_it(bench: Bench) -> Report:
    """All of it."""
    report = Report()
    everyone = peers.recorders(bench)
    for line in peers.name_missing(everyone):
        report.say(line)
    report.say("CPU time (median and quartiles), wall time, peak of resident memory of `collector report`. Cold: no symbols known. First: nothing kept of the experiment. Again: its profile is kept.")
    chosen = [everyone[name] for name in ("collector", PEER) if name in everyone]
    for case in cases(bench):
        try:
            absent = peers.install(case.needs)
            if absent:
                raise CannotMeasure(f"{', '.join(absent)} cannot be had")
            measure_case(bench, report, case, chosen)
        except CannotMeasure as reason:
            report.say(f"not measured: {case.name}: {reason}")
    return report


if __name__ == "__main__":
    main(__file__, measure_it)
