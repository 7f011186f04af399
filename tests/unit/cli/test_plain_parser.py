"""test_plain_parser -- what is read without argparse is what argparse reads, and the command lines that people type are read so"""

from __future__ import annotations

import argparse
import random
from types import ModuleType

import pytest

from collector.cli.main import load_command, parse, parse_plainly
from collector.cli.plain_parser import PROGRAM, PlainParser
from collector.errors import UsageError

COMMANDS = ("record", "run", "report")
VALUES = ("a.expt", "lines", "true", "on", "=x", "5", "1.5", "", " ", "-", "-1", "-x", "--", "a b", "-a b", "auto", "rank", "released", "cycles,lo", "@x", "lo=1")


@pytest.mark.parametrize("line", [
    "record true", "record -o a.expt make -j4", "record -O a.expt python3 -c pass -o b", "record --wall ./a.out -- -x", "record --wall=exact a",
    "record -p hi --clock=cpu-timer -C one -C two a", "record", "record -- true -x", "record -p hi -- make -- -j4", "record -n --jit --metrics a.xml --metrics=b.xml true --help",
    "run --wall ./server", "report a.expt", "report a.expt functions --json", "report -l 5 a.expt --by rank b.expt calltree --threshold=2 --errors",
])  # fmt: skip
def test_what_people_type_is_read_plainly(line: str) -> None:
    name, *words = line.split()
    command = load_command(name)
    plain = parse_plainly(command, words)
    assert plain is not None and without_mark(vars(plain)) == without_mark(vars(parse(command, words)))


@pytest.mark.parametrize("line", [
    "record --help", "record -h true", "record -ohere true", "record -o -- true", "record --clock sundial true", "record --nonsense true",
    "record -o", "record --jit=1 true", "report", "report --help", "report a.expt -l x", "report a.expt --json --csv", "report a.expt --between a b",
    "report a.expt --js", "report -l -3 a.expt", "report --sort= a.expt",
])  # fmt: skip
def test_what_is_odd_is_left_to_argparse(line: str) -> None:
    name, *words = line.split()
    assert parse_plainly(load_command(name), words) is None


@pytest.mark.parametrize("name", COMMANDS)
def test_it_never_differs_from_argparse(name: str) -> None:
    command = load_command(name)
    options = options_of(command)
    chance = random.Random(name)
    plain_count = 0
    for _ in range(1500):
        words = [word for _ in range(chance.randrange(5)) for word in some_words(options, chance)]
        plain = parse_plainly(command, words)
        plain_count += plain is not None
        assert plain is None or without_mark(vars(plain)) == told_by_argparse(command, words), words
    assert plain_count > 100


def test_an_argument_that_is_more_than_plain_is_left_to_argparse() -> None:
    for settings in {"type": int, "default": "5"}, {"action": "version"}, {"required": True}, {"nargs": "?"}:
        parser = PlainParser(takes_options_between=False)
        parser.add_argument("--odd", **settings)
        parser.add_argument("command", nargs=PROGRAM)
        assert parser.parse(["--odd", "1", "true"]) is None
    assert PROGRAM == argparse.PARSER


def options_of(command: ModuleType) -> list[str]:
    parser = argparse.ArgumentParser(add_help=False)
    command.add_arguments(parser)
    return [*parser._option_string_actions, "--help", "--nonsense"]


def some_words(options: list[str], chance: random.Random) -> list[str]:
    option, value = chance.choice(options), chance.choice(VALUES)
    return chance.choice(([option], [value], ["true"], [option, value], [option, "5"], [f"{option}={value}"], [option + value], [option[:-1]]))


def without_mark(values: dict[str, object]) -> dict[str, object]:
    """The values without the -- in front of a program, which newer versions of argparse take away."""
    command = values.get("command")
    return {**values, "command": command[1:]} if isinstance(command, list) and command[:1] == ["--"] else values


def told_by_argparse(command: ModuleType, words: list[str]) -> dict[str, object] | str:
    try:
        return without_mark(vars(parse(command, words)))
    except UsageError as error:
        return str(error)
