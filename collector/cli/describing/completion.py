"""completion -- the scripts that complete command lines in bash, zsh and fish

What is the same for all commands is written in the shells' own languages beside this file, collector.bash and so on. A line of the form
@NAME@ there stands for a table that is made here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Final

from collector.cli.describing.grammar import DIRECTORIES, EXPERIMENTS, FILES, Command, Option, Words, read_grammar


def completion_script(shell: str) -> str:
    """The script for one of the SHELLS."""
    commands = read_grammar()
    tables = {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](commands)
    with open(os.path.join(os.path.dirname(__file__), f"collector.{shell}"), encoding="utf-8") as file:
        script = file.read()
    return re.sub("@([A-Z]+)@", lambda name: tables[name[1]], script)


def _quoted(text: str) -> str:
    """For bash and zsh."""
    return "'" + text.replace("'", "'\\''") + "'"


def _bash(commands: Sequence[Command]) -> dict[str, str]:
    def table(name: str, entries: Mapping[str, Sequence[str]]) -> str:
        return "\n".join([f"declare -gA {name}=(", *(f"    [{_quoted(key)}]={_quoted(' '.join(values))}" for key, values in entries.items()), ")"])

    options = {command.name: [name for option in command.options for name in option.names] for command in commands}
    values = {
        f"{command.name} {name}": option.completions for command in commands for option in command.options if option.value for name in option.names
    }
    words = {command.name: _completions_of(command.words) for command in commands}
    lines = [
        f"_collector_commands={_quoted(' '.join(command.name for command in commands))}",
        f"_collector_launchers={_quoted(' '.join(command.name for command in commands if command.runs_program))}",
        table("_collector_options", options),
        table("_collector_values", values),
        table("_collector_words", words),
    ]
    return {"TABLES": "\n".join(lines)}


def _completions_of(words: Sequence[Words]) -> list[str]:
    return [completion for each in words for completion in each.completions]


def _zsh(commands: Sequence[Command]) -> dict[str, str]:
    described = [f"    {_quoted(f'{command.name}:{command.summary}')}" for command in commands]
    cases = [line for command in commands for line in _zsh_case(command)]
    return {"COMMANDS": "\n".join(["known=(", *described, "  )"]), "CASES": "\n".join(cases)}


def _zsh_case(command: Command) -> list[str]:
    specs = [_quoted(spec) for option in command.options for spec in _zsh_option(option)]
    if command.runs_program:
        specs += [_quoted(f"(-)1: : _collector_offer {' '.join(_completions_of(command.words))}"), "'*:: : _normal'"]
    elif command.words:
        specs.append(_quoted(f"*: : _collector_offer {' '.join(_completions_of(command.words))}"))
    ending = " -A '-*'" if command.runs_program else ""
    return [f"    ({command.name})", " \\\n        ".join([f"      _arguments -s{ending} :", *specs]), "      ;;"]


def _zsh_option(option: Option) -> list[str]:
    action = f" _collector_offer {' '.join(option.completions)}" if option.completions else " "
    value = "".join(f":{_escaped(part, ':')}:{action}" for part in option.value.split())
    others = "*" if option.is_repeatable else f"({' '.join(option.names)})" if len(option.names) > 1 else ""
    signs = {True: "=", False: "+"} if option.value else {True: "", False: ""}
    return [f"{others}{name}{signs[name.startswith('--')]}[{_escaped(option.help, '[]')}]{value}" for name in option.names]


def _escaped(text: str, characters: str) -> str:
    return "".join(f"\\{one}" if one in f"\\{characters}" else one for one in text)


_FISH_KINDS: Final = {
    FILES: ["-r", "-F"],
    DIRECTORIES: ["-x", "-a", "'(__fish_complete_directories)'"],
    EXPERIMENTS: ["-x", "-a", "'(__collector_experiments)'"],
}


def _fish(commands: Sequence[Command]) -> dict[str, str]:
    first = "complete -c collector -n 'test (count (commandline -opc)) -eq 1'"
    lines = [f"{first} -a {command.name} -d {_fish_quoted(command.summary)}" for command in commands]
    lines += [f"{first} -s h -l help", f"{first} -s V -l version"]
    for command in commands:
        condition = f"complete -c collector -n '__collector_in {command.name}'"
        lines += [" ".join([condition, *_fish_names(option), *_fish_value(option), "-d", _fish_quoted(option.help)]) for option in command.options]
        kinds = _completions_of(command.words)
        plain = " ".join(kind for kind in kinds if not kind.startswith("@"))
        if plain:  # a view comes behind an experiment
            behind = "; and __collector_has_experiment" if EXPERIMENTS in kinds else ""
            lines.append(f"complete -c collector -n '__collector_in {command.name}{behind}' -a {_fish_quoted(plain)}")
        lines += [" ".join([condition, *_FISH_KINDS[kind]]) for kind in kinds if kind in _FISH_KINDS]
    lines.append("complete -c collector -n __collector_launches -x -a '(__collector_complete_program)'")
    launchers = [command for command in commands if command.runs_program]
    valued = sorted({name for command in launchers for option in command.options if option.value for name in option.names})
    return {"COMPLETES": "\n".join(lines), "LAUNCHERS": " ".join(command.name for command in launchers), "VALUED": " ".join(valued)}


def _fish_names(option: Option) -> list[str]:
    return [word for name in option.names for word in (("-l", name[2:]) if name.startswith("--") else ("-s", name[1:]))]


def _fish_value(option: Option) -> list[str]:
    if not option.value:
        return []
    plain = " ".join(kind for kind in option.completions if not kind.startswith("@"))
    words = [word for kind in option.completions if kind in _FISH_KINDS for word in _FISH_KINDS[kind]]
    return words or ["-x", *(["-a", _fish_quoted(plain)] if plain else [])]


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
