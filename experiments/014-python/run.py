"""run -- how true a Python profile is on each interpreter, what it costs, and what other profilers of Python make of the same programs

    python3 experiments/014-python/run.py [--quick]
"""

from __future__ import annotations

import glob
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import peers
from measure import ROOT, TARGETS, USUAL_HZ, Bench, CannotMeasure, Report, main, remove, run, size_of, spread, take_turns

HERE = Path(__file__).resolve().parent
VERSIONS = tuple(f"3.{minor}" for minor in range(9, 16))
SPLIT = ("forty", "twenty_five", "fifteen", "ten", "seven", "three")
RATE_HZ = USUAL_HZ
PYTHON_PARTS = re.compile(r"col_python|python_stack|walk_run|walk_entries|walk_cframes|walk_frame|add_function|find_chunk|is_readable|stand_in|evaluator_of")
"""Symbols of the recorder that read Python frames and put them into the stack."""


@dataclass(slots=True)
class Errors:
    """The runs of one tool: the greatest error of a share, and that of each function with its sign, in points; samples."""

    greatest: list[float] = field(default_factory=list)
    of_each: dict[str, list[float]] = field(default_factory=dict)
    samples: list[int] = field(default_factory=list)

    def add(self, truth: dict[str, float], seen: dict[str, float], samples: int) -> None:
        """Note one run."""
        whole, whole_seen = sum(truth[name] for name in SPLIT), sum(seen.get(name, 0.0) for name in SPLIT)
        if not whole_seen:
            raise CannotMeasure("none of the functions was seen")
        errors = {name: 100 * (seen.get(name, 0.0) / whole_seen - truth[name] / whole) for name in SPLIT}
        self.greatest.append(max(map(abs, errors.values())))
        self.samples.append(samples)
        for name, error in errors.items():
            self.of_each.setdefault(name, []).append(error)

    def text(self) -> str:
        """The mean greatest error, the mean error of the smallest function, and what one standard error of the largest is."""
        allowed = 100 * (0.4 * 0.6 / max(1, spread(self.samples).median)) ** 0.5
        three = self.of_each["three"]
        return (f"{sum(self.greatest) / len(self.greatest):6.2f} mean{max(self.greatest):7.2f} worst{allowed:7.2f} standard error"
                f"{sum(three) / len(three):+7.2f} of 3 %{sum(self.samples) // len(self.samples):7} samples a run")


def find_interpreters() -> dict[str, Path]:
    """The CPythons of this system by their version."""
    found = {}
    for version in VERSIONS:
        places = [f"/usr/bin/python{version}", *glob.glob(os.path.expanduser(f"~/.pyenv/versions/{version}.*/bin/python{version}"))]
        for place in filter(os.path.exists, places):
            done = subprocess.run([place, "-c", "import sys; print(*sys.version_info[:3], sep='.')"], capture_output=True, text=True)
            if done.returncode == 0:
                found[f"{done.stdout.strip()}{' of the system' if place.startswith('/usr/bin') else ''}"] = Path(place)
    return found


def truth_of(text: str) -> dict[str, float]:
    """Lines of a name and nanoseconds, in seconds."""
    pairs = [line.split() for line in text.splitlines()]
    return {words[0]: int(words[1]) * 1e-9 for words in pairs if len(words) == 2 and words[1].isdigit()}


def split_by_collector(bench: Bench, python: Path, milliseconds: int) -> tuple[dict[str, float], dict[str, float], dict]:
    """Truth and inclusive seconds of each function, and the overview."""
    output = bench.scratch / "split.expt"
    told = run([bench.collector, "record", "-O", output, "--", python, TARGETS / "python" / "split.py", milliseconds]).output
    rows = json.loads(run([bench.collector, "report", output, "functions", "--json"]).output)["rows"]
    overview = json.loads(run([bench.collector, "report", output, "overview", "--json"]).output)
    return truth_of(told), {row["function"]: row["inclusive"]["cpu"] for row in rows}, overview


