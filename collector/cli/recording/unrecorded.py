"""unrecorded -- descendants in which nothing was recorded: found, explained, written into launch.log as SYSEXIT

They are known from three sides. Whoever runs a program that the recorder cannot be preloaded into says so in its own
log. Logs tell of processes that ran another program (`execve`) whose log never began. And while the command runs,
whoever is below it without a log is seen at each periodic sample (capture/descendants.py).
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from functools import cache
from itertools import count

from collector.capture.descendants import Descendant, DescendantWatch
from collector.capture.job_directory import why_not
from collector.capture.launch import Ending
from collector.capture.program import Program, explain_obstacle
from collector.capture.recorded_processes import read_start
from collector.cli.recording.launch_log import LaunchLog
from collector.experiment.log_outline import read_beginning
from collector.experiment.missing_logs import DELETED, NOT_MADE, is_log_missing
from collector.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collector.experiment.totals import LastExec, Totals, UnrecordedProgram

NOT_STARTED = "the recorder did not start in it"
ELSEWHERE = "another recording has it"  # says the recorder of the process that ran it
REPLACED = "it took a recorded program's place by a bare system call"
STILL_RUNNING = " (it was still running when the recording ended)"


class Explainer(NamedTuple):
    """Says why a program was not recorded. `follow` is COLLECTOR_FOLLOW, `recorder` the library's path, `ranks` what --ranks chose."""

    follow: str
    search_path: str
    recorder: str
    ranks: str = ""

    def explain(self, path: str, is_root: bool) -> str:
        """What was decided about it, or what its file says; "" if neither explains anything. The command itself is always followed."""
        if self.follow == "off" and not is_root:
            return "descendants are not followed (-F off)"
        if self.follow.startswith("=") and path and not is_root and not _matches(self.follow[1:], path):
            return f"its name does not match -F {self.follow}"
        if os.path.basename(os.path.dirname(path)) == "valgrind":
            return "valgrind runs it, which would report the recorder's doings as the program's"
        obstacle = explain_obstacle(path, self.search_path, self.recorder) if path else ""
        return obstacle or (f"it belongs to a rank that is not one of --ranks {self.ranks.replace('+', ',')}" if self.ranks and not is_root else "")


class Finding(NamedTuple):
    """A process in which nothing was recorded, and why. `is_command`: it was the command itself, from its start."""

    pid: int
    path: str
    reason: str
    is_command: bool = False


