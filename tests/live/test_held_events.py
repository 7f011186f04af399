"""test_held_events -- the launcher holds the perf events of those it records, as long as they live, and nobody needs it to stay alive"""

from __future__ import annotations

import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from recorded import Recorded, execute, judge_at_least

PERF_RUNGS = ("sigtrap", "task-clock")
EVENTS_A_THREAD = 2  # a clock, and page faults where there are many


@pytest.fixture
def run(record: Callable[..., Recorded], rung_works: Callable[[str], None], compiled: Callable[..., Path]) -> Callable[..., Recorded]:
    def run_case(clock: str, *words: object) -> Recorded:
        rung_works(clock)
        return record([compiled("held_events.c"), *words], clock=clock)

    return run_case


@pytest.mark.parametrize("clock", PERF_RUNGS)
def test_launcher_is_killed(run: Callable[..., Recorded], clock: str) -> None:
    """All threads find their event dead and open one of their own: what they do meanwhile is part of their next sample."""
    recorded = run(clock, "killed")
    assert recorded.outcome.status == -signal.SIGKILL, "that is the launcher"
    truth = recorded.outcome.truth
    judge_at_least(recorded, "before", 0.8 * truth["before_it"])
    judge_at_least(recorded, "after", 0.8 * truth["after_it"])
    judge_at_least(recorded, "thread_after", 0.8 * truth["thread_after_it"])
    assert recorded.lost_count == 0


@pytest.mark.parametrize("clock", PERF_RUNGS)
def test_experiment_ends_before_its_process(run: Callable[..., Recorded], clock: str) -> None:
    truth = run(clock, "terminated").outcome.truth
    assert truth["processes_before"] == 1 and truth["held_before"] >= 1
    assert (truth["held_after"], truth["timers_after"]) == (0, 0)


@pytest.mark.parametrize("clock", PERF_RUNGS)
def test_events_end_with_their_processes(run: Callable[..., Recorded], clock: str) -> None:
    truth = run(clock, "children", 500).outcome.truth
    assert (truth["failed"], truth["processes_first"], truth["processes_last"]) == (0, 1, 1)
    assert truth["held_last"] <= EVENTS_A_THREAD


def test_many_at_a_time(run: Callable[..., Recorded]) -> None:
    truth = run("sigtrap", "crowd", 300).outcome.truth
    assert (truth["visible"], truth["processes_at_most"], truth["processes_last"]) == (0, 301, 1)
    assert truth["held_last"] <= EVENTS_A_THREAD


def can(*words: str) -> bool:
    return shutil.which(words[0]) is not None and subprocess.run([*words, "true"], capture_output=True).returncode == 0


def test_in_another_network(record: Callable[..., Recorded], rung_works: Callable[[str], None]) -> None:
    """Abstract sockets are not seen from there, but files are."""
    rung_works("sigtrap")
    if not can("unshare", "-n"):
        pytest.skip("a network namespace needs unshare and the right to make one")
    command = ["unshare", "-n", "ls", "/proc/self/fd"]
    assert record(command, clock="sigtrap", options=["--metric-interval", "off"]).outcome.stdout == execute(command).stdout


def test_with_a_long_path(record: Callable[..., Recorded], rung_works: Callable[[str], None], tmp_path: Path) -> None:
    """The socket's file finds no room in an address: the abstract name does it."""
    rung_works("sigtrap")
    directory = tmp_path / ("d" * 100)
    directory.mkdir()
    command = ["ls", "/proc/self/fd"]
    recorded = record(command, clock="sigtrap", options=["--metric-interval", "off"], experiment=directory / "x.expt")
    assert recorded.outcome.stdout == execute(command).stdout


def test_nothing_stays_behind(record: Callable[..., Recorded], tmp_path: Path) -> None:
    path = tmp_path / "x.expt"
    record(["true"], experiment=path)
    assert not (path / "launcher.socket").exists()
