"""peers -- the other profilers: how each is installed, told to record, and asked what it saw; ours beside them by the same calls"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from measure import USUAL_HZ, Bench, CannotMeasure, Cost, run, size_of

PACKAGES = {
    "perf": "linux-perf", "gprofng": "binutils", "google-pprof": "google-perftools", "valgrind": "valgrind", "heaptrack": "heaptrack",
    "gcc": "gcc", "g++": "g++", "gfortran": "gfortran", "xz": "xz-utils", "sqlite3": "sqlite3", "java": "default-jdk-headless",
    "javac": "default-jdk-headless", "node": "nodejs", "git": "git", "perl": "perl-base", "/usr/include/boost/geometry.hpp": "libboost-dev",
}
PYTHON_PEERS = ("py-spy", "memray", "pyinstrument")
GPROFNG_NOTE = (
    "gprofng: distribution builds record 10 times too little CPU time or less still (link-time optimisation breaks them; see its sums in 003-truth): "
    "its sample counts, and all costs and sizes that grow with them, flatter it by as much."
)


def install(names: Sequence[str]) -> list[str]:
    """Give the names of commands, and of files by their whole path, that are missing; as root, where there is apt, install them first."""
    missing = [name for name in names if not _is_here(name)]
    if missing and os.geteuid() == 0 and shutil.which("apt-get"):
        quiet = {"DEBIAN_FRONTEND": "noninteractive"}
        packages = sorted({PACKAGES[name] for name in missing})
        print(f"installing {' '.join(packages)}", file=sys.stderr)
        run(["apt-get", "update", "-qq"], quiet, expected=None)
        for package in packages:
            run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", package], quiet, expected=None)
    return [name for name in names if not _is_here(name)]


def _is_here(name: str) -> bool:
    return Path(name).exists() if name.startswith("/") else shutil.which(name) is not None


def install_python_peer(bench: Bench, name: str) -> Path | None:
    """The command of a peer from the package index, in the experiments' own environment; None if it cannot be had."""
    command = bench.python.parent / name
    if not command.exists():
        run([bench.python, "-m", "pip", "install", "-q", "--disable-pip-version-check", name], expected=None)
    return command if command.exists() else None


def find_gperftools() -> Path:
    """The library to preload. CannotMeasure where it is not installed."""
    for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"):
        for name in ("libprofiler.so.0", "libprofiler.so"):
            if (Path(folder) / name).exists():
                return Path(folder) / name
    raise CannotMeasure("google-perftools is not installed")


