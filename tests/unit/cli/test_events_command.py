"""test_events_command -- `collector events`: one event a line, stable enough to be held against a file"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from collector.cli.main import main
from collector.format import FIELDS, Kind

sys.path.insert(0, str(Path(__file__).parents[1] / "experiment"))
from writer import LogBuilder, initialize, record, samples, small_log

_PID = 4_194_250  # no process has this number, nor a thread of the kernel


@pytest.fixture
def experiment(tmp_path):
    log = small_log()
    log.add(
        record(Kind.SAMPLE, 2_000_000_001, 5, label='two "words"\n', cause=0, resident_bytes=None),
        record(Kind.MESSAGE, 2_000_000_002, 0, severity=1, text="caf\u00e9 \udcff", subject="a,b"),
        record(Kind.METRIC, 2_000_000_003, 0, source=2, value=0.25), record(Kind.USERDATA, 2_000_000_004, 0, data=bytes(30)),
        record(Kind.DROPNOTIFY, 2_000_000_005, 5, cause=2, count=3, offset=None, length=None),
    )
    (tmp_path / f"{_PID}.0.log").write_bytes(log.data + b"damage")
    (tmp_path / "launch.log").write_bytes(LogBuilder().add(initialize(1, _PID), record(Kind.SYSEXIT, 3 * 10**9, 0, pid=4, status=-1)).data)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("all", []), ("kind", ["--kind", "pcsample", "--kind", "CLOSELOG"]), ("thread", ["--thread", "77", "--kind", "pcsample"]),
        ("json", ["--json"]),
    ],
)
def test_output_is_what_it_was(experiment, capsys, golden, name, options):
    assert main(["events", str(experiment), *options]) == 0
    golden(f"events/{name}.txt", capsys.readouterr().out)


def test_json_has_every_field_of_every_kind(tmp_path, capsys):
    log = LogBuilder().add(initialize())
    log.add(*(record(kind, 5000, 0) for kind in Kind if kind not in (Kind.PCSAMPLE, Kind.INITIALIZE)))
    log.add(samples(6000, 7, [(1, 1, 1, 0)]))
    (tmp_path / f"{_PID}.0.log").write_bytes(log.data)
    assert main(["events", str(tmp_path), "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {row["kind"] for row in rows} == {kind.name for kind in Kind}
    for row in rows:
        head = ["kind", "time", "origin", "thread", "log_offset", "serial"]
        assert list(row)[:6] == head
        if row["kind"] == "PCSAMPLE":
            assert list(row)[6:] == ["source", "user_ns", "system_ns", "end", "stack"] and row["stack"] == [0x401000]
        else:
            assert list(row)[6:] == [name for name, _, _ in FIELDS[Kind[row["kind"]]]]


def test_follow_ends_with_a_finished_experiment(experiment, capsys):
    """Both processes are gone, so there is nothing to wait for; the order is that of the logs."""
    assert main(["events", str(experiment), "--follow", "--kind", "closelog", "--kind", "sysexit"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_standard_input_and_closed_pipes(experiment):
    data = (experiment / f"{_PID}.0.log").read_bytes()
    command = [sys.executable, "-m", "collector", "events"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    done = subprocess.run([*command, "-"], input=data, capture_output=True, env=environment)
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 19 and done.stderr == b""
    shell = f"{sys.executable} -m collector events {experiment} | head -n 1"
    done = subprocess.run(shell, shell=True, capture_output=True, env=environment)
    assert len(done.stdout.splitlines()) == 1 and done.stderr == b""


@pytest.mark.parametrize(
    ("arguments", "sentence", "status"),
    [
        (["none.expt"], "there is no experiment at none.expt", 1),
        (["/dev/null"], "the log /dev/null cannot be read: it is a device", 1),
        ([".", "--kind", "nonsense"], "there is no event kind 'nonsense'", 2),
        (["-", "--follow"], "--follow needs an experiment", 2),
        (["none.expt", "--follow"], "there is no experiment at none.expt", 1),
    ],
)
def test_mistakes_get_one_sentence(arguments, sentence, status, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["events", *arguments]) == status
    shown = capsys.readouterr()
    assert shown.out == "" and len(shown.err.splitlines()) == (1 if sentence else 0)
    assert sentence is None or sentence in shown.err
