"""run -- how true profiles are: programs that measure themselves, beside what each profiler says of them

    python3 experiments/003-truth/run.py [--quick]
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import peers
from measure import SOURCES, TARGETS, USUAL_HZ, Bench, CannotMeasure, Report, main, remove, run, spread

PEERS = ("collector", "perf task-clock:u -g", "perf cycles -g", "gprofng", "gperftools")
SPLIT = ("ten", "twenty", "thirty", "forty")
PHASES = ("in_phase", "out_of_phase")


def truth_of(text: str) -> dict[str, float]:
    """What the program said of itself: lines `name nanoseconds`, here in seconds."""
    pairs = [line.split() for line in text.splitlines()]
    return {words[0]: int(words[1]) * 1e-9 for words in pairs if len(words) == 2 and words[1].isdigit()}


def error_points(seen: dict[str, float], truth: dict[str, float], names: tuple[str, ...]) -> float:
    """The greatest error of a share, in percentage points of the named functions together."""
    all_seen, all_true = sum(seen.get(name, 0.0) for name in names), sum(truth[name] for name in names)
    if all_seen == 0:
        return 100.0
    return max(abs(seen.get(name, 0.0) / all_seen - truth[name] / all_true) for name in names) * 100


def sampling_error(truth: dict[str, float], names: tuple[str, ...], rate_hz: int) -> float:
    """Three standard deviations of the share that is hardest to tell, in percentage points, if samples were thrown like dice."""
    whole = sum(truth[name] for name in names)
    return max(3 * (share * (1 - share) / (whole * rate_hz)) ** 0.5 for share in (truth[name] / whole for name in names)) * 100


def take(bench: Bench, recorder: peers.Recorder, command: tuple, rate_hz: int) -> tuple[Path, dict[str, float]]:
    """Record a program: the recording, and the truth of that very run."""
    output = bench.scratch / ("data" + recorder.suffix)
    remove(output)
    return output, truth_of(recorder.record(command, rate_hz, output).output)


def judge(bench: Bench, report: Report, title: str, command: tuple, names: tuple[str, ...], rate_hz: int, recorders: dict[str, peers.Recorder], rounds: int) -> None:
    """Shares and sum of one program by each tool: errors, medians of the rounds."""
    shares: dict[str, list[float]] = {name: [] for name in recorders}
    sums: dict[str, list[float]] = {name: [] for name in recorders}
    noise = 0.0
    for _ in range(rounds):
        for name, recorder in recorders.items():
            try:
                output, truth = take(bench, recorder, command, rate_hz)
                seen = recorder.seconds(output, Path(str(command[0])))
            except CannotMeasure as reason:
                report.say(f"{title:34}{name:22}failed: {reason}")
                continue
            if names:
                shares[name].append(error_points(seen, truth, names))
                noise = sampling_error(truth, names, rate_hz)
            if "process" in truth:
                sums[name].append((recorder.total_s(output) / truth["process"] - 1) * 100)
    for name in recorders:
        if not shares[name] and not sums[name]:
            continue
        share = f"{spread(shares[name]).text():>22} points" if names else " " * 29
        total = f"{spread(sums[name]).text(1, 2, '+')} %" if sums[name] and name != "perf cycles -g" else ""
        report.say(f"{title:34}{name:22}{share}{total:>30}")
        if name == "collector":
            summarise(report, title, names, shares, sums, noise)
    if names:
        report.say(f"{'':34}{'(sampling error)':22}{noise:>8.2f}")


def summarise(report: Report, title: str, names: tuple[str, ...], shares: dict[str, list[float]], sums: dict[str, list[float]], noise: float) -> None:
    """The rows of the summary."""
    if names:
        error = spread(shares["collector"]).median
        theirs = ", ".join(f"{other} {spread(errors).median:.2f}" for other, errors in shares.items() if errors and other != "collector")
        report.head(f"truth: {title}", f"{error:.2f} points", theirs, f"<= {noise:.2f} (sampling error)", error <= noise)
    if sums["collector"]:
        off = spread(sums["collector"]).median
        theirs = ", ".join(f"{other} {spread(values).median:+.1f} %" for other, values in sums.items() if values and other not in ("collector", "perf cycles -g"))
        report.head(f"sum against the CPU clock: {title}", f"{off:+.2f} %", theirs, "within 1 %", abs(off) <= 1)


def deliver(bench: Bench, report: Report, recorder: peers.Recorder, others: dict[str, peers.Recorder]) -> None:
    """Samples that arrive, of those that the CPU time is good for, on one to eight threads."""
    program = bench.compile(SOURCES / "threads.c")
    worst = 1.0
    for threads in (1, 4) if bench.is_quick else (1, 2, 4, 8):
        for name, tool in {"collector": recorder, **others}.items():
            output = bench.scratch / ("data" + tool.suffix)
            remove(output)
            command = (program, threads, bench.choose(200, 400))
            try:
                tool.record(command, 9973, output)
                count = tool.sample_count(output, 9973)
                if name == "collector":
                    seconds = sum(tool.seconds(output, program).values())
                    worst = min(worst, count / (seconds * 9973))
                else:
                    seconds = run(command).cpu_s
            except CannotMeasure as reason:
                report.say(f"delivered at 9973 Hz, {threads} threads    {name:22}failed: {reason}")
                continue
            report.say(f"delivered at 9973 Hz, {threads} threads    {name:22}{count:8} samples of {seconds * 9973:8.0f}: {count / (seconds * 9973) * 100:6.1f} %")
    report.head("samples delivered at 9973 Hz, worst of 1 to 8 threads", f"{worst * 100:.1f} %", "", "100 %", worst >= 0.99)


def measure_it(bench: Bench) -> Report:
    """All of it."""
    report = Report()
    found = peers.recorders(bench)
    recorders = {name: found[name] for name in PEERS if name in found and (not bench.is_quick or name in (*PEERS[:2], "gprofng", "gperftools"))}
    for line in peers.name_missing(found):
        report.say(line)
    report.say(peers.GPROFNG_NOTE)
    report.say("points: the greatest error of any function's share; then the sum of all samples against the process's own CPU clock. Medians and quartiles.")
    report.say()
    rounds, long_ms = bench.choose(1, 3), bench.choose(1000, 2500)
    split = bench.compile(TARGETS / "split_cpu.c")
    phases = bench.compile(TARGETS / "phase_locked.c")
    brief = bench.compile(TARGETS / "brief_threads.c")
    judge(bench, report, f"10/20/30/40, {USUAL_HZ} Hz", (split, long_ms), SPLIT, USUAL_HZ, recorders, rounds)
    if not bench.is_quick:
        judge(bench, report, "10/20/30/40, 9973 Hz", (split, long_ms), SPLIT, 9973, recorders, rounds)
    for cycle_us in (1000,) if bench.is_quick else (1000, 4000, 10000):
        judge(bench, report, f"30 % in a cycle of {cycle_us / 1000:.0f} ms", (phases, cycle_us, long_ms), PHASES, USUAL_HZ, recorders, rounds)
    judge(bench, report, "400 threads of 5 ms", (brief, 400, 5000, 4), (), USUAL_HZ, recorders, rounds)
    report.say()
    deliver(bench, report, found["collector"], {name: found[name] for name in ("perf task-clock:u -g",) if name in found})
    return report


if __name__ == "__main__":
    main(__file__, measure_it)
