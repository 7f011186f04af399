"""main -- the command line: finds the command, ends every expected exception in one sentence and an exit status

A command is a module of this package named as the command (packages below it are parts of commands), with

    NAME                    the word on the command line
    HELP                    the module's docstring, whose first line says what it does
    add_arguments(parser)   its arguments, for argparse or, in the commands that somebody waits for, plain_parser
    run(args) -> int        does it and gives the exit status
    prepare(words)          if it has one: its words as argparse can read them
    OPTIONS_BETWEEN         if it is true: options may stand between its words

Only the module of the command that was asked for is imported.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from types import ModuleType, SimpleNamespace

from collector.cli.output import Output
from collector.errors import CollectorError, UsageError
from collector.printable import printable

TYPE_CHECKING = False  # typing itself is slow to import, as argparse is: both wait until there is a command that needs them
if TYPE_CHECKING:
    import argparse
    from typing import NoReturn

_SIGINT = 2  # to import signal takes as long as many a command
_HOME = os.path.dirname(__file__)
_NOT_COMMANDS = {"__init__", "main", "parser", "plain_parser", "output", "habits", "working_directory"}
_RECORDING_COMMANDS = {"record", "run"}
_AWAITED = {"report", *_RECORDING_COMMANDS}
"""Those that end at once, and whose words are read without argparse where that will do."""
_UNCOLLECTED = {"report", "export", "import", *_RECORDING_COMMANDS}
"""A profile, too, is many values that all stay until the end; and a recording collects while it waits for the program."""


def run_as_command() -> NoReturn:
    """What the command `collector` runs. Where signal n killed the recorded program, or a user interrupted us, the same signal kills us.

    After a recording or a report the process ends at once: all is written, and the interpreter would take longer to take itself apart than the sums
    of the logs took.
    """
    status = end_by_signal(main())
    with contextlib.suppress(UsageError):
        if sys.argv[1:] and full_name(sys.argv[1]) in _AWAITED:
            os._exit(status)
    sys.exit(status)


def end_by_signal(status: int) -> int:
    """What is left to exit with: nothing, if it is -n and signal n kills us."""
    if status >= 0:
        return status
    from collector.capture.last_signal import die_by

    die_by(-status)
    return 128 - status


def main(arguments: list[str] | None = None) -> int:
    """Run `collector ARGUMENTS...` and give its exit status: 1 if something went wrong, 2 if the command line did, -n if it is to be killed by signal n."""
    words = sys.argv[1:] if arguments is None else arguments
    if arguments is None:
        gc.disable()  # nothing that is imported could be collected
    try:
        with Output():
            return _run(words, is_own_process=arguments is None)
    except UsageError as error:
        _complain(_hint(words, str(error)) or str(error))
        return 2
    except CollectorError as error:
        _complain(str(error))
        return 1
    except BrokenPipeError:
        return 141  # whoever read our output has gone
    except OSError as error:  # that no command can do anything about: too few descriptors, no memory for a process
        _complain(": ".join(filter(None, (os.fsdecode(error.filename or ""), (error.strerror or str(error)).lower()))))
        return 1
    except KeyboardInterrupt:
        return -_SIGINT


def _hint(words: list[str], complaint: str) -> str | None:
    from collector.cli.habits import tell_habit

    with contextlib.suppress(UsageError):
        return tell_habit([full_name(words[0]), *words[1:]], complaint)
    return None


def _complain(sentence: str) -> None:
    if sys.stderr is not None:  # print would take standard output instead
        with contextlib.suppress(OSError):  # the status tells as well
            print(f"collector: {printable(sentence)}", file=sys.stderr)


def iter_commands() -> list[str]:
    """Give the names of all commands."""
    names = (name.removesuffix(".py") for name in os.listdir(_HOME) if name.endswith(".py"))
    return sorted(name for name in names if name not in _NOT_COMMANDS)


def full_name(word: str) -> str:
    """The command that a word names, or is the beginning of. UsageError if it may be several."""
    names = iter_commands()
    begun = [word] if word in names else [name for name in names if word and name.startswith(word)]
    if len(begun) > 1:
        from collector.units import listed

        raise UsageError(f"the command {word!r} is not clear: {listed(begun)}?")
    return begun[0] if begun else word


def load_command(name: str) -> ModuleType:
    """Import a command's module. UsageError if there is no such command."""
    module = f"collector.cli.{name}"
    if name in _NOT_COMMANDS or not name.isidentifier():
        raise _unknown(name)
    try:
        __import__(module)  # importlib is a module of its own, and imports others
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise _unknown(name) from None
    command = sys.modules[module]
    if not hasattr(command, "NAME"):
        raise _unknown(name)
    return command


