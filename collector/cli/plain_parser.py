"""plain_parser -- command lines in which all is plain, read as argparse reads them but without it

To import argparse and to tell it of all options takes as long as a small recording's own work, so the commands that somebody waits for are first
tried here. Whatever needs a second thought is argparse's: a complaint, help, values that begin with a dash, -- between several words, and short
options that hold a value.
"""

from __future__ import annotations

from types import SimpleNamespace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Final

PROGRAM: Final = "A..."
"""A program and its arguments, whatever these are: argparse.PARSER."""

_UNDERSTOOD: Final = {"action", "choices", "const", "default", "dest", "help", "metavar", "nargs", "type"}
_CONSTANTS: Final = {"store_true": True, "store_const": None}
_TAKING_ONE: Final = ("store", "append")


class Argument:
    """An option or a positional argument, in the words of add_argument; options of a `group` exclude each other."""

    def __init__(self, names: tuple[str, ...], settings: dict[str, Any], group: object) -> None:
        self.is_option = names[0].startswith("-")
        self.settings = settings
        self.group = group
        self.required = True
        """Of a positional argument."""
        self.action = settings.get("action", "store")
        self.nargs = settings.get("nargs")
        longest = next((name for name in names if name.startswith("--")), names[0])
        self.destination: str = settings.get("dest") or longest.lstrip("-").replace("-", "_")
        self.default = settings.get("default", False if self.action == "store_true" else None)

    @property
    def is_understood(self) -> bool:
        """Whether nothing was said of it that is unknown here; what is wrong with the value that was given is not for us to say."""
        is_known = self.settings.keys() <= _UNDERSTOOD and self.action in (*_CONSTANTS, *_TAKING_ONE)
        return is_known and not ("type" in self.settings and isinstance(self.default, str))

    def value_of(self, text: str) -> Any:
        """What a word means as its value. ValueError if it cannot be one."""
        value = self.settings.get("type", str)(text)
        if value not in self.settings.get("choices", (value,)):
            raise ValueError(text)
        return value


class PlainParser:
    """Is told of arguments as an ArgumentParser is. `takes_options_between`: they may stand between the words of the positional argument."""

    def __init__(self, takes_options_between: bool) -> None:
        self._takes_options_between = takes_options_between
        self._arguments: list[Argument] = []
        self._options: dict[str, Argument] = {}

    def add_argument(self, *names: str, group: object = None, **settings: Any) -> Argument:
        """As that of argparse."""
        argument = Argument(names, settings, group)
        self._arguments.append(argument)
        if argument.is_option:
            self._options |= dict.fromkeys(names, argument)
        return argument

    def add_mutually_exclusive_group(self) -> PlainGroup:
        """As that of argparse."""
        return PlainGroup(self)

    def parse(self, words: Sequence[str]) -> SimpleNamespace | None:
        """What the words mean; None if that is for argparse to say."""
        positional = [argument for argument in self._arguments if not argument.is_option]
        if [argument.nargs for argument in positional] != ["+" if self._takes_options_between else PROGRAM]:
            return None
        if not all(argument.is_understood for argument in self._arguments):
            return None
        reading = _Reading(self._arguments, self._options)
        try:
            found = reading.read(words, self._takes_options_between)
        except ValueError:
            return None
        if found:
            setattr(reading.values, positional[0].destination, found)
        return None if positional[0].required and not found else reading.values


class PlainGroup:
    """Options of which only one may be given."""

    def __init__(self, parser: PlainParser) -> None:
        self._parser = parser

    def add_argument(self, *names: str, **settings: Any) -> Argument:
        """As that of argparse."""
        return self._parser.add_argument(*names, group=self, **settings)


class _Reading:
    """One command line as it is read. ValueError stands for all that is not plain."""

    def __init__(self, arguments: list[Argument], options: dict[str, Argument]) -> None:
        self._options = options
        self._chosen: dict[object, Argument] = {}
        self.values = SimpleNamespace(**{argument.destination: argument.default for argument in reversed(arguments)})

    def read(self, words: Sequence[str], takes_options_between: bool) -> list[str]:
        """Take the options and their values, and give the words that are none."""
        found, rest = [], iter(words)
        for word in rest:
            if word == "--" and not takes_options_between:
                program = list(rest)
                if not program:
                    raise ValueError(word)
                return [word, *program]
            if not word.startswith("-"):
                found.append(word)
                if not takes_options_between:
                    return [*found, *rest]
                continue
            name, equals, text = (word, "", "") if word in self._options else word.partition("=")
            argument = self._options.get(name)
            if argument is None or argument.nargs is not None or (equals and not (text and name.startswith("--"))):
                raise ValueError(word)
            self._take(argument, text if equals else None, rest)
        return found

    def _take(self, argument: Argument, text: str | None, rest: Any) -> None:
        if argument.group and self._chosen.setdefault(argument.group, argument) is not argument:
            raise ValueError("one excludes the other")
        destination, before = argument.destination, getattr(self.values, argument.destination)
        if argument.action in _CONSTANTS and text is None:
            value = argument.settings.get("const", _CONSTANTS[argument.action])
        elif argument.action in _TAKING_ONE:
            text = next(rest, "-") if text is None else text
            if text.startswith("-"):
                raise ValueError(text)
            value = argument.value_of(text)
        else:
            raise ValueError(argument.action)
        setattr(self.values, destination, [*(before or ()), value] if argument.action == "append" else value)
