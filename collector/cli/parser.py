"""parser -- argparse as the commands use it: complaints are sentences, and help has one width"""

from __future__ import annotations

import argparse
from typing import NoReturn

from collector.errors import UsageError


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are sentences like all others."""

    def error(self, message: str) -> NoReturn:
        """UsageError with the complaint, and where there is more."""
        raise UsageError(f"{message} ({self.prog} --help tells more)")


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Help of a fixed width: asking for the terminal's costs an import that every command would wait for."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=36, width=110)
