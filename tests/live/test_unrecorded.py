"""test_unrecorded -- descendants in which nothing is recorded: each is named once, with the reason, and nobody else is"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from recorded import TARGETS, Recorded, collector_command, execute

from collector.experiment.log_reader import EventReader
from collector.format import Kind

Compile = Callable[..., Path]
Record = Callable[..., Recorded]
STATIC = "it is statically linked, so that no recorder can be preloaded into it"
HELPER = TARGETS / "runs_a_helper.py"


@pytest.fixture
def static(compiled: Compile) -> Path:
    probe = subprocess.run(["gcc", "-x", "c", "-", "-static", "-o", os.devnull], input="int main(void) { return 0; }", text=True, capture_output=True)
    if probe.returncode:
        pytest.skip(f"gcc -static cannot link here: {probe.stderr.strip().splitlines()[-1]}")
    return compiled("waits_for_end.c", "-O1", "-static")


def unrecorded(recorded: Recorded) -> list[tuple[int, int | None, str | None, str | None]]:
    events = [event for event in EventReader(recorded.path / "launch.log") if event.kind is Kind.SYSEXIT]
    return [(event.pid, event.status, event.path, event.reason) for event in events]


def report(recorded: Recorded, *words: object) -> str:
    return execute(collector_command("report", recorded.path, *words, "--width", 200)).stdout


def test_a_shell_that_runs_a_static_program(record: Record, static: Path) -> None:
    """The subshell closed its log for the exec: no look at the running process is needed."""
    recorded = record(["sh", "-c", '(exec "$0" </dev/null); echo $?', static], options=["-S", "off"])
    assert recorded.outcome.stdout == "ready\n3\n"
    ((_, status, path, reason),) = unrecorded(recorded)
    assert (status, path, reason) == (None, str(static), STATIC)
    assert f"collector: 1 process was not recorded: {static}: {STATIC}\n" in recorded.outcome.stderr
    assert f"Unrecorded  1 process: {STATIC}; see `processes`" in " ".join(report(recorded).split("\n"))
    assert f"1 process of {static}: {STATIC}" in report(recorded, "processes")


def test_a_shell_that_becomes_a_static_program(record: Record, static: Path) -> None:
    recorded = record(["sh", "-c", 'exec "$0" </dev/null', static])
    assert recorded.outcome.status == 3
    ((pid, status, path, reason),) = unrecorded(recorded)
    assert (status, path, reason) == (3 << 8, str(static), STATIC)
    assert pid == recorded.profile.processes[0].pid


@pytest.mark.parametrize("how", ["fork", "posix_spawn", "subprocess"])
def test_a_static_helper(record: Record, static: Path, tmp_path: Path, how: str) -> None:
    path = tmp_path / "a.expt"
    recorded = record([sys.executable, HELPER, how, static, path], options=["-S", "0.02"], experiment=path)
    assert recorded.outcome.status == 0, recorded.outcome.stderr
    assert unrecorded(recorded) == [(int(recorded.outcome.stdout), None, str(static), STATIC)]


def test_a_helper_that_is_not_followed(record: Record, compiled: Compile, tmp_path: Path) -> None:
    """Only seen by looking: with -F off its log was never to be. Nobody is told what he asked for."""
    program, path = compiled("waits_for_end.c"), tmp_path / "a.expt"
    recorded = record([sys.executable, HELPER, "posix_spawn", program, path], options=["-S", "0.02", "-F", "off"], experiment=path)
    (found,) = [one for one in unrecorded(recorded) if one[2] == str(program)]
    assert found[3] == "descendants are not followed (-F off)"
    assert "not recorded" not in recorded.outcome.stderr


def test_a_helper_whose_name_does_not_match(record: Record, compiled: Compile) -> None:
    recorded = record(["sh", "-c", '(exec "$0" </dev/null); :', compiled("waits_for_end.c")], options=["-F", "=^(sh|dash|bash)$"])
    ((_, _, path, reason),) = unrecorded(recorded)
    assert (path, reason) == (str(compiled("waits_for_end.c")), "its name does not match -F =^(sh|dash|bash)$")


def test_one_that_goes_on_when_the_recording_ends(record: Record, static: Path, tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with open(fifo, "r+b", buffering=0):
        recorded = record(["sh", "-c", '"$0" <"$1" >"$2" 2>&1 & while ! grep -q ready "$2"; do :; done', static, fifo, tmp_path / "out"])
        ((_, _, path, reason),) = unrecorded(recorded)
    assert (path, reason) == (str(static), f"{STATIC} (it was still running when the recording ended)")


def test_a_static_command_run_for_its_descendants(record: Record, static: Path) -> None:
    recorded = record([static], options=["-F", "on"])
    assert [one[1:] for one in unrecorded(recorded)] == [(3 << 8, str(static), STATIC)]


def test_recorded_descendants_are_none_of_them(record: Record) -> None:
    """Short ones, looked at often: whatever moment of their lives is met, they have or will have a log."""
    script = 'i=0; while [ "$i" -lt 200 ]; do /bin/true; i=$((i+1)); done; (sh -c "exec sh -c :") & wait'
    recorded = record(["sh", "-c", script], options=["-S", "0.002"])
    assert unrecorded(recorded) == []
    assert len({process.pid for process in recorded.profile.processes}) == 202


def test_processes_of_another_namespace_are_none_of_them(record: Record, compiled: Compile, tmp_path: Path) -> None:
    """They name their logs by numbers of their own."""
    enter = ["unshare", "--user", "--map-root-user", "--pid", "--fork"]
    if not shutil.which("unshare") or subprocess.run([*enter, "true"], capture_output=True).returncode:
        pytest.skip("this system makes no PID namespaces for us")
    path = tmp_path / "a.expt"
    recorded = record([*enter, sys.executable, HELPER, "fork", compiled("waits_for_end.c"), path], options=["-S", "0.02"], experiment=path)
    assert recorded.outcome.status == 0, recorded.outcome.stderr
    assert unrecorded(recorded) == []


@pytest.mark.parametrize("is_same", [True, False], ids=["same", "other"])
def test_a_recording_inside_has_its_own_processes(record: Record, recorder: Path, compiled: Compile, tmp_path: Path, is_same: bool) -> None:
    """By the same recorder or by one of another installation: each process is in one recording, once, and that is no loss."""
    library = recorder if is_same else Path(shutil.copy(recorder, tmp_path / recorder.name))
    inner = collector_command("record", "--metric-interval", "off", "-o", tmp_path / "inner.expt", "--", compiled("metric_load.c"), 30)
    outer = record(["env", f"COLLECTOR_LIBRARY={library}", *inner])
    inside = Recorded(outer.outcome, tmp_path / "inner.expt")
    assert len(inside.profile.processes) == 1
    assert not {process.pid for process in outer.profile.processes if process.executable.endswith("/metric_load")}
    assert [one.reason for one in outer.profile.unrecorded] == ["another recording has it"]
    assert "not recorded" not in outer.outcome.stderr
