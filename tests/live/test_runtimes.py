"""test_runtimes -- code that language runtimes make: the hint without `--jit`, names and whole stacks with it"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from recorded import TARGETS, Recorded, collector_command, execute, judge, tolerance

from collector.profile import aggregate

Record = Callable[..., Recorded]
NAMELESS = ("(no module)", "(anonymous code)")


def needs(tool: str) -> None:
    if not shutil.which(tool):
        pytest.skip(f"this system has no {tool}")


def nameless_share(recorded: Recorded) -> float:
    return sum(recorded.exclusive_ns(name) for name in NAMELESS) / recorded.total_ns


def judge_named(recorded: Recorded) -> None:
    share = nameless_share(recorded)
    judge(share <= 0.01 + tolerance(0.01, recorded.sample_count, 0), f"{100 * share:.2f} % of {recorded.sample_count} samples have no name")


def judge_rooted(recorded: Recorded) -> None:
    share = recorded.complete_share
    judge(share >= 0.99 - tolerance(0.99, recorded.sample_count, 0), f"{100 * share:.2f} % of {recorded.sample_count} stacks are whole: {recorded.unfinished}")


def report(recorded: Recorded, *words: object) -> str:
    outcome = execute(collector_command("report", recorded.path, *words))
    assert outcome.status == 0, outcome.stderr
    return outcome.stdout


def test_without_the_option_every_view_has_the_hint(record: Record) -> None:
    needs("node")
    recorded = record(["node", TARGETS / "busy_loops.js", 800])
    assert recorded.outcome.status == 0
    judge(nameless_share(recorded) > 0.1, "node compiled too little")
    for view in ("overview", "functions", "calltree", "threads", "header"):
        text = " ".join(report(recorded, view).split())
        assert text.count("in unnamed code of node") == 1 and "record it with --jit, or run node with --perf-basic-prof" in text
    (hint,) = [warning for warning in json.loads(report(recorded, "functions", "--json"))["warnings"] if "unnamed" in warning]
    assert "--jit" in hint


def test_the_users_options_stay(record: Record) -> None:
    needs("node")
    recorded = record(["node", "-p", "process.title"], options=["--jit"], environment={"NODE_OPTIONS": "--title=green"})
    assert recorded.outcome.stdout == "green\n"


@pytest.mark.parametrize(("tool", "program", "functions"), [
    ("node", "busy_loops.js", {"collatz"}), ("luajit", "busy_loops.lua", {"TRACE_1"}), ("pypy3", "busy_loops.py", {"collatz"}),
])
def test_other_runtimes_name_their_code(record: Record, tmp_path: Path, tool: str, program: str, functions: Sequence[str]) -> None:
    needs(tool)
    recorded = record([tool, TARGETS / program, 700], options=["--jit"], directory_to_run_in=tmp_path)
    assert recorded.outcome.status == 0 and recorded.outcome.stdout.lower() == "true\n"
    judge_named(recorded)
    files = {row.function.name: Path(row.function.file or "").name for row in aggregate.functions(recorded.profile)}
    assert {files.get(name) for name in functions} == {program}
    assert list(tmp_path.iterdir()) == [], "V8 begins a log beside its perf map"
    if tool == "node":
        judge_rooted(recorded)


def test_a_python_without_a_lock_is_told(record: Record, compiled: Callable[..., Path]) -> None:
    """Its stacks are native: what its threads write while they are read is not known."""
    recorded = record([compiled("python_without_lock.c", "-O1", "-rdynamic"), 50])
    assert recorded.outcome.status == 0
    assert "_PyEval_EvalFrameDefault" in recorded.function_names()
    for view in ("overview", "functions"):
        assert "Python functions are not shown: it is a build without a global interpreter lock." in " ".join(report(recorded, view).split())


def test_other_programs_do_not_notice(record: Record) -> None:
    recorded = record([sys.executable, "-c", "import os; print(os.environ['NODE_OPTIONS'])"], options=["--jit"], environment={"NODE_OPTIONS": ""})
    assert (recorded.outcome.stdout, recorded.outcome.own_stderr) == ("--perf-basic-prof --interpreted-frames-native-stack\n", "")
    assert list((recorded.path / "objects").glob("*")) == []
