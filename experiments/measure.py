"""measure -- costs of runs, taken in turn; medians, spreads and ratios; what every experiment is told and gives back

An experiment is a folder NNN-question with a run.py that ends in `measure.main(__file__, measure_it)`. `measure_it(bench)` gives a Report.
All costs are CPU time (user and system, of the command and all descendants that were waited for), unless wall time is named.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "experiments" / "sources"
TARGETS = ROOT / "tests" / "targets"
NATIVE = ROOT / "libcollector_c"

USUAL_HZ = 941
"""The rate that `collector record` has by itself, for all tools that are compared."""

HOME = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "collector-experiments"
HOME_PYTHON = HOME / "venv" / "bin" / "python"


class CannotMeasure(Exception):
    """A program that is needed is not there, or failed; the sentence says which."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one run took: seconds of wall and CPU time, the largest resident set in KiB of any of its processes."""

    wall_s: float
    cpu_s: float
    peak_kib: int
    output: str = ""


@dataclass(frozen=True, slots=True)
class Spread:
    """A median and the quartiles around it."""

    median: float
    low: float
    high: float
    count: int

    def text(self, scale: float = 1.0, digits: int = 2, sign: str = "") -> str:
        """As `median (low .. high)`."""
        middle, low, high = (f"{value * scale:{sign}.{digits}f}" for value in (self.median, self.low, self.high))
        return f"{middle} ({low} .. {high})"


@dataclass(frozen=True, slots=True)
class Headline:
    """One row of the summary: a figure of ours, the same of a peer, and what was aimed at. `holds` is None where no aim was set, or where the noise leaves it undecided."""

    question: str
    ours: str
    peer: str = ""
    aim: str = ""
    holds: bool | None = None


@dataclass(slots=True)
class Report:
    """What an experiment found: its lines for result.txt, and its rows for the summary."""

    lines: list[str] = field(default_factory=list)
    headlines: list[Headline] = field(default_factory=list)

    def say(self, line: str = "") -> None:
        """Add a line, and show it while the experiment runs."""
        self.lines.append(line)
        print(line, file=sys.stderr, flush=True)

    def head(self, question: str, ours: str, peer: str = "", aim: str = "", holds: bool | None = None) -> None:
        """Add a row for the summary."""
        self.headlines.append(Headline(question, ours, peer, aim, holds))


def spread(values: Sequence[float]) -> Spread:
    """Median and quartiles of at least one value."""
    ordered = sorted(values)
    if len(ordered) < 3:
        return Spread(statistics.median(ordered), ordered[0], ordered[-1], len(ordered))
    low, _, high = statistics.quantiles(ordered, n=4, method="inclusive")
    return Spread(statistics.median(ordered), low, high, len(ordered))


def run(
    command: Sequence[object],
    environment: Mapping[str, str] | None = None,
    directory: Path | None = None,
    expected: int | None = 0,
    errors: bool = False,
) -> Cost:
    """Run a command and give its cost and its standard output (with `errors` its standard error instead).

    CannotMeasure if it cannot be run, or ends with another status than expected (None: any is good).
    """
    words = [str(word) for word in command]
    _forget_peak()
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as complaints:
        begun = time.perf_counter()
        try:
            process = subprocess.Popen(
                words, env={**os.environ, **(environment or {})}, cwd=directory, stdin=subprocess.DEVNULL, stdout=output, stderr=complaints
            )
        except OSError as error:
            raise CannotMeasure(f"{words[0]}: {error.strerror}") from None
        _, status, usage = os.wait4(process.pid, 0)
        wall_s = time.perf_counter() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        complaints.seek(0)
        told = complaints.read().decode(errors="replace")
        if expected is not None and process.returncode != expected:
            last = told.strip().splitlines()[-1:] or [""]
            raise CannotMeasure(f"{Path(words[0]).name} ended with status {process.returncode}: {last[0][:200]}")
        text = told if errors else output.read().decode(errors="replace")
    return Cost(wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss, text)


def _forget_peak() -> None:
    """What this process had at its most: a child begins with that as its own."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def take_turns(variants: Mapping[str, Callable[[], Cost]], rounds: int) -> tuple[dict[str, list[Cost]], dict[str, str]]:
    """Run every variant once a round, each round beginning with another one; what fails once is left out, with its reason."""
    costs: dict[str, list[Cost]] = {name: [] for name in variants}
    failures: dict[str, str] = {}
    names = list(variants)
    for turn in range(rounds):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            if name in failures:
                continue
            try:
                costs[name].append(variants[name]())
            except CannotMeasure as failure:
                failures[name] = str(failure)
                costs.pop(name)
    return costs, failures


def overhead(costs: Sequence[Cost], plain: Sequence[Cost], start_s: float = 0.0) -> Spread:
    """The part by which each run's CPU time exceeds that of the plain run of the same round, less `start_s`."""
    return spread([(cost.cpu_s - start_s) / base.cpu_s - 1 for cost, base in zip(costs, plain)])


def least_overhead(costs: Sequence[Cost], plain: Sequence[Cost], start_s: float = 0.0) -> float:
    """The same of the cheapest run of each kind: whoever else is on the machine only ever adds."""
    return (min(cost.cpu_s for cost in costs) - start_s) / min(base.cpu_s for base in plain) - 1


