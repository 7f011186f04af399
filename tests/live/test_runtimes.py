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


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not shutil.which("javac") or not shutil.which("java"):
        pytest.skip("this system has no JDK")
    directory = tmp_path_factory.mktemp("java")
    assert execute(["javac", "-d", directory, TARGETS / "HotJava.java"]).status == 0
    return directory


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


def test_hot_java_is_named_and_whole(record: Record, classes: Path) -> None:
    recorded = record(["java", "-cp", classes, "HotJava", 1500], options=["--jit"])
    assert (recorded.outcome.status, recorded.outcome.stdout) == (0, "true\n")
    assert "Picked up JAVA_TOOL_OPTIONS" in recorded.outcome.stderr
    judge_named(recorded)
    judge_rooted(recorded)
    assert any("HotJava.collatz(long)" in name for name in recorded.function_names())
    assert "jit=1" in recorded.profile.recordings[0].options


def test_without_the_option_every_view_has_the_hint(record: Record, classes: Path) -> None:
    recorded = record(["java", "-cp", classes, "HotJava", 800])
    assert recorded.outcome.status == 0 and "Picked up" not in recorded.outcome.stderr
    judge(nameless_share(recorded) > 0.1, "the JVM compiled too little")
    for view in ("overview", "functions", "calltree", "threads", "header"):
        text = " ".join(report(recorded, view).split())
        assert text.count("in unnamed code of Java") == 1 and "record it with --jit, or run Java with -XX:+PreserveFramePointer" in text
    (hint,) = [warning for warning in json.loads(report(recorded, "functions", "--json"))["warnings"] if "unnamed" in warning]
    assert "--jit" in hint


def test_the_users_options_stay(record: Record, classes: Path) -> None:
    recorded = record(["java", "-cp", classes, "HotJava", 50], options=["--jit"], environment={"JAVA_TOOL_OPTIONS": "-Dcolour=green"})
    assert recorded.outcome.stdout == "true\ngreen\n"


def test_every_process_of_a_tree_is_named(record: Record, classes: Path) -> None:
    command = f"java -cp '{classes}' HotJava 700 & java -cp '{classes}' HotJava 700; wait"
    recorded = record(["sh", "-c", command], options=["--jit"])
    assert recorded.outcome.stdout == "true\ntrue\n"
    assert len(list((recorded.path / "objects").glob("perf-*.map"))) == 2
    judge_named(recorded)
    judge_rooted(recorded)


def test_a_jvm_that_is_asked_to_end_writes_its_names(record: Record, classes: Path) -> None:
    recorded = record(["java", "-cp", classes, "HotJava", 700, "TERM"], options=["--jit"])
    assert recorded.outcome.status == 143
    judge_named(recorded)


def test_a_killed_jvm_is_told_why_it_has_no_names(record: Record, classes: Path) -> None:
    recorded = record(["java", "-cp", classes, "HotJava", 700, "KILL"], options=["--jit"])
    assert recorded.outcome.status == 137
    judge(nameless_share(recorded) > 0.01, "the JVM compiled too little")
    assert "a JVM writes the names when it exits" in " ".join(report(recorded, "functions").split())


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


def test_other_programs_do_not_notice(record: Record) -> None:
    recorded = record([sys.executable, "-c", "import os; print(os.environ['NODE_OPTIONS'])"], options=["--jit"], environment={"NODE_OPTIONS": ""})
    assert (recorded.outcome.stdout, recorded.outcome.own_stderr) == ("--perf-basic-prof --interpreted-frames-native-stack\n", "")
    assert list((recorded.path / "objects").glob("*")) == []
