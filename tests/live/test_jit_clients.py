"""test_jit_clients -- compilers that nobody here wrote: HotSpot, V8, LLVM; each tells of its code in its own way"""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from recorded import TARGETS, Recorded, judge, judge_about, judge_at_least, judge_shares

from collector.experiment import events
from collector.experiment.merge import events as iter_events
from collector.format import MapAction, MapKind
from collector.profile import aggregate
from collector.target.perf_map import read_perf_map

Record = Callable[..., Recorded]


@pytest.fixture
def needs() -> Callable[[str], None]:
    """needs(tool) skips the test where it is not installed."""

    def check(tool: str) -> None:
        if not shutil.which(tool):
            pytest.skip(f"{tool} is not installed")

    return check


@pytest.fixture(scope="module")
def java_classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not shutil.which("javac") or not shutil.which("java"):
        pytest.skip("no JDK is installed")
    directory = tmp_path_factory.mktemp("java")
    subprocess.run(["javac", "-J-XX:TieredStopAtLevel=1", "-d", directory, TARGETS / "BusyJava.java"], check=True, capture_output=True)
    return directory


def told_functions(recorded: Recorded) -> list[events.MappingChange]:
    return [
        event for event in iter_events(recorded.path)
        if isinstance(event, events.MappingChange) and event.map_kind is MapKind.DYNAMIC_FUNCTION and event.action is MapAction.INSERT
    ]


def listed_stubs(classes: Path) -> set[str]:
    """The names of the stubs that HotSpot itself says it has made."""
    flags = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+PrintStubCode"]
    done = subprocess.run(["java", *flags, "-cp", classes, "BusyJava", "1"], capture_output=True, text=True, errors="replace")
    return set(re.findall(r"^StubRoutines::(\S.*) \[0x[0-9a-f]+, 0x[0-9a-f]+\] \(\d+ bytes\)$", done.stdout, re.MULTILINE))


def test_every_stub_of_hotspot_has_its_name(record: Record, java_classes: Path) -> None:
    recorded = record(["java", "-cp", java_classes, "BusyJava", 300])
    assert (recorded.outcome.status, recorded.outcome.stdout) == (0, "true\n")
    stubs = told_functions(recorded)
    names = {stub.name for stub in stubs}
    usual = {"Interpreter", "call_stub", "forward_exception", "catch_exception"}
    assert len(stubs) > 300 and usual <= {name.replace(" ", "_") for name in names}  # as JDK 25 spells them all
    assert all(stub.alias is None and stub.source is None and not stub.lines and stub.code for stub in stubs)
    assert recorded.lost_count == 0
    assert not listed_stubs(java_classes) - names


def test_methods_that_are_interpreted_stand_for_the_interpreter(record: Record, java_classes: Path) -> None:
    # 2 s by the clock on the wall: on a busy machine much less of it is CPU time, and the virtual machine's start takes as much as ever.
    recorded = record(["java", "-Xint", "-cp", java_classes, "BusyJava", 2000])
    own_ns = recorded.exclusive_ns("BusyJava.collatz") + recorded.exclusive_ns("BusyJava.main")
    judge(own_ns > 0.8 * recorded.total_ns, f"BusyJava: {own_ns / 1e6:.2f} ms of {recorded.total_ns / 1e6:.2f}")
    assert set(recorded.callers("BusyJava.main")) <= {"call_stub"}
    judge_at_least(recorded, "call_stub", 0.8 * recorded.total_ns)
    judge_at_least(recorded, "JavaMain", 0.8 * recorded.total_ns)


def node_works(*flags: str) -> bool:
    if not shutil.which("node"):
        return False
    return subprocess.run(["node", *flags, "-e", ""], capture_output=True, cwd="/", stdin=subprocess.DEVNULL).returncode == 0


@pytest.mark.parametrize("flags", [["--perf-basic-prof"], ["--perf-basic-prof", "--interpreted-frames-native-stack"], ["--perf-prof"]], ids=" ".join)
def test_functions_of_node(record: Record, tmp_path: Path, flags: list[str]) -> None:
    if not node_works("--allow-natives-syntax", "-e", ""):
        pytest.skip("node is not installed, or does not know these options")
    recorded = record(["node", "--allow-natives-syntax", *flags, TARGETS / "busy_node.js", 250], directory_to_run_in=tmp_path)
    assert recorded.outcome.status == 0, recorded.outcome.stderr
    truth = recorded.outcome.truth
    total_ns = recorded.total_ns
    # Now and then V8 makes room, compiles, and reads the clock, all of which is not in the function.
    for name in ("collatz", "sumUp"):
        judge_about(recorded, name, truth[name], 0.1 * total_ns)
    rows = {row.function.name: row for row in aggregate.functions(recorded.profile)}
    assert {Path(rows[name].function.file or "").name for name in ("collatz", "sumUp")} == {"busy_node.js"}
    lines = {(row.function.name, row.line) for row in aggregate.lines(recorded.profile) if (row.file or "").endswith("busy_node.js")}
    assert {("collatz", 3), ("sumUp", 4)} <= lines


def test_a_perf_map_of_a_killed_process_is_kept(record: Record, compiled: Callable[..., Path]) -> None:
    recorded = record([compiled("map_and_die.c"), 300])
    assert recorded.outcome.status == -signal.SIGKILL
    ns = recorded.outcome.truth
    judge_shares(recorded, {"first of the map": ns["first"], "second of the map": ns["second"]}, total_ns=recorded.total_ns, systematic=0.03)
    (kept,) = (recorded.path / "objects").glob("perf-*.map")
    assert [function.name for function in read_perf_map(str(kept))] == ["first of the map", "second of the map"]


def test_code_of_a_file_that_is_mapped_once_more_keeps_its_names(record: Record, compiled: Callable[..., Path]) -> None:
    recorded = record([compiled("mapped_again.c"), 150])
    assert recorded.outcome.status == 0
    judge_shares(recorded, recorded.outcome.truth, total_ns=recorded.total_ns, systematic=0.03)
    assert len({row.module.path for row in aggregate.functions(recorded.profile) if row.function.name.startswith("spin_")}) == 1


@pytest.mark.parametrize("before_pid", ["", "17-"], ids=["jit-PID.dump", "jit-THREAD-PID.dump"])
def test_a_jitdump_with_code_lines_and_moves(record: Record, compiled: Callable[..., Path], tmp_path: Path, before_pid: str) -> None:
    recorded = record([compiled("dump_code.c"), 150, before_pid], directory_to_run_in=tmp_path)
    assert recorded.outcome.status == 0, recorded.outcome.stderr
    truth = recorded.outcome.truth
    judge_shares(recorded, {"tenant one": truth["one"], "tenant two": truth["two"], "moved": truth["moved"]}, total_ns=recorded.total_ns, systematic=0.02)
    lines = {row.line for row in aggregate.lines(recorded.profile) if row.function.name == "tenant two"}
    assert lines == {21, 12}
    assert recorded.profile.codes and all(code.data for code in recorded.profile.codes)


def test_modules_that_llvm_makes(record: Record) -> None:
    pytest.importorskip("llvmlite", reason="llvmlite is not installed (pip install llvmlite)")
    recorded = record([sys.executable, TARGETS / "jit_by_llvm.py", 250])
    assert recorded.outcome.status == 0, recorded.outcome.stderr
    truth = recorded.outcome.truth
    judge_shares(recorded, truth, total_ns=recorded.total_ns, systematic=0.03)
    for name in truth:
        assert set(recorded.callers(name)) == {f"{name}_outer"}
    assert recorded.complete_share > 0.99, "stacks lead through its code by the tables it registered"
