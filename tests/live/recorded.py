"""recorded -- run a target plain and recorded, read the recording back, and judge it by the truth the target printed

A target's truth is lines `name number` of its standard output. Shares of time are held against it with a tolerance
that comes from the number of samples: four standard errors of a binomial share, and a small term for what is
systematic (a sample's length at the edges of a function, the target's own clock reading).
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from math import sqrt
from pathlib import Path
from typing import TypeVar

from started import COLLECTOR, starter

from collector.capture.native import probe_event
from collector.load import load
from collector.profile import aggregate
from collector.profile.callers_callees import callers_callees
from collector.profile.causes import is_finished
from collector.profile.metrics import is_hidden
from collector.profile.model import Profile

ROOT = Path(__file__).resolve().parents[2]
TARGETS = ROOT / "tests" / "targets"
RUNGS = ("sigtrap", "task-clock", "cpu-timer")
IS_THOROUGH = bool(os.environ.get("COLLECTOR_TEST_THOROUGH"))

Case = TypeVar("Case")

_VARIABLES = ("LD_PRELOAD", "COLLECTOR_EXPERIMENT", "COLLECTOR_OPTIONS", "COLLECTOR_FOLLOW")
_TRUTH = re.compile(r"^(\S+) (-?\d+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run showed to those outside: `status` negative for a signal, `usage_ns` the CPU time of it and all it waited for."""

    status: int
    stdout: str
    stderr: str
    usage_ns: int = 0

    @property
    def own_stderr(self) -> str:
        """Its standard error without the sentences of `collector record`."""
        return "".join(line for line in self.stderr.splitlines(True) if not line.startswith("collector:"))

    @property
    def truth(self) -> dict[str, int]:
        """The numbers it printed, by name."""
        return {name: int(number) for name, number in _TRUTH.findall(self.stdout)}


def clean_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's environment without anything of a recording, and with `extra`."""
    # One by one: pytest sets and removes a variable of its own meanwhile, where this is asked for in a thread.
    kept = {key: value for key in list(os.environ) if key not in _VARIABLES and (value := os.environ.get(key)) is not None}
    return {**kept, "LC_ALL": "C.UTF-8", **(extra or {})}


def execute(
    command: Sequence[object], environment: Mapping[str, str] | None = None, directory: Path | None = None, timeout_s: float = 120
) -> Outcome:
    """Run a command to its end; output bytes that are no UTF-8 become escapes. A run past the time limit fails the test."""
    words = [os.fspath(word) if isinstance(word, Path) else str(word) for word in command]
    whole = clean_environment(environment)
    if words[: len(COLLECTOR)] == COLLECTOR and not IS_THOROUGH and starter().can_start(words, whole):
        ended = starter().run(words[len(COLLECTOR) :], whole, os.path.abspath(directory or "."), timeout_s)
        return Outcome(ended.returncode, _text(ended.stdout), _text(ended.stderr), ended.usage_ns)
    before = _children_ns()
    done = subprocess.run(words, capture_output=True, cwd=directory, env=whole, stdin=subprocess.DEVNULL, timeout=timeout_s)
    return Outcome(done.returncode, _text(done.stdout), _text(done.stderr), _children_ns() - before)


def _text(output: bytes) -> str:
    return output.decode("utf-8", "backslashreplace")


def _children_ns() -> int:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return round((usage.ru_utime + usage.ru_stime) * 1e9)


