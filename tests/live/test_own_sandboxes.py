"""test_own_sandboxes -- programs under seccomp end as ever, and are recorded as far as their filter allows"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from ahead import plan, planned
from recorded import IS_THOROUGH, ROOT, RUNGS, Recorded, execute, judge_at_least, with_clocks

from collector.experiment.merge import events
from collector.format import CloseReason, Kind

FLAGS = ("-O1", f"-I{ROOT}/libcollector_c/src")

# What each case of seccomp_games.c leaves of its recording: the processes whose log the sandbox ended, and what the closing lines say.
ENDED = "and its recording ended there"
GAMES = {
    "strict": (1, f"the program entered the strict mode of seccomp, {ENDED}"),
    "kill": (1, f"does not let the recorder call rt_sigreturn, {ENDED}"),
    "trap": (1, f"does not let the recorder call rt_sigreturn, {ENDED}"),
    "errno": (1, f"does not let the recorder call rt_sigreturn, {ENDED}"),
    "allow": (0, ""),
    "refused": (1, "the kernel refused that, and recording went on"),
    "thread_strict": (0, f"a thread entered the strict mode of seccomp, {ENDED}"),
    "thread_kill": (0, f"a thread entered seccomp with a filter that does not let the recorder call rt_sigprocmask, {ENDED}"),
    "thread_tsync": (1, f"the program entered seccomp with a filter that does not let the recorder call gettid, {ENDED}"),
    "exec_errno": (0, ""),
    "exec_kill": (1, f"does not let the recorder call gettid, {ENDED}"),
    "exact": (0, ""),
}


@pytest.fixture(scope="module")
def games(compiled: Callable[..., Path]) -> Path:
    program = compiled("seccomp_games.c", *FLAGS)
    if execute([program, "allow"]).status == 3:
        pytest.skip("this system has no seccomp filters")
    return program


ON_EACH_CLOCK = ("kill", "allow", "thread_kill", "exec_errno", "exec_kill")
"""Those of which it is judged what was recorded."""


@planned(lambda games, clock, game: plan(games, game, clock=clock))
@pytest.mark.parametrize(("game", "clock"), [*with_clocks([game for game in GAMES if game not in ON_EACH_CLOCK]), *((game, clock) for game in ON_EACH_CLOCK for clock in RUNGS)])
def test_sandboxes(unharmed_case: Callable[[], Recorded], clock: str, game: str) -> None:
    """Nothing is killed that is not killed natively, and the report says where recording ended.

    All that was written before is read back; what comes after is there if the filter lets it be, of other threads in any case. A filter that was let through by errors is
    known to the next image, which records under it; under one that would kill it it stays out.
    """
    recorded = unharmed_case()
    closed_count, sentence = GAMES[game]
    reasons = [event.reason for event in events(recorded.path) if event.kind is Kind.CLOSELOG]
    assert reasons.count(CloseReason.SECCOMP) == closed_count
    assert sentence in recorded.outcome.stderr
    assert (ENDED in recorded.outcome.stderr) == (ENDED in sentence or game == "refused")
    assert recorded.lost_count == 0
    if game in ON_EACH_CLOCK:
        judge_at_least(recorded, "work_before", 1)
    if game in ("kill", "thread_kill"):
        assert recorded.inclusive_ns("work_after") == 0
    if game == "allow":
        judge_at_least(recorded, "work_after", 0.9 * recorded.outcome.truth["work_after_ns"])
    if game == "thread_kill":
        judge_at_least(recorded, "work_beside", 0.9 * recorded.outcome.truth["work_beside_ns"])
    if game.startswith("exec_"):
        logs = sorted(path.name for path in recorded.path.glob("*.1.log"))
        assert (len(logs) == 1) == (game == "exec_errno"), logs


def test_a_filter_that_nobody_saw(record: Callable[..., Recorded], games: Path) -> None:
    """More filters than were judged, here as if a static program had installed one: the image stays out of the way, and runs."""
    recorded = record(["env", "COLLECTOR_SECCOMP=0000", games, "exec_errno"])
    assert recorded.outcome.status == 0
    plain = execute([games, "plain"], {"COLLECTOR_SECCOMP": "0000"})
    assert plain.stdout == "plain\n"


def test_valgrind(record: Callable[..., Recorded], compiled: Callable[..., Path]) -> None:
    """Valgrind reports what it reports of the program alone: no allocation, no error, no system call of ours. A thorough run tries more of its tools."""
    if not shutil.which("valgrind"):
        pytest.skip("valgrind is not installed")
    program = compiled("split_cpu.c")
    for tool in ("memcheck", "helgrind", *(("callgrind", "drd") if IS_THOROUGH else ())):
        command = ["valgrind", "-q" if tool != "memcheck" else "-v", "--callgrind-out-file=/dev/null" if tool == "callgrind" else "--error-exitcode=9", f"--tool={tool}", program, 5]
        plain, recorded = execute(command), record(command)
        assert recorded.outcome.status == plain.status == 0, recorded.outcome.stderr
        summary = [line.partition("== ")[2] for line in plain.stderr.splitlines() if "in use at exit" in line or "ERROR SUMMARY" in line]
        found = [line.partition("== ")[2] for line in recorded.outcome.own_stderr.splitlines() if "in use at exit" in line or "ERROR SUMMARY" in line]
        assert found == summary
        assert not [line for line in recorded.outcome.own_stderr.splitlines() if "unknown" in line or "internal error" in line]
        assert "valgrind runs it" in recorded.outcome.stderr


def test_valgrind_outside(compiled: Callable[..., Path], tmp_path: Path, recorder: Path) -> None:
    """Where a user has Valgrind preload the recorder by hand, it does nothing."""
    if not shutil.which("valgrind"):
        pytest.skip("valgrind is not installed")
    done = execute(["valgrind", "--error-exitcode=9", compiled("split_cpu.c"), 5], {"LD_PRELOAD": str(recorder), "COLLECTOR_EXPERIMENT": str(tmp_path / "e.expt")})
    assert done.status == 0
    assert "All heap blocks were freed" in done.stderr
    programs = {os.path.basename(str(event.executable)) for event in events(tmp_path / "e.expt") if event.kind is Kind.INITIALIZE}
    assert "split_cpu" not in programs
