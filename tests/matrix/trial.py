"""trial -- one case, natively and on a clock: is anything different, does the experiment read, is its time there

A difference is tried again, natively too, so that neither a case that is not steady by itself counts as harm nor
a harm that comes now and then passes for chance: "2 of 3" is harm. Time that is not there is tried again too: what
samples say has an error, so there two of three recordings decide.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from matrix.building import Workshop
from matrix.case import HERE, Case
from matrix.execution import Outcome, empty, run
from matrix.reading import BURN_NS, Reading, judge_time, read
from started import COLLECTOR

ROOT = HERE.parents[1]
FIELDS = ("status", "stdout", "stderr", "files")
AGAIN = 2  # how often what is not as it should be is recorded again
MOST_TIMES_CPU, SLACK_CPU_NS = 3, 2_000_000_000  # of what a case takes natively: many times that is harm, and noise and the launcher are not
NATIVELY_AGAIN = 8  # and how often it is run natively, to see whether chance alone does the same

_RECORDING = ("LD_PRELOAD", "COLLECTOR_EXPERIMENT", "COLLECTOR_OPTIONS", "COLLECTOR_FOLLOW", "COLLECTOR_METRICS", "COLLECTOR_PROVEN_CLOCK")
_KEPT = ("PATH", "COLLECTOR_LIBRARY", "XDG_CACHE_HOME", "PYTHONPYCACHEPREFIX", "RUSTUP_HOME", "CARGO_HOME", "PYENV_ROOT", "PYENV_VERSION")


@dataclass(frozen=True, slots=True)
class Difference:
    """A field that is not as it is natively, and how: `expected` and `seen` are what differs first."""

    field: str
    expected: str
    seen: str

    def __str__(self) -> str:
        return f"{self.field}: {self.expected or 'nothing'} → {self.seen or 'nothing'}"


@dataclass(frozen=True, slots=True)
class Native:
    """What a case does by itself. `unsteady` are the fields that differ from run to run."""

    outcomes: tuple[Outcome, ...]
    unsteady: frozenset[str] = frozenset()
    skipped: str = ""

    @property
    def expected(self) -> Outcome:
        return self.outcomes[0]


@dataclass(frozen=True, slots=True)
class Verdict:
    """A case on one clock. `harms` and `defects` are what nothing excuses; `by_nature` what a sentence of the case does."""

    clock: str
    harms: tuple[str, ...] = ()
    defects: tuple[str, ...] = ()
    by_nature: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    said: str = ""
    told: tuple[str, ...] = ()

    @property
    def is_good(self) -> bool:
        return not self.harms and not self.defects


def usual_environment() -> dict[str, str]:
    """What all cases have."""
    return {name: os.environ[name] for name in _KEPT if name in os.environ} | {"LC_ALL": "C.UTF-8", "PYTHONPATH": str(ROOT)}


class CannotTry(Exception):
    """Something that the case needs is not here; the text says what."""


class Bench:
    """Where cases run: one directory, the same for each run, so that nothing of a path can differ."""

    def __init__(self, workshop: Workshop, place: Path) -> None:
        self.workshop = workshop
        self.place = place
        self.work = place / "work"
        self.experiment = place / "case.expt"
        place.mkdir(parents=True, exist_ok=True)
        place.chmod(0o755)

    def run_natively(self, case: Case, count: int = 2) -> Native:
        """Run a case without a recorder, twice so that one which is not steady by itself is known."""
        lack = case.lacks()
        if lack:
            return Native((), skipped=lack)
        outcomes = tuple(self._run(case, self.command_of(case), case.timeout_s) for _ in range(count))
        if outcomes[0].status == 77:  # as with automake: the case itself says that it cannot be tried here
            return Native((), skipped=outcomes[0].stdout.strip() or "not possible here")
        return Native(outcomes, _unsteady(outcomes))

    def try_on(self, case: Case, native: Native, clock: str) -> Verdict:
        """Record a case on a clock and judge it."""
        slowest_s = max(outcome.wall_ns for outcome in native.outcomes) / 1e9
        limit_s = case.timeout_s + 10 * slowest_s
        tries = [self._record(case, clock, limit_s) for _ in range(case.runs)]
        verdict = judge(case, native, clock, tries)
        if verdict.is_good or any(outcome.status == "hangs" for outcome, _ in tries):
            return verdict
        if verdict.harms:
            again = [self._run(case, self.command_of(case), case.timeout_s) for _ in range(NATIVELY_AGAIN)]
            native = Native((*native.outcomes, *again), _unsteady((*native.outcomes, *again)))
        return judge(case, native, clock, tries + [self._record(case, clock, limit_s) for _ in range(AGAIN)])

    def command_of(self, case: Case) -> list[str]:
        """The words of a case's command."""
        return [self._fill(case, word) for word in case.command] or ["bash", "-c", self._fill(case, case.shell)]

    def _fill(self, case: Case, text: str) -> str:
        directory = self.workshop.directory_of(case)
        program = directory / case.builds[0].output if case.builds else directory
        return text.replace("{program}", str(program)).replace("{build}", str(directory)).replace("{cases}", str(HERE / "cases")).replace("{python}", sys.executable)

    def _environment(self, case: Case) -> dict[str, str]:
        ours = {"HOME": str(self.place / "home"), "TMPDIR": str(self.place / "temporary"), "TERM": "dumb"}
        rust = Path.home() / ".rustup"
        if rust.exists():
            ours["RUSTUP_HOME"] = os.environ.get("RUSTUP_HOME", str(rust))
        return {**usual_environment(), **ours, "MATRIX_BUILD": str(self.workshop.directory_of(case)), **{name: self._fill(case, value) for name, value in case.environment}}

    def _run(self, case: Case, command: Sequence[str], timeout_s: float) -> Outcome:
        for directory in (self.work, self.place / "home", self.place / "temporary"):
            empty(directory)
        (self.place / "temporary").chmod(0o1777)
        environment = self._environment(case)
        if case.prepare:
            done = subprocess.run(["bash", "-ec", self._fill(case, case.prepare)], cwd=self.work, env=environment, capture_output=True, text=True, timeout=120)
            if done.returncode:
                raise CannotTry(f"cannot be prepared: {(done.stderr or done.stdout).strip()[-300:]}")
        return run(command, environment, self.work, timeout_s, case.scrubs)

    def _record(self, case: Case, clock: str, timeout_s: float) -> tuple[Outcome, Reading]:
        subprocess.run(["rm", "-rf", str(self.experiment)], check=True)
        words = ["record", "-o", str(self.experiment), "--clock", clock, *case.options, "--"]
        outcome = self._run(case, [*COLLECTOR, *words, *self.command_of(case)], timeout_s)
        return outcome, read(self.experiment)


