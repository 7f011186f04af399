"""run -- how true profiles are on a machine that is busy with something else: the known splits beside four busy processes per processor

    python3 experiments/010-truth-under-load/run.py [--quick]
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import peers
from measure import TARGETS, USUAL_HZ, Bench, CannotMeasure, Report, main, remove, run, spread

HERE = Path(__file__).resolve().parent
BUSY_PER_PROCESSOR = 4
RATE_HZ = USUAL_HZ
YARDSTICK = "perf task-clock:u"
SPLIT = ("ten", "twenty", "thirty", "forty")
FAR_POINTS = 5.0
"""By so much no row may be off, in any run of fifty."""


@dataclass(frozen=True, slots=True)
class Load:
    """A program that knows its split."""

    title: str
    source: str
    arguments: tuple[object, ...]
    names: tuple[str, ...]

    @property
    def is_user_time(self) -> bool:
        """perf's event leaves the kernel out, so that it can be asked of user time alone."""
        return self.source not in ("kernel_share.c", "brief_calls.c")


@dataclass(slots=True)
class Errors:
    """The greatest errors of the runs of one tool, in points, and the standard error that each run's samples allow."""

    points: list[float] = field(default_factory=list)
    noise: list[float] = field(default_factory=list)

    @property
    def mean(self) -> float:
        return sum(self.points) / len(self.points)


LOADS = (
    Load("10/20/30/40", "split_cpu.c", (600,), SPLIT),
    Load("10/20/30/40 in 4 threads", "uneven_threads.c", ("split", 1000), SPLIT),
    Load("90 % and then 10 %, 4 threads", "uneven_threads.c", (4, 250), ("long_part", "short_part")),
    Load("30 % in a cycle of 4 ms", "phase_locked.c", (4000, 600), ("in_phase", "out_of_phase")),
    Load("30 % in a cycle of 7.31 ms", "phase_locked.c", (7310, 600), ("in_phase", "out_of_phase")),
    Load("half computes, half page faults", "kernel_share.c", (300, "computes", "touches"), ("computes", "touches")),
    Load("half computes, half reads", "kernel_share.c", (300, "computes", "reads"), ("computes", "reads")),
)

BRIEF = Load("computes, a quarter brief reads", "brief_calls.c", (1000,), ("computes", "reads"))
"""No clock of user time sees these calls: what finds them ticks with the kernel, every 4 ms, so that a run's error is more than its samples allow."""


# They end with the experiment, whatever ends it.
COMPUTE = """
import os
parent = os.getppid()
while os.getppid() == parent:
    for _ in range(1000000):
        pass
"""


class Busy:
    """Processes that only compute."""

    def __init__(self, processes: list[subprocess.Popen]) -> None:
        self._processes = processes

    @contextmanager
    def resting(self) -> Iterator[None]:
        """They are stopped within the block: what is not measured need not be slow."""
        for process in self._processes:
            process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            for process in self._processes:
                process.send_signal(signal.SIGCONT)


@contextmanager
def busy_processes(count: int) -> Iterator[Busy]:
    """So many of them, until the end of the block."""
    processes = [subprocess.Popen([sys.executable, "-c", COMPUTE], stdin=subprocess.DEVNULL) for _ in range(count)]
    try:
        yield Busy(processes)
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()


def truth_of(text: str) -> dict[str, float]:
    """What the program said of itself, in seconds."""
    pairs = [line.split() for line in text.splitlines()]
    return {words[0]: int(words[1]) * 1e-9 for words in pairs if len(words) == 2 and words[1].isdigit()}


def seconds_of(recorder: peers.Recorder, output: Path, command: tuple, load: Load) -> dict[str, float]:
    """Each function's own seconds; with what it called where it does its work in the C library's system calls, as only ours is asked."""
    if load.is_user_time:
        return recorder.seconds(output, Path(str(command[0])))
    rows = json.loads(recorder.analyse(output, "functions", "--no-inlines", "--json").output)["rows"]
    return {row["function"]: row["inclusive"]["cpu"] for row in rows}


def judge_once(bench: Bench, busy: Busy, recorder: peers.Recorder, command: tuple, load: Load) -> tuple[float, float]:
    """The greatest error of a share in one run, and one standard error of it by the samples that there are; points."""
    output = bench.scratch / ("data" + recorder.suffix)
    remove(output)
    truth = truth_of(recorder.record(command, RATE_HZ, output).output)
    with busy.resting():
        seen = seconds_of(recorder, output, command, load)
        samples = max(1, recorder.sample_count(output, RATE_HZ))
    whole_seen, whole = sum(seen.get(name, 0.0) for name in load.names), sum(truth[name] for name in load.names)
    if not whole_seen:
        return 100.0, 0.0
    shares = {name: truth[name] / whole for name in load.names}
    error = max(abs(seen.get(name, 0.0) / whole_seen - share) for name, share in shares.items())
    noise = max((share * (1 - share) / samples) ** 0.5 for share in shares.values())
    return error * 100, noise * 100