def wall_overhead(costs: Sequence[Cost], plain: Sequence[Cost], start_s: float = 0.0) -> Spread:
    """The same of wall time."""
    return spread([(cost.wall_s - start_s) / base.wall_s - 1 for cost, base in zip(costs, plain)])


def size_of(path: Path) -> int:
    """Bytes of a file, or of all files below a directory; 0 if it is not there."""
    if path.is_dir():
        return sum(size_of(entry) for entry in path.iterdir())
    return path.lstat().st_size if path.exists() else 0


def remove(path: Path) -> None:
    """Take a file or a directory away, if it is there."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def machine() -> str:
    """The machine in one line."""
    model = next((line.partition(":")[2].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")), "?")
    flags = Path("/proc/cpuinfo").read_text()
    virtual = ", virtual" if " hypervisor" in flags else ""
    kernel = os.uname().release.split("-")[0]
    file_system = subprocess.run(["stat", "-f", "-c", "%T", tempfile.gettempdir()], capture_output=True, text=True).stdout.strip()
    return (
        f"{os.cpu_count()} x {model}{virtual}, {platform.machine()}, Linux {kernel}, {' '.join(platform.libc_ver())}, "
        f"files on {file_system.replace('ext2/ext3', 'ext4')}, Python {platform.python_version()}; load {os.getloadavg()[0]:.1f} at the start"
    )


class Bench:
    """The place where an experiment is made: what was installed for it, a scratch directory, how thorough to be."""

    def __init__(self, is_quick: bool, scratch: Path) -> None:
        self.is_quick = is_quick
        self.scratch = scratch
        self.home = HOME
        self.python = HOME_PYTHON
        self._install()
        self.collector = self.home / "venv" / "bin" / "collector"
        self.recorder = Path(run([self.collector, "config", "--preload"]).output.strip())

    def choose(self, quick: int, full: int) -> int:
        """One of two counts."""
        return quick if self.is_quick else full

    def compile(self, source: Path, *flags: object, compiler: str | None = None, name: str | None = None) -> Path:
        """The program made of a source, optimised; CannotMeasure where the compiler is missing."""
        chosen = compiler or {".cc": "g++", ".cpp": "g++", ".f90": "gfortran"}.get(source.suffix, "gcc")
        program = self.scratch / (name or source.stem)
        libraries = [flag for flag in flags if str(flag).startswith("-l")]
        others = [flag for flag in flags if flag not in libraries]
        run([chosen, "-O2", "-g", *others, f"-I{NATIVE / 'include'}", "-pthread", source, "-o", program, *libraries])
        return program

    def _install(self) -> None:
        """This tree's package in a virtual environment, as users have it; anew when a source has changed."""
        digest = hashlib.sha256()
        for folder in (ROOT / "collector", NATIVE):
            for path in sorted(folder.rglob("*")):
                if path.is_file() and path.suffix != ".pyc" and "build" not in path.relative_to(ROOT).parts:
                    digest.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
        stamp = self.home / "installed"
        if stamp.exists() and stamp.read_text() == digest.hexdigest() and self.python.exists():
            return
        self.home.mkdir(parents=True, exist_ok=True)
        if not self.python.exists():
            run([sys.executable, "-m", "venv", self.home / "venv"])
        run([self.python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "setuptools>=77", "msgpack", "pyelftools"])
        run([self.python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--force-reinstall", "--no-deps", ROOT])
        stamp.write_text(digest.hexdigest())


_MARKS = {True: "holds", False: "MISSED", None: ""}


def table(rows: list[tuple[str, str, str, str, bool | None]]) -> list[str]:
    """Rows under headings, columns as wide as they need to be."""
    texts = [("figure", "collector", "peers", "aim", ""), *((*row[:4], _MARKS[row[4]] or ("undecided" if row[3] else "")) for row in rows)]
    widths = [max(len(text[place]) for text in texts) for place in range(5)]
    return ["  ".join(word.ljust(width) for word, width in zip(text, widths)).rstrip() for text in texts]


def main(script: str, measure_it: Callable[[Bench], Report]) -> None:
    """The command line of every run.py: --quick prints, a full run also writes result.txt; --json FILE keeps the rows of its table of figures."""
    folder = Path(script).resolve().parent
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer rounds and loads, under a minute; result.txt is left alone")
    parser.add_argument("--json", metavar="FILE", help="write the rows of the table of figures there")
    args = parser.parse_args()
    begun = time.monotonic()
    before = machine()
    with tempfile.TemporaryDirectory(prefix="experiment-") as scratch:
        try:
            report = measure_it(Bench(args.quick, Path(scratch)))
        except CannotMeasure as reason:
            sys.exit(f"{folder.name}: {reason}")
    head = [before, f"{time.strftime('%Y-%m-%d')}, {'quick' if args.quick else 'full'} run of {time.monotonic() - begun:.0f} s", ""]
    rows = [(row.question, row.ours, row.peer, row.aim, row.holds) for row in report.headlines]
    text = "\n".join([*head, *table(rows), "", *report.lines]) + "\n"
    if not args.quick:
        (folder / "result.txt").write_text(text, encoding="utf-8")
    if args.json:
        Path(args.json).write_text(json.dumps(rows), encoding="utf-8")
    print(text, end="")