def compare(expected: Outcome, seen: Outcome, unsteady: frozenset[str]) -> list[Difference]:
    """Each field that is not the same, unless it is not even the same natively."""
    return [_difference(name, expected.shown()[name], seen.shown()[name]) for name in FIELDS if name not in unsteady and expected.shown()[name] != seen.shown()[name]]


def _difference(name: str, expected: object, seen: object) -> Difference:
    if isinstance(expected, dict) and isinstance(seen, dict):
        names = sorted(key for key in {*expected, *seen} if expected.get(key) != seen.get(key))
        return Difference(name, *(", ".join(f"{key} {which[key]}" for key in names[:3] if key in which) for which in (expected, seen)))
    if name == "status":
        return Difference(name, str(expected), str(seen))
    before, after = str(expected).splitlines(), str(seen).splitlines()
    first = next((i for i, (old, new) in enumerate(zip(before, after)) if old != new), min(len(before), len(after)))
    return Difference(name, *(_short(lines[first]) if first < len(lines) else "" for lines in (before, after)))


def _short(text: str) -> str:
    return text if len(text) <= 160 else text[:157] + "..."


def _unsteady(outcomes: Sequence[Outcome]) -> frozenset[str]:
    return frozenset(name for name in FIELDS for outcome in outcomes[1:] if outcome.shown()[name] != outcomes[0].shown()[name])


