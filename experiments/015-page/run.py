"""run -- how large the page of an experiment is, how long it takes to make and to open, and how long the longest frame is while one works with it

    python3 experiments/015-page/run.py [--quick]
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from browser import Browser, find_browser
from measure import SOURCES, Bench, CannotMeasure, Report, main, run, spread

HERE = Path(__file__).resolve().parent
MOST_BYTES, MOST_OPEN_S, MOST_FRAME_MS = 3_000_000, 1.0, 50.0
PERIOD = "100u"


@dataclass(frozen=True, slots=True)
class Case:
    """A page: so many samples, dealt out to so many threads (0: as recorded)."""

    name: str
    samples: int
    threads: int


def cases(bench: Bench) -> list[Case]:
    """Those that are measured."""
    if bench.is_quick:
        return [Case("100,000 samples", 100_000, 0)]
    return [Case("as recorded", 1, 0), Case("1,000,000 samples", 1_000_000, 0), Case("1,000,000 samples of 1,000 threads", 1_000_000, 1000)]


def measure_it(bench: Bench) -> Report:
    """All of it."""
    if find_browser() is None:
        raise CannotMeasure("there is no browser: apt install chromium")
    report = Report()
    recording = bench.scratch / "compiler.expt"
    copies = () if not bench.is_quick else ("-fsyntax-only",)
    run([bench.collector, "record", "-p", PERIOD, "-o", recording, "--", "g++", "-std=c++17", "-DCOPIES=1", "-O2", *copies, "-c", SOURCES / "big.cc", "-o", bench.scratch / "big.o"])
    multiplied = bench.scratch / "multiplied.expt"
    count = int(run([bench.python, HERE / "multiply.py", recording, multiplied, bench.choose(100_000, 1_000_000)]).output)
    cost = run([bench.collector, "html", multiplied, "-o", bench.scratch / "multiplied.html"])
    report.say(f"collector html of {count:,} samples, moments as recorded over and over: {cost.wall_s:.1f} s, {cost.cpu_s:.1f} s CPU, {cost.peak_kib / 1024:.0f} MiB")
    report.head(f"collector html of {count:,} samples of a compiler", f"{cost.wall_s:.1f} s")
    for case in cases(bench):
        measure_case(bench, report, case, recording)
    return report


def measure_case(bench: Bench, report: Report, case: Case, recording: Path) -> None:
    """One page: made, opened several times, and worked with."""
    page = bench.scratch / "page.html"
    told = run([bench.python, HERE / "make.py", recording, page, case.samples, case.threads]).output.split()
    loaded_s, made_s = map(float, told[:2])
    count, cells, nodes, step_ns, peak_kib = map(int, told[2:])
    size = page.stat().st_size
    report.say()
    report.say(f"{case.name}: {count:,} samples in {cells:,} cells and {nodes:,} nodes, steps of {step_ns / 1e6:g} ms; {size / 1e6:.2f} MB, loaded in {loaded_s:.1f} s, made in {made_s:.1f} s, {peak_kib / 1024:.0f} MiB")
    with Browser(bench.scratch / "browser") as browser:
        opened = spread([browser.open(page) for _ in range(bench.choose(2, 5))])
        report.say(f"{'opened, drawn':44}{opened.text()} s")
        browser.run((HERE / "frames.js").read_text() + "; true")
        rounds = [browser.run("measureFrames()") for _ in range(bench.choose(1, 3))]
        frames = {name: [min(one[name][0] for one in rounds), *(spread([one[name][place] for one in rounds]).median for place in (1, 2))] for name in rounds[0]}
        complaints = browser.complaints
    report.say(f"{'ms until all is drawn':44}{'longest':>9}{'median':>9}{'between frames':>16}   (the longest of the best of 3 rounds: others use the machine)")
    for name, (longest, median, gap) in frames.items():
        report.say(f"{name:44}{longest:9.1f}{median:9.1f}{gap:16.1f}")
    worst = max(frames, key=lambda name: frames[name][0])
    report.head(f"page of {case.name}: size", f"{size / 1e6:.2f} MB", aim=f"<= {MOST_BYTES / 1e6:g} MB", holds=size <= MOST_BYTES)
    report.head(f"page of {case.name}: opened", f"{opened.median:.2f} s", aim=f"<= {MOST_OPEN_S:g} s", holds=opened.median <= MOST_OPEN_S)
    report.head(f"page of {case.name}: longest frame", f"{frames[worst][0]:.0f} ms ({worst})", aim=f"<= {MOST_FRAME_MS:g} ms", holds=frames[worst][0] <= MOST_FRAME_MS)
    if complaints:
        raise CannotMeasure(f"the page complains: {complaints[0]}")


if __name__ == "__main__":
    main(__file__, measure_it)