def measure_split(bench: Bench, report: Report, interpreters: dict[str, Path]) -> None:
    """The known split, again and again."""
    report.say(f"known split of 40 25 15 10 7 3 % at {RATE_HZ} Hz, 1.5 s a run: the greatest error of a share, in points")
    runs = bench.choose(1, 6)
    means, allowed = [], []
    for version, python in interpreters.items():
        errors, whole = Errors(), []
        for _ in range(runs):
            truth, seen, overview = split_by_collector(bench, python, 1500)
            errors.add(truth, seen, overview["samples"])
            whole.append(whole_share(overview))
        report.say(f"  {version:24}{errors.text()}{min(whole):8.1%} whole")
        means.append(sum(errors.greatest) / len(errors.greatest))
        allowed.append(1.5 * 100 * (0.24 / spread(errors.samples).median) ** 0.5)
    worst = max(range(len(means)), key=lambda index: means[index] - allowed[index])
    report.head(f"known split, mean greatest error, worst of {len(means)} interpreters", f"{means[worst]:.2f} points", "",
                f"<= {allowed[worst]:.2f} (1.5 standard errors)", means[worst] <= allowed[worst])


def whole_share(overview: dict) -> float:
    """The part of the samples whose stack reaches the start of its thread."""
    unfinished = sum(row["samples"] for row in overview.get("unfinished", []))
    return 1 - unfinished / max(1, overview["samples"])


def measure_shapes(bench: Bench, report: Report, interpreters: dict[str, Path]) -> None:
    """Function and line of 55 ways of calling: how many samples in a told loop have exactly the told Python frames."""
    sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "live")]
    report.say()
    report.say("55 ways of calling Python at 9973 Hz: samples in a loop that the program told, and those with exactly the told functions, files and lines")
    right_sum = sum_ = 0
    for version, python in interpreters.items():
        output = bench.scratch / "shapes.expt"
        told = run([bench.collector, "record", "-p", "hi", "-O", output, "--", python, TARGETS / "python" / "shapes.py", bench.choose(10, 20)]).output
        counted = run([bench.python, HERE / "compare_stacks.py", output], {"TOLD": told.splitlines()[-1]}).output.split()
        right, count = map(int, counted)
        report.say(f"  {version:24}{right:8,} of {count:,}")
        right_sum, sum_ = right_sum + right, sum_ + count
    report.head("functions and lines right, samples", f"{right_sum:,} of {sum_:,}", "", "all", right_sum == sum_)


def measure_peers(bench: Bench, report: Report) -> None:
    """The same split, by others, on the interpreter of the experiments."""
    program, python = TARGETS / "python" / "split.py", bench.python
    tools = {name: peers.install_python_peer(bench, name) for name in peers.PYTHON_PEERS}
    report.say()
    report.say("the same on the interpreter of this environment, beside others: accuracy")
    found: dict[str, Errors] = {}
    for _ in range(bench.choose(1, 5)):
        for name, seen_by in {"collector": by_collector, "py-spy --native": by_py_spy, "pyinstrument": by_pyinstrument}.items():
            if name != "collector" and tools[name.split()[0]] is None:
                continue
            try:
                found.setdefault(name, Errors()).add(*seen_by(bench, python, program))
            except CannotMeasure as reason:
                report.say(f"  {name:24}failed: {reason}")
    for name, errors in found.items():
        if errors.greatest:
            report.say(f"  {name:24}{errors.text()}")
    for name, tool in tools.items():
        if tool is None:
            report.say(f"  {name} cannot be had from the package index here")
    others = ", ".join(f"{name} {sum(found[name].greatest) / len(found[name].greatest):.2f}" for name in list(found)[1:] if found[name].greatest)
    report.head("known split beside other profilers, mean greatest error", f"{sum(found['collector'].greatest) / len(found['collector'].greatest):.2f} points", others)


def by_collector(bench: Bench, python: Path, program: Path) -> tuple[dict[str, float], dict[str, float], int]:
    truth, seen, overview = split_by_collector(bench, python, 1500)
    return truth, seen, overview["samples"]


