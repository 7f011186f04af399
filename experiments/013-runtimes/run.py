"""run -- how much of the code that language runtimes make has a name, and how many of its stacks are whole: without and with --jit, beside perf

    python3 experiments/013-runtimes/run.py [--quick]
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from measure import TARGETS, USUAL_HZ, Bench, CannotMeasure, Report, main, remove, run

HERE = Path(__file__).resolve().parent
ROOTS = re.compile(r"^(_start|_dl_start_user|_dl_start|__clone3?|clone3?|start_thread|__libc_start_main\S*|__libc_start_call_main|thread_start)\b")
NAMELESS = ("(no module)", "(anonymous code)")
PERF_LINE = re.compile(r"^\s+[0-9a-f]+ (.*?) \(([/\[].*)\)$")
MADE = re.compile(r"//anon|\[JIT\]|.*/perf-\d+\.map|.*/jitted-.*|\[unknown\]|.*memfd.*|\[anon.*")
RATE_HZ = USUAL_HZ
JAVA_FOR_PERF = "-XX:+IgnoreUnrecognizedVMOptions -XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit"


@dataclass(frozen=True, slots=True)
class Load:
    """A program of a runtime; `options` are what the runtime is told by its environment where --jit does not tell it, `aim` the shares that --jit is to reach."""

    name: str
    command: tuple[object, ...]
    options: dict[str, str]
    aim: float | None = None


@dataclass(frozen=True, slots=True)
class Shares:
    """Parts of the CPU time: in code with a name, or at least a file; on stacks that reach the start of their thread."""

    named: float
    rooted: float
    count: int

    def text(self) -> str:
        return f"{self.count:8} samples, named {100 * self.named:6.2f} %, rooted {100 * self.rooted:6.2f} %"


def loads(bench: Bench) -> Iterator[Load]:
    """One a runtime that is here."""
    ms = bench.choose(1500, 4000)
    javas = {os.path.realpath(java): java for java in [shutil.which("java"), *map(str, sorted(Path("/usr/lib/jvm").glob("*/bin/java")))] if java}
    if javas and shutil.which("javac"):
        run(["javac", "-d", bench.scratch, TARGETS / "HotJava.java"])
    for java in javas if shutil.which("javac") else ():
        version = re.search(r'"(.*?)"', run([java, "-version"], errors=True).output)
        try:
            run([java, "-cp", bench.scratch, "HotJava", 1])
        except CannotMeasure:
            continue  # older than the compiler
        yield Load(f"Java {version[1] if version else ''}", (java, "-cp", bench.scratch, "HotJava", ms), {"JAVA_TOOL_OPTIONS": JAVA_FOR_PERF}, 0.99)
    plain: dict[str, tuple[str, Sequence[object], dict[str, str], float | None]] = {
        "node": ("node", ["node", TARGETS / "busy_loops.js", ms], {}, 0.99),
        "LuaJIT": ("luajit", ["luajit", TARGETS / "busy_loops.lua", ms], {}, None),
        "PyPy": ("pypy3", ["pypy3", TARGETS / "busy_loops.py", ms], {}, None),
        "Erlang": ("erlc", ["erl", "-noshell", "-pa", bench.scratch, "-s", "hot", "main", ms], {"ERL_FLAGS": "+JPperf true"}, None),
        "mono": ("mcs", ["mono", bench.scratch / "Hot.exe", ms], {}, None),
        "PHP": ("php", ["php", "-d", "opcache.enable_cli=1", "-d", "opcache.jit_buffer_size=64M", "-d", "opcache.jit=tracing", HERE / "hot.php", ms], {}, None),
        "Ruby": ("ruby", ["ruby", HERE / "hot.rb", ms], {}, None),
        "Ruby, YJIT": ("ruby", ["ruby", "--yjit", HERE / "hot.rb", ms], {}, None),
    }
    if shutil.which("erlc"):
        run(["erlc", "-o", bench.scratch, HERE / "hot.erl"])
    if shutil.which("mcs"):
        run(["mcs", f"-out:{bench.scratch / 'Hot.exe'}", HERE / "Hot.cs"])
    for name, (tool, command, options, aim) in plain.items():
        if shutil.which(tool):
            yield Load(name, tuple(command), options, aim)


def jit_environment(bench: Bench) -> dict[str, str]:
    """What --jit tells runtimes, for a peer."""
    texts = run([bench.collector, "record", "--jit", "-n", "-o", bench.scratch / "none.expt", "true"]).output
    told = dict(line.split(None, 1)[1].split("=", 1) for line in texts.splitlines() if line.startswith("environment "))
    return {name: value for name, value in told.items() if not name.startswith(("COLLECTOR", "LD_", "ASAN"))}


def shares_of_ours(bench: Bench, load: Load, is_told: bool) -> Shares:
    """Ours, recorded with or without --jit."""
    output = bench.scratch / "data.expt"
    options = ["--jit"] if is_told else []
    run([bench.collector, "record", "-O", output, *options, "--", *load.command], load.options if is_told else {}, bench.scratch, expected=None)
    rows = json.loads(run([bench.collector, "report", output, "calltree", "--json"]).output)
    whole, count = rows["total"]["cpu"], round(rows["total"]["samples"])
    tree = rows["rows"]
    nameless = sum(row["exclusive"]["cpu"] for row in tree if row["function"] in NAMELESS)
    unfinished = sum(row["inclusive"]["cpu"] for row in tree if row["parent"] == 0 and row["function"] == "(unfinished stacks)")
    return Shares(1 - nameless / whole, 1 - unfinished / whole, count)


def shares_of_perf(bench: Bench, load: Load, environment: dict[str, str]) -> Shares:
    """perf's, by frame pointers, which is what the options are made for."""
    output = bench.scratch / "perf.data"
    remove(output)
    run(["perf", "record", "-q", "-e", "task-clock:u", "-F", RATE_HZ, "-g", "-o", output, "--", *load.command], environment, bench.scratch, expected=None)
    named = rooted = count = 0
    for paragraph in run(["perf", "script", "-i", output, "-F", "tid,ip,sym,dso", "--no-inline"]).output.strip("\n").split("\n\n"):
        frames = [match.groups() for match in map(PERF_LINE.match, paragraph.splitlines()) if match]
        if not frames:
            continue
        count += 1
        symbol, file = frames[0]
        named += not (symbol == "[unknown]" and MADE.fullmatch(file))
        rooted += any(ROOTS.match(symbol) for symbol, _ in frames[-2:])
    if not count:
        raise CannotMeasure("perf recorded nothing")
    return Shares(named / count, rooted / count, count)


