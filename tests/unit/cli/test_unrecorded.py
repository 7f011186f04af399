"""test_unrecorded -- which descendants are written as not recorded, once, and why"""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from writer import LogBuilder, initialize

from collector.capture.descendants import Descendant
from collector.capture.launch import Ending
from collector.capture.program import Program
from collector.cli.recording.launch_log import LaunchLog
from collector.cli.recording.unrecorded import NOT_STARTED, Explainer, Finding, UnrecordedDescendants, count_missing_logs, tell_unrecorded
from collector.experiment.log_reader import EventReader
from collector.experiment.missing_logs import DELETED
from collector.experiment.origin import ProcessIdentity
from collector.experiment.totals import LastExec, Totals

GONE = 1 << 30  # no process has numbers from here on
ROOT = GONE + 1
ENDING = Ending(ROOT, 768, 5_000)


class Explain(Explainer):
    """Says of programs called static that they are, and of others what the follow rule says."""

    def explain(self, path: str, is_root: bool) -> str:
        return "it is static" if path.endswith("static") else ""


class Watch:
    """What a DescendantWatch would have seen: those who have gone, look for look, and those who are left."""

    def __init__(self, *gone: list[Descendant], left: tuple[Descendant, ...] = ()) -> None:
        self.gone, self.left = list(gone), list(left)

    def look(self, recorded_pids: object) -> list[Descendant]:
        return self.gone.pop(0) if self.gone else []

    def remaining(self) -> list[Descendant]:
        return self.left


def seen(pid: int, path: str, own_pid: int | None = None, look_count: int = 5) -> Descendant:
    return Descendant(pid, own_pid or pid, b"1", path, look_count)


def identity(pid: int) -> ProcessIdentity:
    """Of one that `seen` has seen."""
    return ProcessIdentity(pid, 0, 1)


@pytest.fixture
def finish(tmp_path: Path):
    """finish(watch, execs, logs=pids) gives (pid, status, path, reason) of what was written."""

    def run(
        watch: Watch, execs: dict[ProcessIdentity, LastExec] | None = None, logs: tuple[int, ...] = (ROOT,), looks: int = 1,
        recorded: tuple[int, ...] = (), missing: dict[int, str] | None = None, without_log: dict[int, tuple[int, str]] | None = None,
    ) -> list[tuple]:
        for pid in logs:
            (tmp_path / f"{pid}.0.log").write_bytes(b"")
        log = LaunchLog(str(tmp_path))
        unrecorded = UnrecordedDescendants(str(tmp_path), log, Program("/bin/static", (), "/bin/static", None, ""), Explain("on", "", ""))
        unrecorded._watch = watch  # type: ignore[assignment]
        for _ in range(looks):
            unrecorded.look([])
        log.finish(ROOT, None, ENDING)
        totals = Totals()
        totals.execs, totals.missing = execs or {}, missing or {}
        unrecorded.note_recorded(recorded, without_log or {})
        found = unrecorded.finish(totals, [], ENDING)
        log.close()
        written = [(e.pid, e.status, e.path, e.reason) for e in EventReader(tmp_path / "launch.log") if e.kind.name == "SYSEXIT"]
        assert [(one.pid, one.reason) for one in found] == [(pid, reason) for pid, _, _, reason in written]
        return written

    return run


def test_nobody(finish) -> None:
    assert finish(Watch()) == []


def test_seen_and_gone_without_a_log(finish) -> None:
    assert finish(Watch([seen(GONE, "/bin/static")])) == [(GONE, None, "/bin/static", "it is static")]


def test_seen_and_gone_like_any_other(finish) -> None:
    assert finish(Watch([seen(GONE, "/bin/ls")])) == [(GONE, None, "/bin/ls", NOT_STARTED)]


def test_one_with_a_log_was_recorded(finish) -> None:
    assert finish(Watch([seen(GONE, "/bin/static")]), logs=(ROOT, GONE)) == []


def test_one_whose_log_ends_in_an_exec_was_not(finish) -> None:
    execs = {identity(GONE): LastExec("static", "/tmp"), identity(GONE + 7): LastExec("./static", "/tmp"), identity(GONE + 8): LastExec("", "/tmp")}
    assert finish(Watch([seen(GONE, "/bin/static")]), execs, logs=(ROOT, GONE, GONE + 7, GONE + 8)) == [
        (GONE, None, "/bin/static", "it is static"),
        (GONE + 7, None, "/tmp/static", "it is static"),
        (GONE + 8, None, None, NOT_STARTED),
    ]