def judge(case: Case, native: Native, clock: str, tries: Sequence[tuple[Outcome, Reading]]) -> Verdict:
    """Put together what several runs of a case on one clock showed."""
    excused = {nature.field for nature in case.natures if not nature.is_seldom}
    seldom = {nature.field for nature in case.natures if nature.is_seldom}
    harms: dict[str, list[str]] = {}
    defects: dict[str, list[str]] = {}
    natures: dict[str, str] = {}
    notes: dict[str, None] = {}
    for outcome, reading in tries:
        for difference in compare(native.expected, outcome, native.unsteady):
            if difference.field in excused and (difference.field != "status" or outcome.status == 1):
                natures.setdefault(difference.field, str(difference))
            else:
                harms.setdefault(difference.field, []).append(str(difference))
        if outcome.cpu_ns > MOST_TIMES_CPU * native.expected.cpu_ns + SLACK_CPU_NS:
            slower = Difference("CPU time", f"{native.expected.cpu_ns / 1e9:.1f} s", f"{outcome.cpu_ns / 1e9:.1f} s")
            if slower.field in excused:
                natures.setdefault(slower.field, str(slower))
            else:
                harms.setdefault(slower.field, []).append(str(slower))
        for defect in _defects(case, native, outcome, reading, excused, natures):
            defects.setdefault(defect.partition(":")[0], []).append(defect)
        for name in set(reading.clocks) - {clock}:
            notes[f"fell to {name}"] = None
    if len(tries) >= 3 and 3 * len(defects.get("time", ())) <= len(tries):
        notes.update({f"{defect} (1 of {len(tries)})": None for defect in defects.pop("time", ())})
    for name in seldom & harms.keys():
        if len(tries) >= 3 and 3 * len(harms[name]) <= len(tries):
            natures[name] = f"{harms.pop(name)[0]} (1 of {len(tries)})"
    outcome, reading = tries[-1]
    notes.update({f"{', '.join(sorted(native.unsteady))} not steady natively": None} if native.unsteady else {})
    return Verdict(
        clock, _counted(harms, len(tries)), _counted(defects, len(tries)), tuple(natures.values()), tuple(notes), " · ".join(_without_path(said) for said in outcome.said), reading.told
    )


def _defects(case: Case, native: Native, outcome: Outcome, reading: Reading, excused: set[str], natures: dict[str, str]) -> list[str]:
    if outcome.status == "hangs":
        return []
    if outcome.was_stopped and not native.expected.was_stopped:
        return ["left processes behind that do not end"]
    if not outcome.said:
        return ["collector record says nothing"]
    if reading.failure:
        return [f"reading: {reading.failure}"]
    if case.burns and native.expected.cpu_ns < 0.9 * case.burns * BURN_NS:
        return [f"the case does not do its work: {native.expected.cpu_ns / 1e6:.0f} ms of CPU time where {case.burns * BURN_NS / 1e6:.0f} are to be in burn"]
    sentence, is_missing = judge_time(reading, case.burns, native.expected.cpu_ns)
    if not sentence:
        return []
    if "time" in excused:
        natures.setdefault("time", f"time: {sentence}")
        return []
    is_told = reading.told or len(outcome.said) > 1 or "nothing lost" not in outcome.said[0]
    return [] if is_missing and is_told else [f"time: {sentence}{', and not a word of it' if is_missing else ''}"]


def _counted(findings: Mapping[str, Sequence[str]], count: int) -> tuple[str, ...]:
    """The first finding of each kind, and how often there was one."""
    return tuple(texts[0] if count == len(texts) else f"{texts[0]} ({len(texts)} of {count})" for texts in findings.values())


def _without_path(said: str) -> str:
    return re.sub(r"^\S*case\.expt: ", "", said).replace("\n", " ")


def make_bench(workshop: Workshop | None = None) -> Bench:
    """A bench of one's own, in a directory that anybody may look into."""
    place = Path(tempfile.mkdtemp(prefix="matrix-"))
    place.chmod(0o755)
    return Bench(workshop or Workshop(place / "build"), place)