class Recorded:
    """A recorded run: what it showed, and the experiment."""

    def __init__(self, outcome: Outcome, path: Path) -> None:
        self.outcome = outcome
        self.path = path

    @cached_property
    def profile(self) -> Profile:
        """The experiment as `collector report` reads it."""
        return load([str(self.path)])

    @cached_property
    def sample_count(self) -> int:
        return sum(self.profile.samples.cells().counts)

    @cached_property
    def total_ns(self) -> float:
        return aggregate.total_values(self.profile)[0] * 1e9

    @cached_property
    def _functions(self) -> dict[str, aggregate.FunctionRow]:
        rows: dict[str, aggregate.FunctionRow] = {}
        for row in aggregate.functions(self.profile):
            rows.setdefault(row.function.name, row)
        return rows

    @cached_property
    def without_inlines(self) -> Recorded:
        """The same, with inlined calls counted for the functions around them."""
        folded = Recorded(self.outcome, self.path)
        folded.profile = load([str(self.path)], has_inlines=False)
        return folded

    def function_names(self) -> list[str]:
        """Names of functions that have any time, busiest first."""
        return list(self._functions)

    def inclusive_ns(self, function: str) -> float:
        """CPU time of a function and all it called; 0 if it was never seen."""
        row = self._functions.get(function)
        return row.inclusive[0] * 1e9 if row else 0.0

    def seen_count(self, function: str) -> int:
        """Samples that found a function, or what it called."""
        row = self._functions.get(function)
        return round(row.inclusive[[metric.name for metric in self.profile.metrics].index("samples")]) if row else 0

    def exclusive_ns(self, function: str) -> float:
        row = self._functions.get(function)
        return row.exclusive[0] * 1e9 if row else 0.0

    def system_ns(self, function: str) -> float:
        """System CPU time of a function and all it called."""
        row = self._functions.get(function)
        return row.inclusive[2] * 1e9 if row else 0.0

    def callers(self, function: str) -> dict[str, float]:
        """Callers of a function and the ns it spent for each; "" is the start of a stack."""
        number = next((i for i, known in enumerate(self.profile.functions) if known.name == function), None)
        if number is None:
            raise Untrue(f"no sample of {function}")
        rows = callers_callees(self.profile, number).callers
        return {row.function.name if row.function else "": row.values[0] * 1e9 for row in rows}

    @cached_property
    def unfinished(self) -> dict[str, int]:
        """Samples whose stack does not reach the start of its thread, by cause."""
        return {row.cause: row.sample_count for row in aggregate.stack_ends(self.profile) if not is_finished(row.cause)}

    @property
    def complete_share(self) -> float:
        return 1 - sum(self.unfinished.values()) / max(1, self.sample_count)

    @property
    def clocks(self) -> set[str]:
        """The clocks that were really used."""
        return {process.clock.name for process in self.profile.processes if process.clock}

    @property
    def process_ns(self) -> int:
        """The CPU time that the program printed of its process, less what it had used before recording began."""
        return self.outcome.truth["process"] - self.unrecorded_ns

    @property
    def charged_ns(self) -> int:
        """What the kernel charged to the program in all, its end included, less what it had used before recording began."""
        return (self.profile.recordings[0].accounted_ns or 0) - self.unrecorded_ns

    @property
    def unrecorded_ns(self) -> int:
        return sum(process.unrecorded_ns for process in self.profile.processes)

    @property
    def logged_ns(self) -> int:
        """The CPU time that the processes used between the begin and the end of their logs."""
        return sum((process.user_ns or 0) + (process.system_ns or 0) for process in self.profile.processes)

    @property
    def shown_metrics(self) -> list[str]:
        return [metric.name for metric in self.profile.metrics if not is_hidden(metric.name)]

    @property
    def lost_count(self) -> int:
        return sum(loss.count for loss in self.profile.losses)

    @property
    def labels(self) -> list[str]:
        """Labels of the sample points that the program itself took, in order."""
        return [point.label for point in self.profile.points if point.cause == "api"]


def tolerance(share: float, sample_count: int, systematic: float = 0.01) -> float:
    """How far a measured share may be from the true one: four standard errors, and what is systematic."""
    share = min(1.0, max(0.0, share))
    return 4 * sqrt(max(share * (1 - share), 1 / max(1, sample_count)) / max(1, sample_count)) + systematic