def by_py_spy(bench: Bench, python: Path, program: Path) -> tuple[dict[str, float], dict[str, float], int]:
    output = bench.scratch / "spy.txt"
    told = run([bench.python.parent / "py-spy", "record", "--native", "-r", RATE_HZ, "-f", "raw", "-o", output, "--", python, program, 1500]).output
    seen: dict[str, float] = {}
    samples = 0
    for stack, count in re.findall(r"^(.*) (\d+)$", output.read_text(), re.MULTILINE):
        samples += int(count)
        for name in {frame.split(" ")[0] for frame in stack.split(";")}:
            seen[name] = seen.get(name, 0.0) + int(count)
    return truth_of(told), seen, samples


def by_pyinstrument(bench: Bench, python: Path, program: Path) -> tuple[dict[str, float], dict[str, float], int]:
    output = bench.scratch / "instrument.json"
    told = run([python, "-m", "pyinstrument", "-i", "0.001", "-r", "json", "-o", output, program, 1500]).output
    document, seen = json.loads(output.read_text()), {}

    def add(frame: dict) -> None:
        seen[frame["function"]] = seen.get(frame["function"], 0.0) + frame["time"]
        for child in frame["children"]:
            add(child)

    add(document["root_frame"])
    return truth_of(told), seen, document["sample_count"]


def measure_overhead(bench: Bench, report: Report, interpreters: dict[str, Path]) -> None:
    """CPU time of the same work in turns of milliseconds, every other one paused: what else goes on here meets both alike."""
    report.say()
    report.say(f"pure Python in turns of milliseconds, recorded at {RATE_HZ} Hz or paused, in one process: CPU time more; median and quartiles of pairs, standard error")
    worst: list[tuple[float, float]] = []
    sizes: list[float] = []
    for version, python in interpreters.items():
        output = bench.scratch / "paced.expt"
        remove(output)
        told = run([bench.collector, "record", "-O", output, "--", python, HERE / "paced.py", bench.choose(200, 800)]).output
        pairs = re.findall(r"^(\d+) (\d+)$", told, re.MULTILINE)
        more = spread([int(recorded) / int(paused) - 1 for paused, recorded in pairs])
        error = 0.93 * (more.high - more.low) / more.count**0.5  # of a median, from the quartiles of what is nearly normal
        remove(output)
        run([bench.collector, "record", "-o", output, "--", python, HERE / "paced.py", bench.choose(200, 800), "on"])
        samples = json.loads(run([bench.collector, "report", output, "overview", "--json"]).output)["samples"]
        sizes.append(size_of(output) / max(1, samples))
        report.say(f"  {version:24}{more.text(100, 2, '+'):>26} %{error:8.2%}   {sizes[-1]:.1f} bytes a sample of {samples:,}, never paused")
        worst.append((more.median, error))
    if worst:
        more, error = max(worst)
        report.head(f"overhead at {RATE_HZ} Hz on pure Python, worst of {len(worst)} interpreters", f"{more:+.2%}", f"unsure by {2 * error:.2%}", "<= 2 %", None if abs(more - 0.02) < 2 * error else more <= 0.02)
        report.head(f"bytes a sample of pure Python, most of {len(sizes)} interpreters", f"{max(sizes):.1f}", "", "<= 40", max(sizes) <= 40)