@dataclass(frozen=True, slots=True)
class Recorder:
    """A way to record a command at a rate in Hz, into `output` (a file or a directory)."""

    name: str
    bench: Bench
    event: str = ""
    call_graph: str = ""

    def record(self, command: Sequence[object], rate_hz: int, output: Path, environment: dict[str, str] | None = None, expected: int | None = 0) -> Cost:
        """Run it recorded; the cost is that of the recorder's command and of everything below it."""
        given = environment or {}
        period_us = max(1, round(1e6 / rate_hz))
        if self.name.startswith("collector"):
            rate = "on" if rate_hz == USUAL_HZ else "hi" if rate_hz == 9973 else f"{period_us}u"
            metrics = ["--metric-interval", "off"] if "no metrics" in self.name else []
            return run([self.bench.collector, "record", "-O", output, "-p", rate, *metrics, "--", *command], given, expected=expected)
        if self.name.startswith("perf"):
            graph = [f"--call-graph={self.call_graph}"] if self.call_graph else []
            return run(["perf", "record", "-q", "-e", self.event, "-F", rate_hz, *graph, "-o", output, "--", *command], given, expected=expected)
        if self.name == "gprofng":
            return run(["gprofng", "collect", "app", "-p", f"{period_us}u", "-O", output, shutil.which(str(command[0])) or command[0], *command[1:]], given, expected=expected)
        given = {**given, "LD_PRELOAD": str(find_gperftools()), "CPUPROFILE": str(output), "CPUPROFILE_FREQUENCY": str(rate_hz)}
        return run(command, given, expected=expected)

    @property
    def suffix(self) -> str:
        """What the name of `output` must end in."""
        return {"collector": ".expt", "gprofng": ".er"}.get(self.family, ".data")

    @property
    def family(self) -> str:
        """The tool, whatever its options."""
        return self.name.split()[0].rstrip(",")

    def sample_count(self, output: Path, rate_hz: int) -> int:
        """How many samples there are in a recording."""
        if self.family == "collector":
            return json.loads(self.analyse(output, "overview", "--json").output)["samples"]
        if self.name.startswith("perf"):
            found = re.search(r"SAMPLE events: +(\d+)", run(["perf", "report", "-i", output, "--stats"]).output)
            return int(found[1]) if found else 0
        if self.name == "gprofng":
            return round(sum(self.seconds(output, Path()).values()) * rate_hz)
        return sum(count for count, _ in gperftools_stacks(output))

    def size(self, output: Path) -> int:
        """Bytes on disk: gperftools writes one file a process, gprofng copies of modules too."""
        if self.name == "gperftools":
            return sum(size_of(path) for path in output.parent.glob(output.name + "*"))
        return size_of(output)

    def analyse(self, output: Path, *view: str) -> Cost:
        """Turn the recording into a table of functions, the first thing that a user does."""
        if self.family == "collector":
            return run([self.bench.collector, "report", output, *(view or ("functions",))])
        if self.name.startswith("perf"):
            # With call graphs as ours: inclusive times, so that every stack is looked at; `-g none` would skip unwinding dwarf's.
            chains = ["--children", "-g", "graph,50"] if self.call_graph else ["--no-children", "-g", "none"]
            return run(["perf", "report", "-i", output, "--stdio", *chains])
        raise CannotMeasure(f"{self.name} is not asked that")

    def seconds(self, output: Path, program: Path) -> dict[str, float]:
        """Exclusive CPU seconds of each function, as the tool says (gperftools: inclusive ones, because it hands a function's own time to what it inlines)."""
        if self.family == "collector":
            rows = json.loads(self.analyse(output, "functions", "--no-inlines", "--json").output)["rows"]
            return _sum((row["function"], row["exclusive"]["cpu"]) for row in rows)
        if self.name.startswith("perf"):
            text = run(["perf", "report", "-i", output, "--stdio", "--no-children", "-g", "none", "-F", "period,sym", "-t", ";"]).output
            found = re.findall(r"^ *(\d+) *;\[[.k]\] (\S+)", text, re.MULTILINE)
            return _sum((name, int(period) * 1e-9) for period, name in found)
        if self.name == "gprofng":
            text = run(["gprofng", "display", "text", "-metrics", "e.totalcpu:name", "-functions", output]).output
            found = re.findall(r"^ *(\d+\.\d*) +(?:\d+\.\d* +)?(\S.*)$", text, re.MULTILINE)
            return _sum((name, float(seconds)) for seconds, name in found if name != "<Total>")
        text = run(["google-pprof", "--text", program, output]).output
        found = re.findall(r"^ *\d+ +\S+% +\S+% +(\d+) +\S+% (\S+)", text, re.MULTILINE)
        period_s = gperftools_period_s(output)
        return _sum((name, int(count) * period_s) for count, name in found)

    def total_s(self, output: Path) -> float:
        """CPU seconds of all samples together."""
        if self.name == "gperftools":
            return self.sample_count(output, 0) * gperftools_period_s(output)
        return sum(self.seconds(output, Path()).values())


def _sum(pairs: object) -> dict[str, float]:
    sums: dict[str, float] = {}
    for name, value in pairs:  # type: ignore[attr-defined]
        sums[name] = sums.get(name, 0.0) + value
    return sums


def _words(output: Path) -> list[int]:
    data = output.read_bytes()
    return [int.from_bytes(data[at : at + 8], "little") for at in range(0, len(data) - len(data) % 8, 8)]


def gperftools_period_s(output: Path) -> float:
    """The period that a profile of gperftools states."""
    return _words(output)[3] * 1e-6


def gperftools_stacks(output: Path) -> list[tuple[int, list[int]]]:
    """Counts and stacks, leaf first, of a profile of gperftools (its format is described in cpuprofile-fileformat)."""
    words = _words(output)
    stacks, at = [], 2 + words[1]
    while at + 1 < len(words) and not (words[at] == 0 and words[at + 1] == 1):
        stacks.append((words[at], words[at + 2 : at + 2 + words[at + 1]]))
        at += 2 + words[at + 1]
    return stacks


def recorders(bench: Bench) -> dict[str, Recorder]:
    """All that can be had here, ours first."""
    all_of_them = [
        Recorder("collector", bench),
        Recorder("collector, no metrics", bench),
        Recorder("perf task-clock:u", bench, "task-clock:u"),
        Recorder("perf task-clock:u -g", bench, "task-clock:u", "fp"),
        Recorder("perf task-clock:u dwarf", bench, "task-clock:u", "dwarf"),
        Recorder("perf cycles -g", bench, "cycles", "fp"),
        Recorder("gprofng", bench),
        Recorder("gperftools", bench),
    ]
    missing = install(["perf", "gprofng", "google-pprof"])
    commands = {"perf": "perf", "gprofng": "gprofng", "gperftools": "google-pprof"}
    return {recorder.name: recorder for recorder in all_of_them if commands.get(recorder.family) not in missing}


def name_missing(found: dict[str, Recorder]) -> list[str]:
    """A line for each peer that cannot be had."""
    families = {name.split()[0] for name in found}
    return [f"missing: {name} ({PACKAGES[command]})" for name, command in
            (("perf", "perf"), ("gprofng", "gprofng"), ("gperftools", "google-pprof")) if name not in families]