class Untrue(AssertionError):
    """What is told of time is not so; all else that fails is harm."""


def judge(is_true: bool, sentence: str) -> None:
    """Assert what was measured: nobody can measure better than the clock that there is."""
    if not is_true:
        raise Untrue(sentence)


def judge_shares(
    recorded: Recorded, truth: Mapping[str, int], total_ns: float | None = None, names: Iterable[str] | None = None, systematic: float = 0.01
) -> None:
    """Assert that each function's inclusive share of the whole is what the target printed."""
    names = list(names or truth)
    true_total = total_ns if total_ns is not None else sum(truth[name] for name in names)
    wrong = []
    for name in names:
        share, measured = truth[name] / true_total, recorded.inclusive_ns(name) / recorded.total_ns
        allowed = tolerance(share, recorded.sample_count, systematic)
        if abs(measured - share) > allowed:
            wrong.append(f"{name}: {share:.4f} true, {measured:.4f} measured, {allowed:.4f} allowed")
    judge(not wrong, f"{'; '.join(wrong)} ({recorded.sample_count} samples)")


def judge_total(recorded: Recorded, true_ns: float, share: float = 0.01, slack_ns: float = 2e6) -> None:
    """Assert that all samples together stand for the CPU time that the kernel accounted."""
    judge(
        abs(recorded.total_ns - true_ns) <= share * true_ns + slack_ns,
        f"{recorded.total_ns / 1e6:.2f} ms in samples, {true_ns / 1e6:.2f} ms accounted",
    )


def judge_process(recorded: Recorded, share: float = 0.01) -> None:
    """Assert that all samples together stand for the CPU time that the program printed of its process."""
    judge_total(recorded, recorded.process_ns, share)


def judge_at_least(recorded: Recorded, function: str, least_ns: float) -> None:
    """Assert that a function and all it called have at least so much CPU time."""
    measured_ns = recorded.inclusive_ns(function)
    judge(measured_ns >= least_ns, f"{function}: {measured_ns / 1e6:.2f} ms in samples, at least {least_ns / 1e6:.2f} expected")


def judge_about(recorded: Recorded, function: str, true_ns: float, allowed_ns: float) -> None:
    """Assert that a function and all it called have the CPU time that is true, but for so much."""
    measured_ns = recorded.inclusive_ns(function)
    judge(abs(measured_ns - true_ns) <= allowed_ns, f"{function}: {measured_ns / 1e6:.2f} ms in samples, {true_ns / 1e6:.2f} true, {allowed_ns / 1e6:.2f} allowed")


def judge_stacks(recorded: Recorded, share: float = 0.995) -> None:
    """Assert that stacks reach the start of their thread, but for a share of them, and two standard errors of that; of few samples one may not."""
    usual_count = (1 - share) * recorded.sample_count
    allowed = max(1, usual_count + 2 * sqrt(usual_count))
    assert sum(recorded.unfinished.values()) <= allowed, f"unfinished of {recorded.sample_count}: {recorded.unfinished}"


def collector_command(*words: object) -> list[object]:
    """The command line of `collector ...` of the package under test."""
    return [*COLLECTOR, *words]


def with_clocks(cases: Iterable[Case]) -> list[tuple[Case, str]]:
    """Each case on the usual clock, and every second one on one of the two that stand in for it, in turns; on all of them where the usual one is not to be had, and where all is to be tried."""
    first, *others = RUNGS
    if IS_THOROUGH or not is_granted_sigtrap():
        return [(case, clock) for case in cases for clock in RUNGS]
    return [(case, clock) for number, case in enumerate(cases) for clock in ((first,) if number % 2 else (first, others[number // 2 % len(others)]))]


@cache
def is_granted_sigtrap() -> bool:
    """Whether the kernel lets a process like this one have its own events told by SIGTRAP."""
    software, task_clock = 1, 1
    return probe_event(software, task_clock) == 0
