"""test_dynamic_code -- functions and modules that a program makes itself, by name, line, time and instruction"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from recorded import IS_THOROUGH, TARGETS, Recorded, collector_command, execute, judge, judge_shares, judge_stacks

from collector.experiment import events
from collector.experiment.merge import events as iter_events
from collector.profile import aggregate

Compile = Callable[..., Path]
Record = Callable[..., Recorded]
TENANTS = {"tenant1": 'the first "tenant"', "tenant2": "der zweite Mieter ü€", "tenant3": "third<int>(char const*, `x')"}
NOWHERE = "(no module)"


def report(recorded: Recorded, *words: object) -> str:
    """The text of a view."""
    outcome = execute(collector_command("report", recorded.path, *words))
    assert outcome.status == 0, outcome.stderr
    return outcome.stdout


def insertions(recorded: Recorded) -> list[events.MappingChange]:
    return [event for event in iter_events(recorded.path) if isinstance(event, events.MappingChange) and event.map_kind in (1, 2) and event.action == 1]


@pytest.fixture(scope="module")
def made(record: Record, compiled: Compile) -> Recorded:
    recorded = record([compiled("made_functions.c"), 150])
    assert recorded.outcome.status == 0, recorded.outcome.stderr
    return recorded


def test_each_function_has_its_time(made: Recorded) -> None:
    truth = {TENANTS.get(name, NOWHERE if name == "unnamed" else name): ns for name, ns in made.outcome.truth.items()}
    judge_shares(made, truth)
    assert made.lost_count == 0


def test_stacks_lead_through_made_code(made: Recorded) -> None:
    judge_stacks(made)
    for name in ("plain", "moved", "inner", "lined"):
        assert set(made.callers(name)) == {"run_code"}


def test_lines_may_come_in_any_order(made: Recorded) -> None:
    rows = {row.line: row.exclusive[0] for row in aggregate.lines(made.profile) if row.function.name == "lined"}
    assert set(rows) == {40, 7}
    share = rows[40] / sum(rows.values())
    judge(0.35 < share < 0.65, f"two equal loops, and one has {share:.2f}")
    assert {row.file for row in aggregate.lines(made.profile) if row.function.name == "lined"} == {"/src/lined.jit"}


def test_the_alias_is_shown(made: Recorded) -> None:
    assert "made at run time" in report(made, "callers-callees", "plain")
    assert "made at run time" in report(made, "function", "plain")
    assert '"alias": "made at run time"' in report(made, "callers-callees", "plain", "--json")


def test_instructions_are_shown_wherever_the_function_was(made: Recorded, needs: Callable[[str], None]) -> None:
    needs("objdump")
    text = report(made, "disasm", "moved")
    assert text.count("made at run time") == 2 and text.count(" ret") == 2
    places = re.findall(r"bytes at ([0-9a-f]+)", text)
    assert len(set(places)) == 2
    assert "lined.jit:40" in report(made, "disasm", "lined")
    assert "call" in report(made, "disasm", "run_code")


@pytest.fixture
def needs() -> Callable[[str], None]:
    """needs(tool) skips the test where it is not installed."""
    def check(tool: str) -> None:
        if not shutil.which(tool):
            pytest.skip(f"{tool} is not installed")

    return check


def test_without_objdump_there_is_a_sentence(made: Recorded, tmp_path: Path) -> None:
    done = subprocess.run(
        [*map(str, collector_command("report", made.path, "disasm", "plain"))], capture_output=True, text=True, env={**os.environ, "PATH": str(tmp_path)}
    )
    assert done.returncode == 1
    assert "no objdump" in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize("layout", ["sections", "file", "image"])
def test_a_module_that_the_program_mapped_itself(record: Record, compiled: Compile, tmp_path: Path, layout: str) -> None:
    flags = ["-shared", "-nostdlib", "-fPIC"] if layout == "image" else ["-ffunction-sections", "-c"]
    shutil.copy(compiled("object_parts.c", "-O1", *flags), tmp_path / "parts.o")
    recorded = record([compiled("mapped_object.c"), tmp_path / "parts.o", layout, 100])
    assert recorded.outcome.status == 0 and not (tmp_path / "parts.o").exists()
    truth = {NOWHERE if name == "unnamed" else name: ns for name, ns in recorded.outcome.truth.items()}
    judge_shares(recorded, truth)
    places = {(row.function.name, os.path.basename(row.file or ""), row.line) for row in aggregate.lines(recorded.profile)}
    assert ("part_one", "object_parts.c", 8) in places and ("part_two", "object_parts.c", 16) in places
    assert next(row for row in aggregate.functions(recorded.profile) if row.function.name == "part_three").module.path == str(tmp_path / "parts.o")
    if layout == "sections":
        assert "part" in report(recorded, "disasm", "part_two")


def test_a_file_is_kept_once_however_often_it_is_mapped(record: Record, compiled: Compile, tmp_path: Path) -> None:
    made_of = []
    for name in ("a.o", "b.o"):
        shutil.copy(compiled("object_parts.c", "-O1", "-c"), tmp_path / name)
        made_of.append(record([compiled("mapped_object.c"), tmp_path / name, "sections", 1]).path / "objects")
    first, second = (next(place.iterdir()).name for place in made_of)
    assert first.partition(".")[0] == second.partition(".")[0] and first.endswith(".a.o") and second.endswith(".b.o")


def test_a_child_inherits_what_its_parent_had_made(record: Record, compiled: Compile) -> None:
    recorded = record([compiled("code_in_children.c"), 150])
    truth = recorded.outcome.truth
    judge_shares(recorded, {"inherited": truth["inherited"], NOWHERE: truth["unnamed"]}, systematic=0.02)


def test_any_arguments_at_all(unharmed: Record, compiled: Compile) -> None:
    recorded = unharmed([compiled("code_arguments.c"), 100_000])
    lost = {loss.cause: loss.count for loss in recorded.profile.losses}
    assert set(lost) == {"bad_argument"} and lost["bad_argument"] >= recorded.outcome.truth["wrong"]
    assert "bad argument of a call" in report(recorded, "header")


def test_more_functions_than_a_window_of_the_log_holds(record: Record, compiled: Compile) -> None:
    count = 100_000 if IS_THOROUGH else 12_000
    recorded = record([compiled("code_cost.c"), count], options=["-p", "off"])
    names = [change.name for change in insertions(recorded)]
    assert names == [f"function number {number}" for number in range(count)]
    assert sum(log.stat().st_size for log in recorded.path.glob("[0-9]*.log")) > 4 << 20
    assert recorded.lost_count == 0
    assert execute([compiled("code_cost.c"), 100]).status == 0, "harmless without a recorder"


def test_python_programs_tell_of_code_as_well(record: Record) -> None:
    recorded = record([sys.executable, TARGETS / "code_by_python.py", 200])
    assert recorded.outcome.status == 0, recorded.outcome.stderr
    busy_ns = recorded.inclusive_ns("büsy loop")
    judge(abs(busy_ns - recorded.outcome.truth["busy"]) <= 0.1 * recorded.outcome.truth["busy"], f"busy: {busy_ns / 1e6:.2f} ms in samples")
    function = next(function for function in recorded.profile.functions if function.name == "büsy loop")
    assert (function.alias, function.line, Path(function.file or "").name) == ("made by Python", 15, "code_by_python.py")


