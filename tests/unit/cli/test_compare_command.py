"""test_compare_command -- `collector compare` as a user meets it: two sides, options, sentences, exit status"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from small_experiment import write_small

from collector.cli.main import main
from collector.load import load
from collector.load.serial import write_profile


@pytest.fixture(autouse=True)
def _experiments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two runs as before, and two in which f2 called by f1 takes longer."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("COLUMNS", raising=False)
    for number in (1, 2):
        write_small(tmp_path / f"a{number}.expt", [0] * 100 + [1] * (200 + number))
        write_small(tmp_path / f"b{number}.expt", [0] * 200 + [1] * (200 + number))


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """Status, output and complaints."""
    status = main(["compare", *words])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@pytest.mark.parametrize(
    "words",
    [
        ("a1.expt", "--", "b1.expt"),
        ("-l", "1", "a1.expt", "--", "b1.expt"),
        ("a1.expt", "-l", "1", "--", "b1.expt"),
        ("a1.expt", "--", "b1.expt", "-l", "1"),
        ("a1.expt", "--after", "b1.expt"),
    ],
)
def test_options_stand_anywhere_but_within_a_side(words: tuple[str, ...], capsys) -> None:
    status, out, err = run(capsys, *words)
    assert (status, err) == (0, "")
    assert "1 run of prog -x: a1.expt" in out and "1 run of prog -x: b1.expt" in out
    assert out.rstrip().endswith("slower: prog+0x2010 (+100.0 %).")
    assert ("prog+0x1020" in out) == ("-l" not in words)


def test_several_runs_are_compared_by_their_spread(capsys) -> None:
    document = json.loads(run(capsys, "a1.expt", "a2.expt", "--", "b1.expt", "b2.expt", "--json")[1])
    assert (document["before"], document["after"]) == (["a1.expt", "a2.expt"], ["b1.expt", "b2.expt"])
    assert document["method"] == "runs"
    assert document["total"]["before"] == pytest.approx(0.3015)
    assert document["rows"][0]["difference"] == pytest.approx(0.1)
    assert document["rows"][0]["before_samples"] == 200


@pytest.mark.parametrize(("limit", "status"), [("5%", 3), ("5 %", 3), ("32", 3), ("40%", 3), ("100%", 0)])
def test_what_got_slower_fails_a_build(limit: str, status: int, capsys) -> None:
    given, out, err = run(capsys, "--fail-above", limit, "a1.expt", "--", "b1.expt")
    assert given == status
    assert "total CPU time" in out
    assert ("prog+0x2010 (+100.0 %)" in err) == (status == 3)
    assert ("the total (+33.2 %)" in err) == (limit in ("5%", "5 %", "32"))


def test_what_got_faster_does_not(capsys) -> None:
    assert run(capsys, "--fail-above", "0", "b1.expt", "--", "a1.expt")[0] == 0


def test_lines_and_sorting(capsys) -> None:
    document = json.loads(run(capsys, "--by", "line", "a1.expt", "--", "b1.expt", "--json")[1])
    assert document["by"] == "line" and len(document["rows"]) == 2
    for column in ("difference", "ratio", "before", "after", "p", "function", "module", "line"):
        assert run(capsys, "-s", column, "a1.expt", "--", "b1.expt")[0] == 0
    names = [row["function"] for row in json.loads(run(capsys, "-s", "function", "a1.expt", "--", "b1.expt", "--json")[1])["rows"]]
    assert names == sorted(names)


def test_a_file_is_written(tmp_path: Path, capsys) -> None:
    status, out, _ = run(capsys, "--csv", "-o", "out.csv", "a1.expt", "--", "b1.expt")
    assert (status, out) == (0, "")
    assert (tmp_path / "out.csv").read_text().startswith("function,module,file,line,path,before,after,")


@pytest.mark.parametrize(
    ("words", "status", "sentence"),
    [
        ((), 2, "which runs are compared with which? collector compare BEFORE... -- AFTER..."),
        (("a1.expt", "b1.expt"), 2, "which runs are compared with which?"),
        (("a1.expt", "--"), 2, "there is no experiment behind `--`"),
        (("--", "b1.expt"), 2, "there is no experiment before `--`"),
        (("a1.expt", "--", "b1.expt", "--", "a2.expt"), 2, "there are two sides, so `--` stands once"),
        (("a1.expt", "--", "./a1.expt"), 2, "./a1.expt is named twice"),
        (("a1.expt", "--", "none.expt"), 1, "none.expt"),
        (("--fail-above", "much", "a1.expt", "--", "b1.expt"), 2, "--fail-above is a number of percent such as 5%, not 'much'"),
        (("--fail-above", "nan", "a1.expt", "--", "b1.expt"), 2, "--fail-above"),
        (("--fail-above=-1", "a1.expt", "--", "b1.expt"), 2, "--fail-above"),
        (("-l", "-1", "a1.expt", "--", "b1.expt"), 2, "--limit"),
        (("-w", "3", "a1.expt", "--", "b1.expt"), 2, "--width"),
        (("-s", "colour", "a1.expt", "--", "b1.expt"), 2, "colour"),
    ],
)
def test_mistakes_are_one_sentence(words: tuple[str, ...], status: int, sentence: str, capsys) -> None:
    given, out, err = run(capsys, *words)
    assert (given, out) == (status, "")
    assert err.count("\n") == 1 and err.startswith("collector: ") and sentence in err


def test_a_file_of_a_profile_is_a_run_unless_it_holds_several(tmp_path: Path, capsys) -> None:
    for path, experiments in (("one.profile", ["b1.expt"]), ("two.profile", ["b1.expt", "b2.expt"])):
        write_profile(load(experiments), tmp_path / path)
    status, out, _ = run(capsys, "a1.expt", "--", "one.profile")
    assert status == 0 and out == run(capsys, "a1.expt", "--", "b1.expt")[1]
    status, out, err = run(capsys, "a1.expt", "--", "two.profile")
    assert (status, out) == (2, "") and "two.profile holds several experiments" in err


def test_what_is_kept_of_an_experiment_compares_the_same(capsys) -> None:
    for by in ("function", "line", "path"):
        first, second = (run(capsys, "--by", by, "a1.expt", "a2.expt", "--", "b1.expt", "--json") for _ in range(2))
        assert first == second
        assert json.loads(first[1])["rows"] == json.loads(run(capsys, "--by", by, "--no-inlines", "a1.expt", "a2.expt", "--", "b1.expt", "--json")[1])["rows"]


def test_another_metric(capsys) -> None:
    document = json.loads(run(capsys, "--metric", "user", "a1.expt", "--", "b1.expt", "--json")[1])
    assert document["metric"] == "user" and document["rows"][0]["verdict"] == "slower"
    assert run(capsys, "--metric", "wall", "a1.expt", "--", "b1.expt")[0] == 2
    status, _, complaint = run(capsys, "--metric", "user,system", "a1.expt", "--", "b1.expt")
    assert (status, complaint) == (2, "collector: one metric is compared at a time: --metric NAME\n")
