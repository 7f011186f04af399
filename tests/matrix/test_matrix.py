"""test_matrix -- the quick part of the matrix: each case natively and on one of the three clocks, but for those that other tests have

The clock goes by the case's name, so that a new case changes nothing of the others. run.py tries every case on every
clock, and twice natively. Cases run beside each other, as many as there are processors for it: what is compared is no time but
CPU time.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path
from zlib import crc32

import pytest
from matrix.case import CLOCKS, HERE, SOURCES, Case, all_cases
from matrix.elsewhere import ELSEWHERE, LIKE, LONG, is_in_quick_part
from matrix.execution import Outcome, fork_commands
from matrix.reading import BURN_NS, Reading
from matrix.run import Row, build_for, find_recorder, try_case
from matrix.trial import Native, Verdict, judge, usual_environment
from parallel import processors

QUICK = {case.full_name: case for case in all_cases() if is_in_quick_part(case)}


def clock_of(name: str) -> str:
    """The clock that a case is tried on here; always the same one."""
    return CLOCKS[crc32(name.encode()) % len(CLOCKS)]


@pytest.fixture(scope="module")
def rows(request: pytest.FixtureRequest) -> Iterator[Callable[[str], Row]]:
    """rows(name) is what came of a case; all that were chosen are tried beside each other."""
    chosen = [item.callspec.params["name"] for item in request.session.items if item.path == request.path and hasattr(item, "callspec")]
    root = Path(tempfile.mkdtemp(prefix="matrix-"))
    root.chmod(0o755)
    find_recorder()
    failures = build_for([QUICK[name] for name in chosen], root)
    with ProcessPoolExecutor(processors(request.config), initializer=fork_commands, initargs=(usual_environment(),)) as pool:
        waiting: dict[str, Future[Row]] = {name: pool.submit(try_case, root, QUICK[name], [clock_of(name)], failures, 1) for name in chosen}
        yield lambda name: waiting[name].result()
        pool.shutdown(cancel_futures=True)
    shutil.rmtree(root, ignore_errors=True)


@pytest.mark.parametrize("name", QUICK)
def test_nobody_can_tell_whether_it_is_recorded(rows: Callable[[str], Row], name: str) -> None:
    row = rows(name)
    if row.skipped:
        pytest.skip(row.skipped)
    for verdict in row.verdicts:
        findings = [*verdict.harms, *verdict.defects]
        assert not findings, f"{name} on {verdict.clock}: {'; '.join(findings)} ({verdict.said})"


def test_every_sentence_of_nature_is_of_a_case() -> None:
    """NATURE names a case of its own file; a name that is no case would excuse nothing, and nobody would know."""
    import re

    from matrix.case import SOURCES

    for source in SOURCES.glob("*/*.c"):
        text = source.read_text(encoding="utf-8")
        names = set(re.findall(r"^CASE\((\w+)", text, re.MULTILINE))
        assert set(re.findall(r"^NATURE\((\w+)", text, re.MULTILINE)) <= names, source


def test_what_is_left_to_other_tests_is_there() -> None:
    """Each test that is to have a case exists, and its file or one of the targets in it knows the case by that name."""
    import re

    names = {case.full_name for case in all_cases()}
    for name, (file, test, case) in ELSEWHERE.items():
        text = (HERE.parent / "live" / file).read_text(encoding="utf-8")
        targets = "".join((HERE.parent / "targets" / target).read_text(encoding="utf-8") for target in re.findall(r'"(\w+\.c)"', text))
        assert name in names
        assert f"def {test}(" in text and f'"{case}"' in text + targets, name
    assert names >= LONG


def test_neighbours_that_are_left_out_differ_in_a_signal_only() -> None:
    """And the one that stands for them is tried here."""
    bodies = {}
    for source in SOURCES.glob("*/*.c"):
        for name, body in re.findall(r"^CASE\((\w+), [^{]*(\{.*\})$", source.read_text(encoding="utf-8"), re.MULTILINE):
            bodies[f"{source.parent.name}/{name}"] = re.sub(r"\bSIG\w+", "SIG", body)
    for name, kept in LIKE.items():
        assert bodies[name] == bodies[kept] and kept in QUICK, name


def test_cases_are_many() -> None:
    """The page speaks of all classes; a table that was not read would leave one out."""
    groups: dict[str, list[Case]] = {}
    for case in all_cases():
        groups.setdefault(case.group, []).append(case)
    assert all(len(members) >= 5 for members in groups.values()) and sum(map(len, groups.values())) >= 200


def test_two_of_three_recordings_decide_about_time() -> None:
    """Harm counts however seldom it is seen."""
    case = Case("ends", "case", "", burns=1)
    native = Native((Outcome(0, "", "", cpu_ns=BURN_NS),))

    def verdict_of(*seen: tuple[str, float]) -> Verdict:
        tries = [
            (Outcome(0, stdout, "", said=("nothing lost",)), Reading(sample_count=40, burn_ns=burns * BURN_NS)) for stdout, burns in seen
        ]
        return judge(case, native, CLOCKS[0], tries)

    assert verdict_of(("", 1)).is_good
    assert verdict_of(("", 2)).defects
    once = verdict_of(("", 2), ("", 1), ("", 1))
    assert once.is_good and "(1 of 3)" in once.notes[0]
    assert verdict_of(("", 2), ("", 2), ("", 1)).defects
    assert verdict_of(("", 1), ("", 1), ("x", 1)).harms


def test_a_case_that_takes_many_times_as_long_is_harmed() -> None:
    """Of the same output, after ten times the work."""
    case = Case("ends", "case", "")
    native = Native((Outcome(0, "", "", cpu_ns=200_000_000),))
    for cpu_ns, is_good in ((300_000_000, True), (2_500_000_000, True), (3_000_000_000, False)):
        verdict = judge(case, native, CLOCKS[0], [(Outcome(0, "", "", said=("nothing lost",), cpu_ns=cpu_ns), Reading(sample_count=40))])
        assert verdict.is_good == is_good