def judge(bench: Bench, busy: Busy, report: Report, load: Load, recorders: dict[str, peers.Recorder], runs: int) -> Errors:
    """One program, again and again, by each tool in turn."""
    command = (bench.compile(TARGETS / load.source), *load.arguments)
    found = {name: Errors() for name in recorders if name == "collector" or load.is_user_time}
    for turn in range(runs):
        names = list(found)
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            try:
                error, noise = judge_once(bench, busy, recorders[name], command, load)
            except CannotMeasure as reason:
                report.say(f"{load.title:32}{name:20}failed: {reason}")
                continue
            found[name].points.append(error)
            found[name].noise.append(noise)
    for name, errors in found.items():
        if errors.points:
            far = sum(points > FAR_POINTS for points in errors.points)
            report.say(f"{load.title:32}{name:20}{errors.mean:6.2f} mean{spread(errors.points).text():>24}{max(errors.points):8.2f} worst"
                       f"{spread(errors.noise).median:8.2f} standard error{far:4} of {len(errors.points)} beyond {FAR_POINTS:g}")
    summarise(report, load, found)
    return found["collector"]


def summarise(report: Report, load: Load, found: dict[str, Errors]) -> None:
    """The rows of the summary."""
    ours, theirs = found["collector"], found.get(YARDSTICK)
    if not ours.points:
        return
    allowed = 1.5 * spread(ours.noise).median
    peer = f"{YARDSTICK} {theirs.mean:.2f}" if theirs and theirs.points else ""
    report.head(f"mean error beside the load: {load.title}", f"{ours.mean:.2f} points", peer, f"<= {allowed:.2f} (1.5 standard errors)", ours.mean <= allowed)
    if theirs and theirs.points:
        # Two means of the same many runs: closer than two standard errors of their difference nobody can tell which is larger.
        unsure = 2 * (_variance(ours.points) / len(ours.points) + _variance(theirs.points) / len(theirs.points)) ** 0.5
        difference = ours.mean - theirs.mean
        holds = True if difference <= 0 else False if difference > unsure else None
        report.head(f"against perf in the same run: {load.title}", f"{difference:+.2f} points", f"unsure by {unsure:.2f}", "<= 0", holds)


def _variance(values: list[float]) -> float:
    middle = sum(values) / len(values)
    return sum((value - middle) ** 2 for value in values) / max(1, len(values) - 1)


def judge_sum(bench: Bench, busy: Busy, report: Report, recorders: dict[str, peers.Recorder], runs: int) -> None:
    """400 threads of 5 ms: all samples together against the process's own CPU clock."""
    command = (bench.compile(TARGETS / "brief_threads.c"), 400, 5000, 4)
    for name, recorder in recorders.items():
        off = []
        for _ in range(runs):
            output = bench.scratch / ("data" + recorder.suffix)
            remove(output)
            truth = truth_of(recorder.record(command, RATE_HZ, output).output)
            with busy.resting():
                off.append((recorder.total_s(output) / truth["process"] - 1) * 100)
        report.say(f"{'400 threads of 5 ms, their sum':32}{name:20}{spread(off).text(1, 2, '+'):>24} %")
        if name == "collector":
            report.head("sum of 400 threads of 5 ms beside the load", f"{spread(off).text(1, 2, '+')} %", "", "within 1.5 %", abs(spread(off).median) <= 1.5)


def judge_starts(bench: Bench, report: Report, count: int) -> None:
    """What a process costs more than natively, one by one: natively and recorded in turn."""
    program = bench.compile(HERE / "starts.c")
    lines = [line.split() for line in run((program, count, bench.recorder, bench.scratch / "starts.expt")).output.splitlines()]
    native, ours = sorted(float(line[0]) / 1000 for line in lines), sorted(float(line[1]) / 1000 for line in lines)
    for title, values in (("natively", native), ("recorded", ours)):
        report.say(f"{f'a start of `true`, {title}':32}{spread(values).text():>24} ms{values[-1]:8.2f} worst of {len(values)}")
    middle, worst = spread(ours).median - spread(native).median, ours[-1] - native[-1]
    report.head("CPU time of a start beside the load, median more than natively", f"{middle:+.2f} ms")
    report.head(f"CPU time of a start beside the load, worst of {len(ours)} more than the worst natively", f"{worst:+.2f} ms", f"the second worst {ours[-2] - native[-2]:+.2f}", "<= 1 ms", worst <= 1)
    over, scatter = ours[-1] - spread(native).median, native[-1] - spread(native).median
    report.head(f"the worst of {len(ours)} more than natively in the middle", f"{over:+.2f} ms", f"the worst natively {scatter:+.2f}")


def measure_it(bench: Bench) -> Report:
    """All of it."""
    report = Report()
    recorders = {"collector": peers.Recorder("collector", bench)}
    if peers.install(["perf"]):
        report.say(f"missing: perf ({peers.PACKAGES['perf']})")
    else:
        recorders[YARDSTICK] = peers.Recorder(YARDSTICK, bench, "task-clock:u")
    count, runs = BUSY_PER_PROCESSOR * (os.cpu_count() or 1), bench.choose(2, 8)
    report.say(f"beside {count} busy processes, {RATE_HZ} Hz; points: the greatest error of any function's share in a run. Mean, median and quartiles, the worst.")
    report.say("perf's event leaves the kernel's time out: it is asked where there is next to none.")
    report.say()
    with busy_processes(count) as busy:
        loads = LOADS[:3] + LOADS[5:6] if bench.is_quick else LOADS
        all_points = [points for load in loads for points in judge(bench, busy, report, load, recorders, runs).points]
        far = sum(points > FAR_POINTS for points in all_points)
        report.head(f"of all runs, with a row off by more than {FAR_POINTS:g} points", f"{far} of {len(all_points)}", "", "0", far == 0)
        judge(bench, busy, report, BRIEF, recorders, runs)
        judge_sum(bench, busy, report, recorders, bench.choose(1, 2))
        judge_starts(bench, report, bench.choose(50, 100))
    return report


if __name__ == "__main__":
    main(__file__, measure_it)
