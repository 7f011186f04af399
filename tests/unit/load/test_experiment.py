"""test_experiment -- collector.open and its values"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from busy_profile import busy_profile
from small_experiment import PID, ArithmeticSymbolizer, write_small

import collector
from collector.errors import ExperimentNotFoundError, UsageError
from collector.exports import metric_document
from collector.load import load
from collector.load.experiment import Experiment

EXPERIMENT = Experiment(busy_profile())


@pytest.fixture
def small(tmp_path: Path) -> Experiment:
    return Experiment(load(write_small(tmp_path / "a.expt"), symbolizer=ArithmeticSymbolizer()))


def test_functions_are_plain_values(small: Experiment) -> None:
    first, second = small.functions()
    assert dataclasses.asdict(first) == {
        "function": "f2",
        "module": "prog",
        "file": "/src/prog.c",
        "line": 1,
        "exclusive": pytest.approx(0.002),
        "inclusive": pytest.approx(0.002),
    }
    assert (second.function, second.exclusive, second.inclusive) == ("f1", pytest.approx(0.001), pytest.approx(0.003))
    assert small.total() == pytest.approx(0.003)
    assert small.name == "a.expt"
    assert repr(small) == "<Experiment a.expt: 0.003 s CPU time>"


def flat(value: object) -> list:
    """The values of a row and of what is inside it."""
    if isinstance(value, (tuple, dict)):
        return [one for inner in (value.values() if isinstance(value, dict) else value) for one in flat(inner)]
    return [value]


def test_every_list_holds_frozen_dataclasses_of_plain_values() -> None:
    lists = (
        EXPERIMENT.functions(), EXPERIMENT.lines(), EXPERIMENT.objects(), EXPERIMENT.call_tree(), EXPERIMENT.callers_callees("work"),
        EXPERIMENT.processes, EXPERIMENT.threads, EXPERIMENT.samples, EXPERIMENT.header,
    )  # fmt: skip
    for rows in lists:
        assert rows
        for row in rows:
            assert all(value is None or isinstance(value, (str, int, float)) for value in flat(dataclasses.astuple(row)))
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(row, dataclasses.fields(row)[0].name, 0)


def test_values_of_plugin_metrics_by_their_ids() -> None:
    assert list(EXPERIMENT.metrics) == ["node.load", "io.read"]
    load = EXPERIMENT.metrics["node.load"]
    assert (load.times, load.values, load.kind, load.total) == ([1.0, 3.0, 4.0], [1.5, 0.5, None], "level", None)
    read = EXPERIMENT.metrics["io.read"]
    assert [(part.pid, part.values) for part in read.series] == [(100, [4096.0, 2048.0]), (200, [524288.0, None])]
    assert read.total == 8192 + (1 << 20)


def test_warnings_are_those_of_every_view() -> None:
    assert EXPERIMENT.warnings == ["the program closed its clock (2 times)"]


def test_a_metric_chooses_the_figures() -> None:
    assert EXPERIMENT.total("user") + EXPERIMENT.total("system") == pytest.approx(EXPERIMENT.total())
    by_system = EXPERIMENT.functions("system")
    assert by_system[0].function == "read"
    assert by_system[0].exclusive == pytest.approx(1.0)
    with pytest.raises(UsageError, match="cpu, user, system"):
        EXPERIMENT.functions("cycles")


def test_neighbours_stand_around_the_function() -> None:
    rows = [(row.relation, row.function, row.values) for row in EXPERIMENT.callers_callees("work")]
    assert rows == [("caller", "main", 10.5), ("self", "work", 6.5), ("callee", "read", 4.0)]
    with pytest.raises(UsageError, match="did you mean work"):
        EXPERIMENT.callers_callees("wrok")
    with pytest.raises(UsageError, match="several functions"):
        EXPERIMENT.callers_callees("or")


def test_a_part_is_an_experiment() -> None:
    assert EXPERIMENT.select(pids=[200]).total() == pytest.approx(1.0)
    assert EXPERIMENT.select(tids=[101]).total() == pytest.approx(2.6)
    assert EXPERIMENT.select(start=0, end=1).total() == pytest.approx(4.0)
    assert EXPERIMENT.select(functions=["^work$"], leaf=["read"]).total() == pytest.approx(4.0)
    assert EXPERIMENT.select(modules=["libc*"], tids=["worker*"]).total() == pytest.approx(2.5)
    assert EXPERIMENT.select(between=("read input", "solve")).total() == pytest.approx(8.5 - 3)
    with pytest.raises(UsageError, match="no function nothing is on any stack"):
        EXPERIMENT.select(functions=["nothing"])


def test_groups_and_cuts_are_those_of_reports() -> None:
    own = {row.group: row.exclusive for row in EXPERIMENT.groups("category")}
    assert own == {"(own code)": pytest.approx(10.475), "I/O": pytest.approx(4.0), "kernel boundary": 0.0}
    assert sum(row.exclusive for row in EXPERIMENT.functions_by("thread")) == pytest.approx(EXPERIMENT.total())
    assert {row.group for row in EXPERIMENT.lines_by("label", "user")} == {"(before the first label)", "read input", "solve"}
    assert EXPERIMENT.hot_path()[-1].function == "work"
    assert EXPERIMENT.call_tree(bottom_up=True)[1].function == "work"
    assert sum(row.exclusive for row in EXPERIMENT.pcs()) == pytest.approx(EXPERIMENT.total())
    assert sum(row.cpu for row in EXPERIMENT.timeline(10, "thread").rows) == pytest.approx(EXPERIMENT.total())
    assert EXPERIMENT.select(focus="^work$").total() == EXPERIMENT.select(callers_of="^work$").total() == pytest.approx(10.5)
    assert EXPERIMENT.select(ignore=["^work$"]).total() == pytest.approx(EXPERIMENT.total() - 10.5)
    assert EXPERIMENT.select(category="i/o").total() == pytest.approx(4.0)
    for wrong in (lambda: EXPERIMENT.groups("colour"), lambda: EXPERIMENT.timeline(10, "label"), lambda: EXPERIMENT.select(category="x")):
        with pytest.raises(UsageError, match="there are|not by|no category"):
            wrong()


def test_processes_and_threads_tell_how_they_ended() -> None:
    assert [(row.pid, row.exit_status, row.values["cpu"]) for row in EXPERIMENT.processes] == [
        (100, 0, pytest.approx(13.475)),
        (200, -9, pytest.approx(1.0)),
    ]
    assert EXPERIMENT.threads[0].tid == 100


def test_open_reads_an_experiment(tmp_path: Path) -> None:
    experiment = collector.open(write_small(tmp_path / "a.expt"))
    assert experiment.total() == pytest.approx(0.003)
    assert experiment.processes[0].pid == PID
    with pytest.raises(ExperimentNotFoundError):
        collector.open(tmp_path / "missing.expt")


def test_a_metric_tells_what_its_row_tells() -> None:
    row = next(row for row in metric_document.metrics(EXPERIMENT.profile)["rows"] if row["id"] == "io.read")
    read = dataclasses.asdict(EXPERIMENT.metrics["io.read"])
    assert {key: value for key, value in read.items() if key not in ("times", "values", "series")} == row