def build_parser(command: ModuleType) -> argparse.ArgumentParser:
    """Give the parser of one command."""
    from collector.cli.parser import HelpFormatter, Parser

    parser = Parser(
        prog=f"collector {command.NAME}",
        description=describe(command.HELP),
        formatter_class=HelpFormatter,
        allow_abbrev=False,
        add_help=False,
    )
    command.add_arguments(parser)
    names = ("--help",) if "-h" in parser._option_string_actions else ("-h", "--help")  # in collect(1) it counts events
    parser.add_argument(*names, action="help", help="show this help message and exit")
    return parser


def parse_plainly(command: ModuleType, words: list[str]) -> SimpleNamespace | None:
    """What a command's words mean; None if argparse has to be asked."""
    from collector.cli.plain_parser import PlainParser

    parser = PlainParser(getattr(command, "OPTIONS_BETWEEN", False))
    command.add_arguments(parser)
    return parser.parse(words)


def parse(command: ModuleType, words: list[str]) -> argparse.Namespace:
    """The same, however they are written. UsageError if they make no sense."""
    parser = build_parser(command)
    return parser.parse_intermixed_args(words) if getattr(command, "OPTIONS_BETWEEN", False) else parser.parse_args(words)


def _run(words: list[str], is_own_process: bool) -> int:
    if not words or words[0] in ("-h", "--help"):
        print(overview())
        return 0 if words else 2
    if words[0] in ("-V", "--version"):
        from collector import __version__

        print(f"collector {__version__}")
        return 0
    name = full_name(words[0])
    if name in _RECORDING_COMMANDS:
        from collector.capture.native import ready_clock

        ready_clock()  # takes as long as the imports to come
    command = load_command(name)
    if is_own_process and name not in _UNCOLLECTED:
        gc.freeze()
        gc.enable()
    own_words = command.prepare(words[1:]) if hasattr(command, "prepare") else words[1:]
    args = (parse_plainly(command, own_words) if name in _AWAITED else None) or parse(command, own_words)
    if getattr(args, "output", None) and not args.output.endswith(".expt") and getattr(args, "command", True):
        from collector.cli.habits import check_output

        check_output(name, args.output)
    code: int = command.run(args)
    if is_own_process:
        gc.freeze()  # nor at the end, when the interpreter would look for it after all
    return code


def overview() -> str:
    """The commands with what each does."""
    lines = ["collector COMMAND ... -- records where a program spends its time, and shows it", ""]
    for name in iter_commands():
        lines.append(f"  {name:<11} {describe(_name_plate(name))}")
    return "\n".join([*lines, "", "The beginning of a command is enough if no other begins so. collector COMMAND --help tells more about one of them,",
                      "collector help lists the pages of the documentation."])


def _name_plate(name: str) -> str:
    """The first line of the command's HELP, which is that of its source: to import all commands would take longer than any of them."""
    with open(os.path.join(_HOME, f"{name}.py"), encoding="utf-8") as source:
        return source.readline().strip().strip('"')


def describe(docstring: str) -> str:
    """A command's HELP without the name plate's `name -- `, which is for those who read the file."""
    return docstring.strip().partition(" -- ")[2] or docstring.strip()


def _unknown(name: str) -> UsageError:
    import difflib

    near = difflib.get_close_matches(name, iter_commands(), 1)
    return UsageError(f"there is no command {name!r}" + (f"; did you mean {near[0]}?" if near else "; collector -h lists them"))
