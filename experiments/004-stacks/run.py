"""run -- how many stacks reach the start of their thread, on programs as distributions ship them; and how many are exact, instruction by instruction

    python3 experiments/004-stacks/run.py [--quick]
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import peers
import programs
from measure import NATIVE, ROOT, USUAL_HZ, Bench, CannotMeasure, Report, main, remove, run

ROOTS = re.compile(r"^(_start|_dl_start_user|_dl_start|__clone3?|clone3?|start_thread|__libc_start_main\S*|__libc_start_call_main|thread_start)\b")
UNWINDER = ("base/os", "base/own_io", "base/clock", "base/text_format", "base/safe_read", "base/remote_memory", "base/instruction", "target/range_table", "target/mapping_lines", "target/executable_mappings", "target/eh_frame_index", "target/eh_frame",
            "target/remote_modules", "target/code_finder", "target/parallel_region", "sample/unwind_cache",
            "sample/unwind_expression", "sample/unwind_row", "sample/unwind_cfi", "sample/unwind_code", "sample/unwind_fp", "sample/unwind_frames", "sample/unwind_region", "sample/unwind_step", "sample/unwind")


def complete_in_perf(output: Path) -> tuple[int, int]:
    """Stacks whose outermost function, or the one it called where a stripped program's `_start` has no name, is one that threads begin with; and all stacks."""
    complete = count = 0
    text = run(["perf", "script", "-i", output, "-F", "tid,ip,sym", "--no-inline"]).output
    for paragraph in text.strip("\n").split("\n\n"):
        frames = [line.split(None, 1) for line in paragraph.splitlines()[1:]]
        count += bool(frames)
        complete += any(len(words) == 2 and ROOTS.match(words[1]) is not None for words in frames[-2:])
    return complete, count


def complete_in_ours(bench: Bench, output: Path) -> tuple[int, int, dict[str, int]]:
    """The same by collector's own account, and the causes of the others."""
    ends = json.loads(run([bench.collector, "report", output, "overview", "--json"]).output)["stacks"]
    ends.pop("not_sampled", None)  # time of threads that were too short for a tick: it has no stack
    return ends.get("complete", 0), sum(ends.values()), {cause: number for cause, number in ends.items() if cause != "complete"}


def rooted_in_ours(bench: Bench, output: Path) -> tuple[int, int]:
    """Ours held to the same test as perf's: the name of the outermost function, time that is below such a one."""
    rows = json.loads(run([bench.collector, "report", output, "calltree", "--json"]).output)["rows"]
    whole = rows[0]["inclusive"]["cpu"]
    starts = {row["id"] for row in rows if row["parent"] == 0 and ROOTS.match(row["function"])}
    nameless = {row["id"] for row in rows if row["parent"] == 0} - starts
    rooted = sum(row["inclusive"]["cpu"] for row in rows if row["id"] in starts or row["parent"] in nameless and ROOTS.match(row["function"]))
    return round(rooted * 1e6), round(whole * 1e6)


def iter_stepped(bench: Bench) -> Iterator[tuple[str, int, int]]:
    """Programs run one instruction at a time, each stack held against a shadow stack: name, instructions, exact ones."""
    stepper = bench.scratch / "stepper.so"
    sources = [*(NATIVE / "src" / f"{name}.c" for name in UNWINDER), ROOT / "tests/c/no_java.c"]
    run(["gcc", "-std=gnu11", "-D_GNU_SOURCE", "-O2", "-fPIC", "-shared", f"-I{NATIVE / 'src'}", ROOT / "tests/c/unwind_stepper.c", *sources, "-o", stepper])
    commands = {"ls -l /usr/bin": ["ls", "-l", "/usr/bin"], "git --version": ["git", "--version"], "perl -e": ["perl", "-e", "print 1"], "python3 -S -c": ["/usr/bin/python3", "-S", "-c", "print(1)"]}
    for name, command in commands.items():
        if name.startswith(("git", "perl")) and bench.is_quick:
            continue
        told = bench.scratch / "stepped.txt"
        remove(told)
        limit = bench.choose(200_000, 3_000_000)
        run(command, {"LD_PRELOAD": str(stepper), "UNWIND_STEPPER_REPORT": str(told), "UNWIND_STEPPER_LIMIT": str(limit)}, expected=None)
        counts = [line.split() for line in told.read_text().splitlines() if re.fullmatch(r"\d+ \d+", line)] if told.exists() else []
        if counts:
            yield name, int(counts[0][0]), int(counts[0][1])


def measure_it(bench: Bench) -> Report:
    """All of it."""
    report = Report()
    found = peers.recorders(bench)
    recorders = {name: recorder for name, recorder in found.items() if name in ("collector", "perf task-clock:u -g", "perf task-clock:u dwarf")}
    if bench.is_quick:
        recorders.pop("perf task-clock:u dwarf", None)
    for line in peers.name_missing(found):
        report.say(line)
    report.say("complete: the stack reaches the start of its thread. For perf, and for ours `by name`: its outermost function is one that threads begin with.")
    report.say()
    loads, missing = programs.prepare(bench, programs.DISTRIBUTION)
    native_complete = native_count = 0
    for load in loads:
        shares: dict[str, str] = {}
        for name, recorder in recorders.items():
            output = bench.scratch / ("data" + recorder.suffix)
            remove(output)
            try:
                recorder.record(load.command, USUAL_HZ if name == "collector" else 499 if "dwarf" in name else USUAL_HZ, output, load.environment)
                if name == "collector":
                    complete, count, causes = complete_in_ours(bench, output)
                    rooted, whole = rooted_in_ours(bench, output)
                    told = f", by name {rooted / whole * 100:.2f} % of the time" + (f"; the others: {causes}" if causes else "")
                    if load.name not in ("JVM", "node"):
                        native_complete, native_count = native_complete + complete, native_count + count
                else:
                    complete, count = complete_in_perf(output)
                    told = ""
            except CannotMeasure as reason:
                report.say(f"{load.name:20}{name:26}failed: {reason}")
                continue
            shares[name] = f"{complete / max(count, 1) * 100:.2f} %"
            report.say(f"{load.name:20}{name:26}{count:8} stacks, complete {shares[name]:>9}{told}")
        if "collector" in shares and (load.name in ("JVM", "node") or not bench.is_quick):
            report.head(f"complete stacks, {load.name}", shares["collector"], ", ".join(f"{name.replace('task-clock:u ', '')} {share}" for name, share in shares.items() if name != "collector"))
    if native_count:
        share = native_complete / native_count
        report.head("complete stacks, native distribution programs", f"{share * 100:.3f} %", "", ">= 99.9 %", share >= 0.999)
    report.say()
    instructions = exact = 0
    for name, stepped, right in iter_stepped(bench):
        instructions, exact = instructions + stepped, exact + right
        report.say(f"stepped: {name:20}{stepped:10} instructions, {stepped - right:5} without the exact stack: {right / stepped * 100:.5f} %")
    if instructions:
        report.head("stacks exact at every instruction", f"{exact / instructions * 100:.4f} % of {instructions:,}")
    for line in missing:
        report.say(line)
    return report


if __name__ == "__main__":
    main(__file__, measure_it)
