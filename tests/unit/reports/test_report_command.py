"""test_report_command -- `collector report` as a user meets it: words, options, sentences, exit status"""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from small_experiment import BASE, PID, T0, begin, clock, mapping, samples, write_log, write_small

from collector.cli.main import main
from collector.cli.reporting.words import VIEWS, parse_words
from collector.errors import UsageError
from collector.load import load
from collector.load.serial import write_profile


@pytest.fixture
def experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Two stacks of a program whose file is gone: functions are prog+0x... ."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("COLUMNS", raising=False)
    write_small(tmp_path / "small.expt")
    return "small.expt"


def report(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """Status, output and complaints."""
    status = main(["report", *words])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def complaint(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    """Status and the one sentence of a command that fails."""
    status, out, err = report(capsys, *words)
    assert out == ""
    assert err.count("\n") == 1 and err.startswith("collector: ")
    return status, err.removeprefix("collector: ").rstrip()


def test_without_a_view_it_is_the_overview(experiment: str, capsys) -> None:
    status, out, err = report(capsys, experiment)
    assert (status, err) == (0, "")
    assert out.startswith("small.expt\n")
    assert "0.003 s: 0.003 user, 0.000 system" in out
    assert out == report(capsys, experiment, "overview")[1]


@pytest.mark.parametrize("view", [view for view, (argument, _) in VIEWS.items() if not argument])
def test_every_view_is_shown_in_every_format(view: str, experiment: str, capsys) -> None:
    assert report(capsys, experiment, view)[0] == 0
    status, out, _ = report(capsys, experiment, view, "--json")
    assert status == 0
    document = json.loads(out)
    assert document["experiment"] == "small.expt"
    assert document["total"]["cpu"] == pytest.approx(0.003)
    status, out, _ = report(capsys, experiment, view, "--csv")
    assert status == 0
    assert len(list(csv.DictReader(io.StringIO(out)))) == len(document["rows"])


def test_a_file_that_is_gone_gives_addresses_and_a_warning(experiment: str, capsys) -> None:
    document = json.loads(report(capsys, experiment, "functions", "--json")[1])
    assert {row["function"] for row in document["rows"]} == {"prog+0x2010", "prog+0x1007", "prog+0x1020"}
    assert "Warning: " in report(capsys, experiment)[1]


@pytest.mark.parametrize("view", [view for view, (argument, _) in VIEWS.items() if not argument])
def test_every_view_of_code_tells_of_a_module_without_names_once(view: str, experiment: str, capsys) -> None:
    """The others tell of it to programs, which may look for more than the view shows."""
    has_code = view not in ("samples", "timeline", "metrics", "threads", "processes")
    sentence = "prog is shown without function names: /bin/prog cannot be opened: No such file or directory."
    out = " ".join(report(capsys, experiment, view)[1].split())
    assert out.count("is shown without function names") == has_code
    assert sentence in json.loads(report(capsys, experiment, view, "--json")[1])["warnings"]


def test_sampling_errors_stand_beside_the_times(experiment: str, capsys) -> None:
    """f2 has two samples of 1 ms: no more than 7.2247 are in the upper end of their range."""
    def leaf(*words: str) -> dict:
        rows = json.loads(report(capsys, experiment, *words, "--json")[1])["rows"]
        return next(row["exclusive"] for row in rows if row["function"] == "prog+0x2010")

    for view in ("functions", "lines", "calltree"):
        assert leaf(view, "--errors")["error"] == pytest.approx(0.005225, abs=1e-6)
        assert "error" not in leaf(view)
        assert "\u00b1" in report(capsys, experiment, view, "--errors")[1]
        assert "\u00b1" not in report(capsys, experiment, view)[1]
    row = next(csv.DictReader(io.StringIO(report(capsys, experiment, "functions", "--errors", "--csv")[1])))
    assert float(row["exclusive_error"]) == pytest.approx(0.005225, abs=1e-6)
    document = json.loads(report(capsys, experiment, "calltree", "--errors", "--json")[1])
    assert document["rows"][0]["exclusive"]["error"] is None
    for words in (("--by", "module"), ("functions", "--by", "module"), ("lines", "--by", "module")):
        document = json.loads(report(capsys, experiment, *words, "--errors", "--json")[1])
        for row in (*document["rows"], *document.get("groups", ())):
            assert row["exclusive"]["error"] == pytest.approx(0.005225, abs=1e-6) or row["exclusive"]["cpu"] != 0.002
        assert "\u00b1" in report(capsys, experiment, *words, "--errors")[1]
        assert "\u00b1" not in report(capsys, experiment, *words)[1]


def test_options_stand_before_between_and_behind_the_words(experiment: str, capsys) -> None:
    words = experiment, "callers-callees", "prog+0x1007"
    expected = report(capsys, *words, "--width", "70", "--csv")
    assert expected[0] == 0
    for place in range(len(words)):
        assert report(capsys, *words[:place], "--width", "70", "--csv", *words[place:]) == expected
    assert report(capsys, words[0], "-w", "70", words[1], "--csv", words[2]) == expected
    assert complaint(capsys, experiment, "functions", "--colour") == (2, "unrecognized arguments: --colour (collector report --help tells more)")


def test_callers_and_callees_of_a_function(experiment: str, capsys) -> None:
    status, out, _ = report(capsys, experiment, "callers-callees", "prog+0x1007")
    assert status == 0
    assert "prog+0x2010" in out
    assert json.loads(report(capsys, experiment, "callers-callees", "+0x2010", "--json")[1])["function"]["function"] == "prog+0x2010"


def test_profiles_in_files_are_added_up_as_experiments_are(experiment: str, capsys, tmp_path: Path) -> None:
    write_small(tmp_path / "other.expt", indexes=(1, 1, 1))
    write_profile(load("other.expt"), "other.profile")
    together = report(capsys, experiment, "other.expt", "functions")
    assert report(capsys, experiment, "other.profile", "functions") == together
    assert report(capsys, "other.profile", "functions") == report(capsys, "other.expt", "functions")
    for option in ((), ("--no-inlines",)):
        _, sentence = complaint(capsys, "other.profile", "functions", "--time", "0-1", *option)
        assert sentence.endswith("for this the experiment is needed")


def test_experiments_are_added_up(experiment: str, capsys, tmp_path: Path) -> None:
    write_small(tmp_path / "other.expt", [0])
    document = json.loads(report(capsys, experiment, "other.expt", "functions", "--json")[1])
    assert document["experiment"] == ["small.expt", "other.expt"]
    assert document["total"]["cpu"] == pytest.approx(0.004)


def test_rows_are_limited_and_sorted(experiment: str, capsys) -> None:
    out = report(capsys, experiment, "functions", "--limit", "1")[1]
    assert "... and 2 more functions, 33.3 %" in out
    rows = json.loads(report(capsys, experiment, "functions", "--sort", "function", "--json")[1])["rows"]
    assert [row["function"] for row in rows] == sorted(row["function"] for row in rows)
    rows = json.loads(report(capsys, experiment, "functions", "--sort", "inclusive", "--limit", "2", "--json")[1])["rows"]
    assert len(rows) == 2


def test_threads_processes_and_spans_are_chosen(experiment: str, capsys) -> None:
    def total(*options: str) -> float:
        return json.loads(report(capsys, experiment, "functions", "--json", *options)[1])["total"]["cpu"]

    assert total("--thread", str(PID)) == pytest.approx(0.003)
    assert total("--process", str(PID), "--time", "0-0.0015") == pytest.approx(0.001)
    assert total("--time", "0.0015-") == pytest.approx(0.002)
    assert total("--time", "-0.0025") == pytest.approx(0.002)


def test_stacks_are_chosen_by_names(experiment: str, capsys) -> None:
    """Twice f2 called by f1, and another place alone."""
    def total(*options: str) -> float:
        return json.loads(report(capsys, experiment, "functions", "--json", *options)[1])["total"]["cpu"]

    assert total() == pytest.approx(0.003)  # which is kept
    assert total("--process", "pro*", "--thread", "prog") == pytest.approx(0.003)
    assert total("--function", "0x1007$") == total("--leaf", "0x2010") == pytest.approx(0.002)
    assert total("--function", "0x1007", "--function", "0x2010", "--module", "prog") == pytest.approx(0.002)
    assert total("--leaf", "0x1007") == 0
    assert total("--leaf", "0x10", "--time", "0-0.0035") == pytest.approx(0.001)
    assert total() == pytest.approx(0.003)


def test_output_goes_to_a_file(experiment: str, capsys, tmp_path: Path) -> None:
    assert report(capsys, experiment, "functions", "-o", "out.txt") == (0, "", "")
    assert (tmp_path / "out.txt").read_text() == report(capsys, experiment, "functions")[1]
    status, sentence = complaint(capsys, experiment, "functions", "-o", "no/such/directory")
    assert (status, sentence) == (1, "no/such/directory cannot be written: no such file or directory")


def test_source_is_read_from_disk(experiment: str, capsys) -> None:
    assert complaint(capsys, experiment, "source", "prog.c")[0] == 2
    status, sentence = complaint(capsys, experiment, "source", "prog+0x2010")
    assert status == 1
    assert "no source lines are known" in sentence


@pytest.mark.parametrize(
    ("words", "status", "part"),
    [
        (["missing.expt"], 1, "there is no experiment at missing.expt"),
        (["small.expt", "missing.expt", "functions"], 1, "there is no experiment at missing.expt"),
        (["small.expt/100.0.log"], 1, "it is a file"),
        (["."], 1, "there is no log in it"),
        (["functions"], 2, "name the experiment before it"),
        (["small.expt", "fnctions"], 2, "did you mean functions?"),
        (["small.expt", "qqqq"], 2, "the views are overview, functions"),
        (["small.expt", "functions", "extra"], 2, "takes no 'extra'"),
        (["small.expt", "callers-callees"], 2, "the function is missing"),
        (["small.expt", "callers-callees", "a", "b"], 2, "quotes"),
        (["small.expt", "callers-callees", "prog+0x2011"], 2, "did you mean prog+0x2010"),
        (["small.expt", "callers-callees", "prog"], 2, "may mean"),
        (["small.expt", "functions", "--sort", "colour"], 2, "there are exclusive, inclusive"),
        (["small.expt", "header", "--sort", "pid"], 2, "--sort is for"),
        (["small.expt", "threads", "--errors"], 2, "--errors is for functions, lines, calltree"),
        (["small.expt", "--limit", "-1"], 2, "--limit"),
        (["small.expt", "--width", "3"], 2, "--width"),
        (["small.expt", "calltree", "--threshold", "101"], 2, "--threshold"),
        (["small.expt", "--time", "soon"], 2, "--time"),
        (["small.expt", "--time", "3-1"], 2, "the end comes before the start"),
        (["small.expt", "--process", "4"], 2, "no process 4"),
        (["small.expt", "--thread", "4"], 2, "no thread 4"),
        (["small.expt", "--process", "gone*"], 2, "no process gone*"),
        (["small.expt", "--function", "("], 2, "no regular expression"),
        (["small.expt", "--module", "*.so"], 2, "no module *.so is on any stack"),
        (["small.expt", "--between", "a", "b"], 2, "no sample point has the label 'a'"),
    ],
)
def test_what_makes_no_sense_is_one_sentence(words: list[str], status: int, part: str, experiment: str, capsys) -> None:
    found, sentence = complaint(capsys, *words)
    assert found == status
    assert part in sentence


def test_words_are_experiments_then_a_view_then_its_argument(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b.expt", "functions"):
        (tmp_path / name).mkdir()
    assert parse_words(["a", "b.expt"]).paths == ("a", "b.expt")
    assert parse_words(["a", "functions"]).view == "functions"
    assert parse_words(["a", "./functions", "lines"]).paths == ("a", "./functions")
    assert parse_words(["functions", "lines"]).paths == ("functions",)
    request = parse_words(["a", "callers-callees", "lines"])
    assert (request.view, request.argument) == ("callers-callees", "lines")
    with pytest.raises(UsageError):
        parse_words([])


@pytest.mark.parametrize(
    ("words", "view", "argument"),
    [
        ("func", "functions", None), ("func main", "function", "main"), ("function main", "function", "main"), ("thr", "threads", None),
        ("callers main", "callers-callees", "main"), ("callt", "calltree", None), ("callers lines", "callers-callees", "lines"),
    ],
)  # fmt: skip
def test_the_beginning_of_a_view_is_enough(words: str, view: str, argument: str | None, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    request = parse_words(["a", "b.expt", *words.split()])
    assert (request.paths, request.view, request.argument) == (("a", "b.expt"), view, argument)
    (tmp_path / words.split()[0]).mkdir()
    if words.split()[0] not in VIEWS:
        assert parse_words(["a", words.split()[0], "lines"]).paths == ("a", words.split()[0])


def test_a_beginning_of_several_views_is_none_of_them(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    for word, views in (("call", "callers-callees, calltree or calls"), ("o", "overview or objects"), ("s", "source or samples")):
        with pytest.raises(UsageError, match=f"the view '{word}' is not clear: {views}\\?"):
            parse_words(["a", word])
    with pytest.raises(UsageError, match="no view and no experiment ''"):
        parse_words(["a", ""])


def test_a_damaged_experiment_is_shown_as_far_as_it_goes(experiment: str, capsys, tmp_path: Path) -> None:
    log = tmp_path / experiment / f"{PID}.0.log"
    data = log.read_bytes()
    for length in range(0, len(data), 7):
        log.write_bytes(data[:length])
        for view in ("overview", "functions", "processes", "header"):
            status, out, err = report(capsys, experiment, view)
            assert (status, err) == (0, ""), (length, err)
            assert out


def test_names_of_any_bytes_can_be_printed_anywhere(experiment: str, tmp_path: Path) -> None:
    write_log(
        tmp_path / "odd.expt", f"{PID}.0.log", begin(arguments=["caf\u00e9", "\udcff", "a\nb"]), clock(),
        mapping("/bin/\udcff\u00e9"), samples([([BASE + 0x1000], 0)], [0]),
    )  # fmt: skip
    for view in ("overview", "functions", "header"):
        assert json.loads(run_cli("odd.expt", view, "--json", cwd=tmp_path).stdout)
    script = "import sys; from collector.cli.main import main; sys.exit(max(main(['report', 'odd.expt', view]) for view in sys.argv[1:]))"
    for encoding in ("utf-8", "ascii", "latin-1"):
        command = [sys.executable, "-c", script, "overview", "functions", "header"]
        done = subprocess.run(command, cwd=tmp_path, env=environment(PYTHONIOENCODING=encoding), capture_output=True)
        assert (done.returncode, done.stderr) == (0, b"") and done.stdout


def test_a_reader_that_goes_away_is_no_error(experiment: str, tmp_path: Path) -> None:
    stacks = [([BASE + 0x1000 + 16 * number], 0) for number in range(900)]
    write_log(tmp_path / "wide.expt", f"{PID}.0.log", begin(), clock(), mapping(), samples(stacks, list(range(900)), at_ns=T0))
    reading, writing = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-m", "collector", "report", "wide.expt", "functions"],
        cwd=tmp_path, env=environment(), stdout=writing, stderr=subprocess.PIPE,
    )  # fmt: skip
    os.close(writing)
    os.close(reading)
    assert process.communicate()[1] == b""
    assert process.returncode in (0, 141)


def test_colour_is_for_terminals_that_want_it(experiment: str, tmp_path: Path) -> None:
    assert b"\x1b[" not in run_cli(experiment, cwd=tmp_path).stdout
    assert b"\x1b[" in in_terminal(tmp_path, experiment, TERM="xterm")
    assert b"\x1b[" not in in_terminal(tmp_path, experiment, TERM="xterm", NO_COLOR="1")
    assert b"\x1b[" not in in_terminal(tmp_path, experiment, TERM="dumb")


def test_the_width_is_the_terminals(experiment: str, tmp_path: Path) -> None:
    for columns in (60, 120):
        lines = in_terminal(tmp_path, experiment, NO_COLOR="1", columns=columns).decode().split("\r\n")
        assert columns - 30 < max(map(len, lines)) <= columns
    assert max(map(len, run_cli(experiment, COLUMNS="50", cwd=tmp_path).stdout.decode().split("\n"))) <= 50


def environment(**more: str) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "NO_COLOR")}
    return {**kept, "PYTHONPATH": str(Path(__file__).parents[3]), **more}


def run_cli(*words: str, cwd: Path, **more: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "collector", "report", *words]
    return subprocess.run(command, cwd=cwd, env=environment(**more), capture_output=True, check=False)


def in_terminal(cwd: Path, *words: str, columns: int = 100, **more: str) -> bytes:
    """What a pseudo terminal shows."""
    import fcntl
    import pty
    import struct
    import termios

    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-m", "collector", "report", *words], cwd=cwd, env=environment(**more), stdout=slave, stderr=slave
    )
    os.close(slave)
    shown = b""
    while True:
        try:
            data = os.read(master, 65536)
        except OSError:  # the terminal's other side was closed
            break
        if not data:
            break
        shown += data
    os.close(master)
    assert process.wait() == 0
    return shown


def test_groups_cuts_and_categories_from_the_command_line(experiment: str, tmp_path: Path, capsys) -> None:
    table = tmp_path / "mine"
    table.write_text("[leaves]\nfunction ^prog.0x2\n")
    told = report(capsys, experiment, "--by", "category", "--categories", str(table), "--csv")[1]
    assert [line.split(",")[0] for line in told.split("\n")] == ["group", "leaves", "(own code)", ""]
    whole, focus = (json.loads(report(capsys, experiment, "functions", "--json", *more)[1]) for more in ((), ("--focus", "0x2")))
    assert focus["total"] == whole["rows"][0]["inclusive"]
    callers = json.loads(report(capsys, experiment, "calltree", "--json", "--bottom-up", "--callers-of", "0x2")[1])
    assert callers["rows"][1]["inclusive"] == focus["total"]
    left = json.loads(report(capsys, experiment, "functions", "--json", "--ignore", "0x2")[1])
    assert left["total"]["samples"] == whole["total"]["samples"] - focus["total"]["samples"]
    table.write_text("leaves\n")
    assert complaint(capsys, experiment, "--by", "category", "--categories", str(table)) == (
        2, f"{table}, line 1: before 'leaves' a line [NAME] must say of which category it is",
    )  # fmt: skip
    for words in (("functions",), ("lines",), ()):
        rows = json.loads(report(capsys, experiment, *words, "--by", "module", "--sort", "inclusive", "--json")[1])["rows"]
        assert [row["inclusive"]["cpu"] for row in rows] == sorted((row["inclusive"]["cpu"] for row in rows), reverse=True)
    assert complaint(capsys, experiment, "--by", "file", "--sort", "line") == (
        2, "groups have no column 'line' to sort by; there are exclusive, inclusive, user, system, samples, group",
    )  # fmt: skip
    assert "calltree cannot be grouped" in complaint(capsys, experiment, "calltree", "--by", "file")[1]
    assert complaint(capsys, experiment, "--category", "fun")[0] == 2
