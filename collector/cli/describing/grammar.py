"""grammar -- the commands, their options and what may stand behind these, as the argparse parsers have them"""

from __future__ import annotations

import argparse
import re
import signal
from dataclasses import dataclass
from typing import Final

from collector.cli.describing.pages import find_pages
from collector.cli.main import build_parser, describe, iter_commands, load_command
from collector.cli.reporting.words import VIEWS
from collector.format import Kind

FILES, DIRECTORIES, EXPERIMENTS, PROGRAMS = "@files", "@directories", "@experiments", "@programs"
"""What a shell knows how to complete; every other value is a word that is meant as it stands."""

_KINDS: Final[dict[str, tuple[str, ...]]] = {
    "FILE": (FILES,),
    "DIR": (DIRECTORIES,),
    "EXPT": (EXPERIMENTS,),
    "EXPERIMENT": (EXPERIMENTS,),
    "BEFORE": (EXPERIMENTS,),
    "AFTER": (EXPERIMENTS,),
    "PROGRAM": (PROGRAMS,),
    "SIGNAL": tuple(each.name.removeprefix("SIG") for each in signal.Signals if each not in (signal.SIGKILL, signal.SIGSTOP)),
    "VIEW": tuple(VIEWS),
    "COMMAND": tuple(iter_commands()),
    "PAGE": tuple(find_pages()),
    "KIND": tuple(kind.name for kind in Kind),
}
"""By the words in capitals that stand for values in the help."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option: its names, the short one first; `value` is how the help names its value, empty if it takes none."""

    names: tuple[str, ...]
    value: str
    help: str
    completions: tuple[str, ...]
    is_repeatable: bool


@dataclass(frozen=True, slots=True)
class Words:
    """Arguments that are no options, as the help names them."""

    value: str
    help: str
    completions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Command:
    """One command: what it does in one line, and all else that its help says. `runs_program`: options end where a program's name stands."""

    name: str
    summary: str
    text: str
    usage: str
    options: tuple[Option, ...]
    words: tuple[Words, ...]
    runs_program: bool


def read_grammar() -> tuple[Command, ...]:
    """All commands in the order of their names."""
    return tuple(read_command(name) for name in iter_commands())


def read_command(name: str) -> Command:
    """One of them. UsageError if there is none of that name."""
    module = load_command(name)
    parser = build_parser(module)
    actions = [action for action in parser._actions if action.help != argparse.SUPPRESS]
    words = tuple(_words_of(action) for action in actions if not action.option_strings)
    summary, _, text = describe(module.HELP).partition("\n")
    return Command(
        name=name,
        summary=summary,
        text=text.strip("\n"),
        usage=parser.usage or " ".join([f"collector {name} [OPTIONS]", *(_in_usage(action) for action in actions if not action.option_strings)]),
        options=tuple(_option_of(action) for action in actions if action.option_strings),
        words=words,
        runs_program=any(PROGRAMS in each.completions for each in words),
    )


def _option_of(action: argparse.Action) -> Option:
    names = sorted(action.option_strings, key=len)
    value = "" if action.nargs == 0 else _value_of(action)
    return Option(tuple(names), value, _help_of(action), _completions_of(action, value), isinstance(action, argparse._AppendAction))


def _words_of(action: argparse.Action) -> Words:
    value = _value_of(action)
    return Words(value, _help_of(action), _completions_of(action, value))


def _value_of(action: argparse.Action) -> str:
    if action.metavar:
        value = action.metavar if isinstance(action.metavar, str) else " ".join(action.metavar)
    else:
        value = "|".join(map(str, action.choices)) if action.choices else action.dest.upper()
    return " ".join([value] * action.nargs) if isinstance(action.nargs, int) else value


def _in_usage(action: argparse.Action) -> str:
    value = _value_of(action)
    if action.nargs in (argparse.PARSER, "+", "*") and "..." not in value:
        value += " ..." if action.nargs == argparse.PARSER else "..."
    return f"[{value}]" if action.nargs in ("?", "*") else value


def _help_of(action: argparse.Action) -> str:
    return (action.help or "") % {**vars(action), "prog": "collector"} if "%" in (action.help or "") else action.help or ""


def _completions_of(action: argparse.Action, value: str) -> tuple[str, ...]:
    if action.choices:
        return tuple(map(str, action.choices))
    named: list[str] = []
    for piece in re.split(r"[|\s\[\]]+", re.sub(r"(?<=\S)\[[^\]]*\]", "", value)):
        word = piece.strip(".")
        if word.islower() and word.isalpha():
            named.append(word)
        elif word.endswith(".expt"):
            named.append(EXPERIMENTS)
        else:
            named.extend(_KINDS.get(re.split(r"[^A-Z]", word)[0], ()))
    return tuple(kind for kind in dict.fromkeys(named) if kind != DIRECTORIES or FILES not in named)
