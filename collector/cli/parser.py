"""parser -- argparse as the commands use it: complaints are sentences, and help has one width"""

from __future__ import annotations

import argparse

from collector.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

argparse._ = str  # type: ignore[attr-defined]  # there is no translation of its words, which it would import locale for, and look for in files: 1 ms


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are sentences like all others."""

    def error(self, message: str) -> NoReturn:
        """UsageError with the complaint, and where there is more."""
        raise UsageError(f"{message} ({self.prog} --help tells more)")

    def parse_known_intermixed_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Without the usage, which takes 4 ms to put together, but where help is asked for: no complaint shows it."""
        usage = self.usage
        if not any(word.startswith("-") and "h" in word for word in args or ()):
            self.usage = ""
        try:
            return super().parse_known_intermixed_args(args, namespace)
        finally:
            self.usage = usage


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Help of a fixed width: asking for the terminal's costs an import that every command would wait for."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=36, width=110)
