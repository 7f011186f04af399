"""test_python_views -- every view of an experiment in which Python runs, as its user reads it"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from small_experiment import BASE, LIBPYTHON, PID, S, T0, begin, clock, close, interpreter, mapping, python_code, python_frame, samples, thread_end, write_log
from tiny_profile import build_profile

import collector
from collector.cli.main import main
from collector.cli.reporting.words import VIEWS
from collector.load import load
from collector.load.serial import write_profile
from collector.profile.categories import read_categories
from collector.profile.grouped import groups
from collector.profile.model import METHOD, PYTHON

SCRIPT = """import json


def encode(rows):
    return [json.dumps(row)
            for row in rows]


encode([1])
"""
LIBRARY = "/usr/lib/libpython3.11.so.1.0"
# main calls <module> (line 9), that encode (line 5), and its evaluator a function of an extension.
MAIN, EVAL, EXTENSION = BASE + 0x1008, LIBPYTHON + 0x2008, BASE + 0x5000
MODULE, ENCODE, FROZEN = python_frame(1, 16), python_frame(2, 2), python_frame(3)
STACKS = [([EVAL, ENCODE, MODULE, MAIN], 0), ([EXTENSION, EVAL, ENCODE, MODULE, MAIN], 0), ([EVAL, MODULE, MAIN], 0), ([EVAL, FROZEN, MODULE, MAIN], 0)]


@pytest.fixture
def experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("COLUMNS", raising=False)
    script = tmp_path / "tool" / "rows.py"
    script.parent.mkdir()
    script.write_text(SCRIPT)
    os.utime(script, (0, 0))
    return write(tmp_path / "a.expt", str(script))


def write(path: Path, script: str, *told: bytes) -> Path:
    codes = python_code(1, "<module>", script), python_code(2, "encode", script, first_line=4), python_code(3, "abspath", "<frozen posixpath>")
    write_log(
        path, f"{PID}.0.log", begin(directory=str(path.parent)), clock(), mapping("/bin/extension.so"), mapping(LIBRARY, LIBPYTHON),
        *(told or [interpreter()]), *codes, samples(STACKS, [0, 0, 0, 1, 1, 2, 3]), thread_end(user_ns=7_000_000), close(T0 + S, user_ns=7_000_000),
    )  # fmt: skip
    return path


def show(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    assert main(["report", *map(str, words)]) == 0
    return capsys.readouterr().out


def rows(capsys: pytest.CaptureFixture[str], *words: object) -> list[dict]:
    return json.loads(show(capsys, *words, "--json"))["rows"]


def test_functions_and_lines(experiment: Path, capsys) -> None:
    found = {(row["function"], row["module"], row["line"]): row["exclusive"]["cpu"] for row in rows(capsys, experiment, "functions")}
    assert found["encode", "tool/rows.py", 4] == pytest.approx(0.003)
    assert found["<module>", "tool/rows.py", 1] == pytest.approx(0.001)
    assert found["abspath", "<frozen posixpath>", 1] == pytest.approx(0.001)
    assert not [function for function, module, _ in found if module.startswith("libpython")]
    lines = {(row["function"], row["line"]): row["inclusive"]["cpu"] for row in rows(capsys, experiment, "lines") if row["module"] == "tool/rows.py"}
    assert lines == {("encode", 5): pytest.approx(0.005), ("<module>", 9): pytest.approx(0.007)}


def test_interpreter_frames_are_there_when_asked_for(experiment: Path, capsys) -> None:
    """The profile that is kept has folded ones, whichever was asked for first."""
    for _ in range(2):
        assert "libpython" not in show(capsys, experiment, "objects", "--csv")
        assert "libpython3.11.so.1.0" in show(capsys, experiment, "objects", "--csv", "--interpreter-frames")


def test_source_has_the_time_of_each_line(experiment: Path, capsys) -> None:
    lines = show(capsys, experiment, "source", "encode").splitlines()
    assert next(line.split() for line in lines if "json.dumps" in line)[:5] == ["0.003", "42.9", "0.005", "71.4", "5"]
    assert "Note" not in show(capsys, experiment, "source", "rows.py")


def test_source_that_is_no_file(experiment: Path, capsys) -> None:
    assert "Note: there is no file <frozen posixpath>: Python compiled it from memory" in show(capsys, experiment, "source", "abspath")


def test_a_script_that_was_changed_since_is_told(experiment: Path, tmp_path: Path, capsys) -> None:
    os.utime(tmp_path / "tool" / "rows.py")
    assert "tool/rows.py is newer than the recording" in " ".join(show(capsys, experiment, "functions").split())
    assert "the file is newer than the recording" in " ".join(show(capsys, experiment, "source", "rows.py").split())


def test_python_functions_have_no_instructions(experiment: Path, capsys) -> None:
    assert main(["report", str(experiment), "disasm", "encode"]) == 1
    assert "encode is a Python function: it has no instructions of its own, and its lines are in `source`" in capsys.readouterr().err


def test_addresses_are_offsets_in_byte_code(experiment: Path, capsys) -> None:
    found = {(row["module"], row["function"]): row["address"] for row in rows(capsys, experiment, "pcs")}
    assert found["tool/rows.py", "encode"] == 2 and found["tool/rows.py", "<module>"] == 16


def test_the_overview_names_the_interpreter(experiment: Path, capsys) -> None:
    assert "  Interpreter  CPython 3.11.2; its lock" in show(capsys, experiment)
    assert [row["interpreter"] for row in rows(capsys, experiment, "processes")] == ["CPython 3.11.2"]


@pytest.mark.parametrize(
    ("option", "expected"), [(("--module", "tool/*"), 7), (("--function", "^encode$"), 5), (("--leaf", "^<module>$"), 1), (("--ignore", "encode"), 2)]
)
def test_filters(experiment: Path, capsys, option: tuple[str, ...], expected: int) -> None:
    total = sum(row["exclusive"]["cpu"] for row in rows(capsys, experiment, "functions", *option))
    assert total == pytest.approx(expected / 1000)


def test_names_of_c_functions_mean_no_python_functions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    codes = (
        python_code(1, "select", "/srv/app.py"), python_code(2, "(interpreter)", None), python_code(3, "open", "<frozen importlib._bootstrap>"),
    )  # fmt: skip
    chains = [[python_frame(1)], [python_frame(2)], [python_frame(3), python_frame(1)], [python_frame(1), python_frame(3)]]
    stacks = samples([(chain, 0) for chain in chains], [0, 1, 2, 2, 2, 2, 3], thread=1)
    write_log(tmp_path / "b.expt", "1.0.log", begin(1), clock(), mapping(LIBRARY, LIBPYTHON), interpreter(), *codes, stacks)
    found = {row["group"]: row["exclusive"]["cpu"] for row in rows(capsys, tmp_path / "b.expt", "--by", "category")}
    assert found == {"(own code)": pytest.approx(0.002), "interpreter": pytest.approx(0.001), "Python imports": pytest.approx(0.004)}


def test_what_a_category_calls_of_its_interpreter_is_part_of_it() -> None:
    """A method in C counts for the Python function that called it, and a collection for none."""
    profile = build_profile([("f@app.py;dict.get@libpython3.11.so.1.0", 1, 0), ("f@app.py;gc@libpython3.11.so.1.0", 2, 0),
                             ("f@app.py;load@<frozen importlib._bootstrap>;dict.get@libpython3.11.so.1.0", 4, 0)])  # fmt: skip
    kinds = {"f": PYTHON, "load": PYTHON, "dict.get": METHOD, "gc": "native"}
    shown = profile._replace(frames=[frame._replace(kind=kinds[profile.functions[frame.function].name]) for frame in profile.frames])
    found = {group.title: group.exclusive[0] for group in groups(shown, "category", read_categories())}
    assert found == {"(own code)": 1.0, "interpreter": 2.0, "Python imports": 4.0}


@pytest.mark.parametrize("view", [view for view, (argument, _) in VIEWS.items() if not argument and view not in ("samples", "metrics")])
def test_each_view_says_why_functions_are_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys, view: str) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    path = write(tmp_path / "a.expt", "/srv/rows.py", interpreter("Python 3.99 is newer than this recorder"))
    assert "Python functions are not shown: Python 3.99 is newer than this recorder." in " ".join(show(capsys, path, view).split())


def test_an_archive_has_the_sources(experiment: Path, capsys) -> None:
    assert main(["archive", str(experiment), "--sources"]) == 0
    told = capsys.readouterr()
    assert "frozen" not in told.out + told.err
    assert [path.read_text() for path in experiment.rglob("rows.py")] == [SCRIPT]


def test_compared_runs(experiment: Path, tmp_path: Path, capsys) -> None:
    other = write(tmp_path / "b.expt", str(tmp_path / "tool" / "rows.py"))
    assert main(["compare", str(experiment), "--", str(other), "--json"]) == 0
    found = {row["function"] for row in json.loads(capsys.readouterr().out)["rows"]}
    assert {"encode", "<module>"} <= found


def test_the_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    """Of two threads one holds it in three of four samples, and the other has no Python function."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    stacks = [([python_frame(1)], 0), ([EXTENSION, EVAL, python_frame(1, 2, has_lock=False)], 0), ([EXTENSION], 0)]
    both = samples(stacks, [0, 0, 0, 1]), samples(stacks, [2, 2], thread=PID + 1)
    ends = thread_end(PID, user_ns=4_000_000), thread_end(PID + 1, user_ns=2_000_000)
    told = begin(), clock(), mapping("/bin/extension.so"), mapping(LIBRARY, LIBPYTHON), interpreter(), python_code(1, "f", "/srv/app.py")
    path = write_log(tmp_path / "c.expt", f"{PID}.0.log", *told, *both, *ends, close(user_ns=6_000_000)).parent
    for _ in range(2):  # what is kept answers as well
        assert [row["lock_held"] for row in rows(capsys, path, "threads")] == [pytest.approx(0.003), 0.0]
        assert "its lock (GIL) was held for 50.0 % of the CPU time" in " ".join(show(capsys, path).split())
    table = [line.split() for line in show(capsys, path, "threads").splitlines() if line.startswith("  0.00")]
    assert [words[4] for words in table] == ["75.0", "0.0"]
    leaves = {state: [row["function"] for row in rows(capsys, path, "functions", "--gil", state)] for state in ("held", "released")}
    assert (leaves["held"], leaves["released"][0]) == (["f"], "extension.so+0x5000")
    assert main(["report", str(path), "--gil", "released", "--leaf", "^f$"]) == 0


def test_profile_files_know_the_lock(experiment: Path, tmp_path: Path, capsys) -> None:
    plain = write_log(tmp_path / "e.expt", "5.0.log", begin(5), clock(), mapping(), samples([([MAIN], 0)], [0], thread=5)).parent
    files = [str(tmp_path / name) for name in ("one.profile", "two.profile")]
    for path, file in zip((plain, experiment), files):
        write_profile(load(path), file)
    assert [row["lock_held"] for row in rows(capsys, files[1], "threads")] == [pytest.approx(0.007)]
    assert [row["lock_held"] for row in rows(capsys, *files, "threads")] == [pytest.approx(0.007), 0.0]
    assert [thread.lock_held for thread in collector.open(experiment).select(lock="held").threads] == [pytest.approx(0.007)]


def test_without_python_there_is_no_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    path = write_log(tmp_path / "d.expt", f"{PID}.0.log", begin(), clock(), mapping(), samples([([MAIN], 0)], [0])).parent
    assert [row["lock_held"] for row in rows(capsys, path, "threads")] == [None] and "GIL" not in show(capsys, path, "threads") + show(capsys, path)
    assert main(["report", str(path), "--gil", "held"]) == 2
    assert "no sample of a Python function has its lock held" in capsys.readouterr().err
