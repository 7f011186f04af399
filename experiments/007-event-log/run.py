"""run -- how fast is an event log read, and written: pmclog_read, collector's Python reader, perf on the same samples; and what an event costs its writer

    python3 experiments/007-event-log/run.py [--quick]
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import peers
from measure import NATIVE, ROOT, Bench, Report, main, remove, run, spread

HERE = Path(__file__).resolve().parent
PARSER, SAMPLES, PERF = "C: pmclog_read", "Python: EventReader, one object", "perf report"


def write(bench: Bench, report: Report) -> None:
    """What the writer takes for a sample, by the program that the tests also use."""
    sources = [path for folder in ("base", "experiment") for path in sorted((NATIVE / "src" / folder).glob("*.c"))]
    program = bench.scratch / "writing"
    flags = ["-std=gnu11", "-D_GNU_SOURCE", '-DCOLLECTOR_VERSION="0"', "-O2", f"-I{NATIVE / 'src'}"]
    run(["gcc", *flags, ROOT / "tests" / "c" / "experiment_speed.c", *sources, "-lpthread", "-o", program])
    figures: dict[str, list[list[float]]] = {}
    for _ in range(bench.choose(1, 5)):
        experiment = bench.scratch / "written.expt"
        remove(experiment)
        for line in run([program, experiment]).output.splitlines():
            name, add, flush, size = re.match(r"(.{32}) +(\S+) ns an add, +(\S+) ns of the flush, +(\S+) bytes", line).groups()
            figures.setdefault(name.strip(), []).append([float(add), float(flush), float(size)])
    report.say()
    report.say(f"{'writer, a sample of 25 frames':44}{'ns to add':>18}{'ns to move':>18}{'bytes in the log':>18}")
    for name, rows in figures.items():
        add, flush, size = (spread([row[place] for row in rows]).median for place in range(3))
        report.say(f"{name:44}{add:18.0f}{flush:18.1f}{size:18.1f}")
        report.head(f"writing a sample, {name}", f"{add + flush:.0f} ns, {size:.1f} bytes")


def measure_it(bench: Bench) -> Report:
    """Reading, then writing."""
    report = Report()
    if peers.install(["perf", "gcc"]):
        report.say("missing: perf or gcc: nothing to read")
        return report
    for line in run([bench.python, HERE / "reading.py", bench.choose(2, 5)]).output.splitlines():
        report.say(line)
    rates = {line[:44].strip(): float(line[44:].split()[0]) for line in report.lines if re.match(r".{44} +[\d.]+ +[\d.]+ times", line)}
    rate_of = {start: next((rate for name, rate in rates.items() if name.startswith(start)), 0.0) for start in (PARSER, SAMPLES, PERF)}
    report.head("reading: pmclog_read, whole call chains", f"{rate_of[PARSER]:.0f} M samples/s", f"perf report --no-children {rate_of[PERF]:.1f} M/s")
    write(bench, report)
    return report


if __name__ == "__main__":
    main(__file__, measure_it)