@pytest.mark.parametrize(("start_ticks", "is_written"), [(0, True), (1, False)])
def test_the_log_of_another_process_of_its_number_does_not_count(finish, tmp_path: Path, start_ticks: int, is_written: bool) -> None:
    (tmp_path / f"{GONE}.0.log").write_bytes(LogBuilder().add(initialize(pid=GONE, start_ticks=0)).data)
    (tmp_path / f"{GONE}.1.log").write_bytes(LogBuilder().add(initialize(pid=GONE, start_ticks=start_ticks)).data)
    assert bool(finish(Watch([seen(GONE, "/bin/static")]))) is is_written


def test_one_in_a_namespace_has_its_log_by_its_own_number(finish) -> None:
    assert finish(Watch([seen(GONE, "/bin/static", own_pid=2)]), logs=(ROOT, 2)) == []


def test_one_in_a_namespace_is_written_by_the_number_we_know(finish) -> None:
    assert finish(Watch([seen(GONE, "/bin/static", own_pid=3)]), {identity(3): LastExec("static", "/")}, logs=(ROOT, 3))[0][0] == GONE


def test_the_command_itself_has_its_status(finish) -> None:
    assert finish(Watch(), logs=()) == [(ROOT, 768, "/bin/static", "it is static")]


def test_the_command_that_ran_another_program(finish) -> None:
    assert finish(Watch(), {identity(ROOT): LastExec("/x/static", "/tmp")}) == [(ROOT, 768, "/x/static", "it is static")]


def test_still_running(finish) -> None:
    """One that has just been born may not have got as far as its log; one that was seen twice has had its time."""
    alive = os.getpid()
    running = "(it was still running when the recording ended)"
    assert finish(Watch(left=(seen(alive, "/bin/static", look_count=1),))) == [(alive, None, "/bin/static", f"it is static {running}")]


@pytest.mark.parametrize(("look_count", "is_written"), [(1, False), (2, True)])
def test_still_running_like_any_other(finish, look_count: int, is_written: bool) -> None:
    assert bool(finish(Watch(left=(seen(os.getpid(), "/bin/ls", look_count=look_count),)))) is is_written


def test_a_log_that_was_deleted(finish) -> None:
    """Whether the processes were seen, or only other logs, or their clocks, tell of them."""
    missing = {GONE: "/bin/a", ROOT: "/bin/sh"}
    assert finish(Watch([seen(GONE + 7, "/bin/b")]), logs=(GONE + 8,), recorded=(GONE + 7, GONE + 8, GONE + 9), missing=missing) == [
        (GONE + 7, None, "/bin/b", DELETED), (ROOT, 768, "/bin/static", DELETED), (GONE, None, "/bin/a", DELETED), (GONE + 9, None, None, DELETED),
    ]  # fmt: skip


def test_who_could_make_no_log(finish) -> None:
    found = finish(Watch(), without_log={GONE: (errno.EACCES, "/bin/a")})
    assert found == [(GONE, None, "/bin/a", "no log could be made: permission denied")]


def test_missing_logs_are_counted() -> None:
    reasons = DELETED, NOT_STARTED, "no log could be made: permission denied", "it is static"
    assert count_missing_logs([Finding(1, "/bin/a", reason) for reason in reasons]) == 2


def test_reasons(tmp_path: Path) -> None:
    assert Explainer("off", "", "").explain("/bin/ls", False) == "descendants are not followed (-F off)"
    assert Explainer("=^c", "", "").explain("/bin/ls", False) == "its name does not match -F =^c"
    assert Explainer("=^l", "", "").explain("/bin/nosuch-ls", False) == "its name does not match -F =^l"
    for follow in "on", "off", "=^c":
        assert Explainer(follow, "", str(tmp_path)).explain("/nosuch", True) == ""
    assert Explainer("on", "", "").explain("", False) == ""


def test_the_sentence() -> None:
    one = Finding(1, "/bin/static", "it is static")
    assert tell_unrecorded([]) == ""
    assert tell_unrecorded([Finding(ROOT, "/bin/static", "it is static", True)]) == ""
    assert tell_unrecorded([Finding(ROOT, "/bin/sh", NOT_STARTED, True)]) == f"1 process was not recorded: /bin/sh: {NOT_STARTED}"
    assert tell_unrecorded([Finding(ROOT, "/bin/sh", DELETED, True)]) == "1 process was not recorded: /bin/sh: its log was deleted"
    assert tell_unrecorded([Finding(1, "/bin/ls", "descendants are not followed (-F off)")]) == ""
    assert tell_unrecorded([one]) == "1 process was not recorded: /bin/static: it is static"
    assert tell_unrecorded([Finding(3, "", NOT_STARTED), one, one]) == (
        "3 processes were not recorded: /bin/static: it is static; 1 more: see the report's view `processes`"
    )