def measure_it(bench: Bench) -> Report:
    """All of it."""
    report = Report()
    report.say("named: time in code that has a name, or at least a file. rooted: time on stacks that reach the start of their thread.")
    told = jit_environment(bench)
    for load in loads(bench):
        report.say()
        ways = {
            "collector": lambda load=load: shares_of_ours(bench, load, False),
            "collector --jit": lambda load=load: shares_of_ours(bench, load, True),
            "perf -g": lambda load=load: shares_of_perf(bench, load, {}),
            "perf -g, same options": lambda load=load: shares_of_perf(bench, load, {**told, **load.options}),
        }
        found: dict[str, Shares] = {}
        for name, way in ways.items():
            if name.startswith("perf") and not shutil.which("perf"):
                continue
            try:
                found[name] = way()
            except CannotMeasure as reason:
                report.say(f"{load.name:16}{name:24}failed: {reason}")
                continue
            report.say(f"{load.name:16}{name:24}{found[name].text()}")
        own = found.get("collector --jit")
        if own is None or (load.aim is None and bench.is_quick):
            continue
        for what in ("named", "rooted"):
            ours, peer = getattr(own, what), getattr(found.get("perf -g, same options", replace(own, named=0, rooted=0)), what)
            without = getattr(found["collector"], what) if "collector" in found else 0.0
            report.head(
                f"{what}, {load.name}, without --jit and with it", f"{100 * without:.1f} % -> {100 * ours:.2f} %", f"perf, same options {100 * peer:.1f} %",
                f">= {100 * load.aim:.0f} %" if load.aim else "", ours >= load.aim if load.aim else None,
            )
    return report


if __name__ == "__main__":
    main(__file__, measure_it)
