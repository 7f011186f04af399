"""test_habits -- what people type who know other profilers is answered in one sentence with what to type here"""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest

from collector.cli import habits
from collector.cli.main import build_parser, iter_commands, load_command, main
from collector.cli.reporting.words import VIEWS


def complaint(capsys: pytest.CaptureFixture[str], line: str) -> str:
    """The one sentence that a command line ends with."""
    assert main(shlex.split(line)) == 2
    out, error = capsys.readouterr()
    assert out == "" and error.startswith("collector: ") and error.count("\n") == 1
    return error.removeprefix("collector: ").rstrip("\n")


ANSWERS = {
    "top": "there is no command 'top': `collector watch -- PROGRAM`, or",
    "stat ls -l": "there is no command 'stat': `collector run PROGRAM` shows CPU time, `collector record -h EVENT PROGRAM`",
    "list": "there is no command 'list': `collector record --list-metrics` lists",
    "script -i perf.data": "there is no command 'script': samples one by one are printed by `collector events EXPT --kind sample`",
    "flamegraph a.expt": "there is no command 'flamegraph': `collector html EXPT` makes a page with the flame graph",
    "record -p 4711": "a process that runs already cannot be attached to: ",
    "record -p 4711 -o x.svg": "a process that runs already cannot be attached to: ",
    "record --pid=4711": "a process that runs already cannot be attached to: ",
    "run -p 99999 sleep 10": "a process that runs already cannot be attached to: ",
    "rec -g ls": "whole stacks are always recorded, without an option",
    "record -F 99 ls": "the rate is chosen by -p, ",
    "record --rate 100 ls": "the rate is chosen by -p, ",
    "record -o x.svg ls": "record makes an experiment: `collector record -o x.expt PROGRAM`; `collector html x.expt` makes",
    "run -o out/x.folded ls": "run makes an experiment: `collector run -o out/x.expt PROGRAM`; `collector export out/x.expt --format folded` makes",
    "report a.expt -o x.svg": "report writes text; `collector html EXPT` makes a page with the flame graph",
}


@pytest.mark.parametrize("line", ANSWERS)
def test_what_others_have(line: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert complaint(capsys, line).startswith(ANSWERS[line])
    assert not os.listdir(tmp_path)


ORDINARY = {
    "record -p 4711u": "there is no program to record; name it,",
    "record --bogus ls": "unrecognized arguments: --bogus (collector record --help tells more)",
    "record -F nothing ls": "-F takes on, off or =REGEX, not 'nothing'",
    "report -g": "the following arguments are required: ",
    "reprot": "there is no command 'reprot'; did you mean report?",
    "-o x.svg": "there is no command '-o'; collector -h lists them",
}


@pytest.mark.parametrize("line", ORDINARY)
def test_other_mistakes_stay_as_they_are(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert complaint(capsys, line).startswith(ORDINARY[line])


def test_a_programs_own_options_are_no_habits(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["record", "-n", "true", "-g", "-o", "x.svg", "--pid", "1"]) == 0
    assert capsys.readouterr().err == ""


def test_what_is_advised_can_be_typed() -> None:
    texts = [*habits._COMMANDS.values(), *habits._RECORD_OPTIONS.values()]
    advised = {line for text in texts for line in re.findall(r"`collector ([^`]+)`", text)}
    assert len(advised) > 10
    for line in advised:
        name, *rest = re.sub(r"FUNCTION|BEFORE\.\.\.|AFTER\.\.\.|PROGRAM|EXPT", "true", line).split()
        if name in iter_commands() and rest:
            command = load_command(name)
            args = build_parser(command).parse_args(command.prepare(rest) if hasattr(command, "prepare") else rest)
            assert name != "report" or args.words[1:2] == [] or args.words[1] in VIEWS


def test_no_habit_hides_a_command() -> None:
    assert not set(habits._COMMANDS) & set(iter_commands())
