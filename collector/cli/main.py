"""main -- the command line: finds the command, ends every expected exception in one sentence and an exit status

A command is a module of this package named as the command, with

    NAME                    the word on the command line
    HELP                    the module's docstring, whose first line says what it does
    add_arguments(parser)   its arguments
    run(args) -> int        does it and gives the exit status

Only the module of the command that was asked for is imported.
"""

from __future__ import annotations

import argparse
import importlib
import os
import pkgutil
import sys
from types import ModuleType

from collector.errors import CollectorError, UsageError

_NOT_COMMANDS = {"main"}


def main(arguments: list[str] | None = None) -> int:
    """Run `collector ARGUMENTS...` and give its exit status: 1 if something went wrong, 2 if the command line did."""
    words = sys.argv[1:] if arguments is None else arguments
    try:
        return _run(words)
    except CollectorError as error:
        print(f"collector: {error}", file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1
    except BrokenPipeError:
        # Whoever read our output has gone; nothing that Python still flushes may complain about it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt:
        return 130


def iter_commands() -> list[str]:
    """Give the names of all commands."""
    import collector.cli as home

    return sorted(module.name for module in pkgutil.iter_modules(home.__path__) if module.name not in _NOT_COMMANDS)


def load_command(name: str) -> ModuleType:
    """Import a command's module. UsageError if there is no such command."""
    if not name.isidentifier() or name in _NOT_COMMANDS:
        raise _unknown(name)
    try:
        return importlib.import_module(f"collector.cli.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"collector.cli.{name}":
            raise
        raise _unknown(name) from None


def build_parser(command: ModuleType) -> argparse.ArgumentParser:
    """Give the parser of one command."""
    parser = argparse.ArgumentParser(
        prog=f"collector {command.NAME}",
        description=_describe(command.HELP),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    command.add_arguments(parser)
    return parser


def _run(words: list[str]) -> int:
    if not words or words[0] in ("-h", "--help", "help"):
        print(_overview())
        return 0 if words else 2
    if words[0] in ("-V", "--version"):
        from collector import __version__

        print(f"collector {__version__}")
        return 0
    command = load_command(words[0])
    return command.run(build_parser(command).parse_args(words[1:]))


def _overview() -> str:
    lines = ["collector COMMAND ... -- records where a program spends its time, and shows it", ""]
    for name in iter_commands():
        module = load_command(name)
        if hasattr(module, "NAME"):
            lines.append(f"  {name:<10} {_describe(module.HELP).splitlines()[0]}")
    return "\n".join([*lines, "", "collector COMMAND -h tells more about one of them."])


def _describe(docstring: str) -> str:
    # The name plate's `name -- ` is for those who read the file.
    return docstring.strip().partition(" -- ")[2] or docstring.strip()


def _unknown(name: str) -> UsageError:
    import difflib

    near = difflib.get_close_matches(name, iter_commands(), 1)
    return UsageError(f"there is no command {name!r}" + (f"; did you mean {near[0]}?" if near else "; collector -h lists them"))
