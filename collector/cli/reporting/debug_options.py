"""debug_options -- where debug information is looked for, as options of the commands that read experiments"""

from __future__ import annotations

import argparse
import os

from collector.errors import UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    add("--debug-dir", metavar="DIR", action="append", help="look for separate debug files below DIR first; may be repeated")


def debug_dirs_of(args: argparse.Namespace) -> tuple[str, ...]:
    """The directories of --debug-dir. UsageError if one is none."""
    for directory in args.debug_dir or ():
        if not os.path.isdir(directory):
            raise UsageError(f"--debug-dir {directory}: there is no such directory")
    return tuple(args.debug_dir or ())