class UnrecordedDescendants:
    """Finds them from the beginning of a recording to its end, and writes each once."""

    def __init__(self, experiment: str, log: LaunchLog, program: Program, explainer: Explainer) -> None:
        self._experiment = experiment
        self._log = log
        self._program = program
        self._explain: Callable[[str, bool], str] = cache(explainer.explain)
        self._watch: DescendantWatch | None = None
        self._gone_with_log: list[Descendant] = []
        self._unexplained: list[Descendant] = []
        self._without_log: dict[int, str] = {}
        self._recorded: set[int] = set()
        self._paths: dict[int, str] = {}
        self._found: list[Finding] = []
        self._said: dict[int, UnrecordedProgram] = {}

    def watch(self, root_pid: int) -> None:
        """The command runs, as process `root_pid`."""
        self._watch = DescendantWatch(root_pid)

    def look(self, recorded_pids: Collection[int]) -> None:
        """Look at who is there beside the recorded ones, and write those who have gone."""
        if self._watch is None:
            return
        for one in self._watch.look(recorded_pids):
            if self._has_log(one):
                self._gone_with_log.append(one)  # its last log will say what became of it
            elif self._explain(one.path, False):
                self._write(one.pid, one.path)
            else:
                self._unexplained.append(one)  # some log may say why, in the end

    def note_recorded(self, own_pids: Collection[int], without_log: Mapping[int, tuple[int, str]]) -> None:
        """These processes had logs, as they count themselves, and these could make none: errno, and their program."""
        self._recorded.update(own_pids)
        self._without_log |= {pid: _explain_no_log(error) for pid, (error, _) in without_log.items()}
        self._paths |= {pid: path for pid, (_, path) in without_log.items()}

    def finish(self, totals: Totals, recorded_pids: Collection[int], ending: Ending) -> list[Finding]:
        """Write those who are left, by the last words of all logs, and give all that were found."""
        self._take_words()
        self._miss_logs(totals)
        self.look(recorded_pids)
        self._said = {one.pid: one for one in totals.unrecorded}
        for one in self._unexplained:
            self._write(one.pid, one.path)
        present = self._watch.remaining() if self._watch else []
        seen_with_log: dict[tuple[int, int | None], Descendant] = {(one.own_pid, int(one.started)): one for one in (*self._gone_with_log, *present)}
        for process, last in totals.execs.items():
            seen = seen_with_log.get((process.pid, process.start_ticks))
            path = (seen.path if seen else "") or _resolve(last)
            self._write(seen.pid if seen else process.pid, path, ending, is_new=seen is None or seen.look_count < 2)
        for one in present:
            if not self._has_log(one):
                self._write(one.pid, one.path, ending, is_new=one.look_count < 2)
        for process in totals.unclosed:
            seen = seen_with_log.get((process.pid, process.start_ticks))
            if seen is not None and seen.look_count > 1:
                self._write(seen.pid, seen.path, ending, unless_explained=REPLACED)
        if not self._has_logs_of(ending.pid):
            self._write(ending.pid, self._program.path, ending)
        for pid in self._without_log.keys() - {one.pid for one in self._found}:
            self._write(pid, totals.missing.get(pid) or self._paths.get(pid, ""), ending)
        found = {one.pid for one in self._found}
        self._found += [Finding(pid, one.path, one.reason) for pid, one in self._said.items() if pid not in found]
        return self._found

    def _take_words(self) -> None:
        """Take what processes left that could make no log: the names of empty files, or of directories where no descriptor was to be had, which say why."""
        for name in os.listdir(self._experiment):
            pid, is_one, number = name.partition(".no-log.")
            if is_one and pid.isdecimal() and number.isdecimal():
                self._without_log[int(pid)] = _explain_no_log(int(number))
                path = os.path.join(self._experiment, name)
                (os.rmdir if os.path.isdir(path) else os.unlink)(path)

    def _miss_logs(self, totals: Totals) -> None:
        """Of whom there was a log that is not there any more."""
        deleted = totals.missing.keys() | {pid for pid in self._recorded if not self._has_logs_of(pid)}
        self._without_log |= dict.fromkeys(deleted - self._without_log.keys(), DELETED)

    def _write(self, pid: int, path: str, ending: Ending | None = None, is_new: bool = False, unless_explained: str = NOT_STARTED) -> None:
        """Write one. Who is new, alive and like any other may just not have got so far as to have a log."""
        is_root = ending is not None and pid == ending.pid
        is_running = ending is not None and not is_root and read_start(str(pid)) is not None
        said = self._said.get(pid)
        reason = self._without_log.get(pid) or self._explain(path, is_root) or (said.reason if said else "")
        if is_running and is_new and not reason:
            return
        status = ending.status if ending is not None and is_root else None
        is_command = is_root and not self._has_logs_of(pid)
        finding = Finding(pid, path, (reason or unless_explained) + (STILL_RUNNING if is_running else ""), is_command)
        self._found.append(finding)
        if said is None or status is not None:  # else a log has it already
            self._log.unrecorded(pid, status, path or None, finding.reason)

    def _has_log(self, one: Descendant) -> bool:
        """Whether there is a log of it, and not only of another process of its number."""
        for image in count():
            try:
                start_ticks = read_beginning(self._log_path(one.own_pid, image)).get("start_ticks")
            except OSError:
                return False
            if start_ticks in (None, int(one.started)):
                return True
        return False

    def _has_logs_of(self, pid: int) -> bool:
        # Images are counted from 0 without gaps, so the first log is there if any is.
        return os.path.exists(self._log_path(pid, 0))

    def _log_path(self, pid: int, image: int) -> str:
        return os.path.join(self._experiment, f"{pid}.{image}.log")


def _matches(pattern: str, path: str) -> bool:
    import re  # takes longer to import than `true` runs

    return bool(re.search(pattern, os.path.basename(path)))


def _explain_no_log(error: int) -> str:
    return f"{NOT_MADE}: {why_not(error)}"


def why_no_command(found: Collection[Finding]) -> str:
    """Why nothing was recorded in the command itself; "" if it was, or nobody knows."""
    return next((f"{one.path}: {one.reason}" for one in found if one.is_command and one.reason != NOT_STARTED), "")


def count_missing_logs(found: Collection[Finding]) -> int:
    """Of how many of them something was lost: the recorder was in them."""
    return sum(is_log_missing(one.reason) for one in found)


def tell_unrecorded(found: Collection[Finding]) -> str:
    """One sentence about them; "" if there are none, or the user wanted it so."""
    surprising = [one for one in found if not _is_wanted(one)]
    if not surprising:
        return ""
    (path, reason), count = Counter((one.path, one.reason) for one in surprising).most_common(1)[0]
    others = len(surprising) - count
    number = "1 process was" if len(surprising) == 1 else f"{len(surprising):,} processes were"
    also = f"; {others:,} more: see the report's view `processes`" if others else ""
    return f"{number} not recorded: {path or 'an unknown program'}: {reason}{also}"


def _is_wanted(one: Finding) -> bool:
    """Whether the user asked for it: by -F, by a recording of its own, or as a command that is run for the sake of its descendants alone."""
    is_known = not is_log_missing(one.reason) and one.reason != NOT_STARTED
    return one.is_command and is_known or "-F" in one.reason or "--ranks" in one.reason or one.reason == ELSEWHERE


def _resolve(last: LastExec) -> str:
    """The program that an exec named, as seen from where it was called; a bare name stays one."""
    return os.path.join(last.directory, last.path.removeprefix("./")) if "/" in last.path else last.path