def measure_peers_cost(bench: Bench, report: Report) -> None:
    """What the others cost on the same program."""
    program, spy = [bench.python, HERE / "calls.py", 6000], bench.python.parent / "py-spy"
    output = bench.scratch / "cost"
    variants = {
        "plain": lambda: run(program),
        "collector": lambda: run([bench.collector, "record", "-O", output.with_suffix(".expt"), "--", *program]),
    }
    if spy.exists():
        variants["py-spy"] = lambda: run([spy, "record", "-r", RATE_HZ, "-f", "raw", "-o", output, "--", *program])
        variants["py-spy --native"] = lambda: run([spy, "record", "--native", "-r", RATE_HZ, "-f", "raw", "-o", output, "--", *program])
    if (bench.python.parent / "pyinstrument").exists():
        variants["pyinstrument"] = lambda: run([bench.python, "-m", "pyinstrument", "-i", "0.001", "-r", "json", "-o", output, *program[1:]])
    if (bench.python.parent / "memray").exists():
        variants["memray"] = lambda: run([bench.python.parent / "memray", "run", "-q", "-f", "-o", output, *program[1:]])
    costs, failures = take_turns(variants, bench.choose(2, 5))
    report.say()
    report.say("the same program under other tools, their own processes and start included: CPU and wall time as multiples of plain")
    for name, of_it in costs.items():
        cpu, wall = (spread([getattr(cost, what) / getattr(base, what) for cost, base in zip(of_it, costs["plain"])]) for what in ("cpu_s", "wall_s"))
        report.say(f"  {name:24}{cpu.text():>24} CPU{wall.text():>24} wall")
    for name, reason in failures.items():
        report.say(f"  {name:24}failed: {reason}")
    times = {name: spread([cost.cpu_s / base.cpu_s for cost, base in zip(of_it, costs["plain"])]).median for name, of_it in costs.items()}
    report.head("CPU time of pure Python under a profiler, start included, plain is 1", f"{times['collector']:.2f}", ", ".join(f"{name} {times[name]:.2f}" for name in list(times)[2:]))


def measure_handler(bench: Bench, report: Report, interpreters: dict[str, Path]) -> None:
    """Time in the recorder's own functions, sampled by perf from outside, for each tick; twelve Python frames."""
    if peers.install(["perf"]):
        report.say(f"missing: perf ({peers.PACKAGES['perf']})")
        return
    report.say()
    report.say("user time in the handler for a tick at 9973 Hz, twelve Python frames, sampled by perf at 7919 Hz: nanoseconds")
    found = []
    for version, python in interpreters.items():
        output, data = bench.scratch / "deep.expt", bench.scratch / "deep.data"
        told = run(["perf", "record", "-q", "-e", "task-clock:u", "-F", 7919, "-o", data, "--", bench.collector, "record", "-p", "hi", "-O", output, "--",
                    python, HERE / "deep.py", 12, bench.choose(2000, 5000)]).output
        samples = json.loads(run([bench.collector, "report", output, "overview", "--json"]).output)["samples"]
        text = run(["perf", "report", "-i", data, "--stdio", "--no-children", "-g", "none", "-F", "period,dso,sym", "-t", ";"]).output
        rows = re.findall(r"^ *(\d+) *;libcollector\.so *;\[\.\] (\S+)", text, re.MULTILINE)
        python_ns = sum(int(period) for period, name in rows if PYTHON_PARTS.search(name)) / max(1, samples)
        all_ns = sum(int(period) for period, _ in rows) / max(1, samples)
        report.say(f"  {version:24}{python_ns:8.0f} for the Python frames{all_ns:8.0f} in all{samples:9,} ticks   {told.strip()}")
        found.append(python_ns)
    if found:
        report.head(f"12 Python frames in the handler, worst of {len(found)} interpreters", f"{max(found):.0f} ns", "", "<= 1500 ns", max(found) <= 1500)


def measure_it(bench: Bench) -> Report:
    """All of it."""
    report = Report()
    interpreters = find_interpreters()
    missing = [version for version in VERSIONS if not any(name.startswith(version + ".") for name in interpreters)]
    if missing:
        report.say(f"not on this system: CPython {', '.join(missing)}")
    chosen = interpreters if not bench.is_quick else dict(list(interpreters.items())[-2:])
    measure_split(bench, report, chosen)
    measure_shapes(bench, report, chosen)
    measure_overhead(bench, report, chosen)
    measure_handler(bench, report, chosen)
    measure_peers(bench, report)
    measure_peers_cost(bench, report)
    return report


if __name__ == "__main__":
    main(__file__, measure_it)
