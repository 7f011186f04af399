"""debug_options -- where debug files and sources are looked for, as options of the commands that read experiments"""

from __future__ import annotations

import os

from collector.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_debug_arguments(parser)
    parser.add_argument("--source-map", metavar="FROM=TO", action="append", help="sources of the directory FROM lie in TO here; may be repeated")


def add_debug_arguments(parser: argparse.ArgumentParser) -> None:
    """Add those that say where debug files are."""
    add = parser.add_argument
    add("--debug-dir", metavar="DIR", action="append", help="look for separate debug files below DIR first; may be repeated")
    add("--debuginfod", action="store_true", help="fetch debug files that are not here from the servers in $DEBUGINFOD_URLS")


def debug_dirs_of(args: argparse.Namespace) -> tuple[str, ...]:
    """The directories of --debug-dir. UsageError if one is none."""
    for directory in args.debug_dir or ():
        if not os.path.isdir(directory):
            raise UsageError(f"--debug-dir {directory}: there is no such directory")
    return tuple(args.debug_dir or ())


def source_map_of(args: argparse.Namespace) -> dict[str, str]:
    """The directories of --source-map. UsageError if one makes no sense."""
    pairs = [text.partition("=") for text in args.source_map or ()]
    for start, equals, target in pairs:
        if not (start and target):
            raise UsageError(f"--source-map is FROM=TO, two directories, not {start + equals + target!r}")
    return {start: os.path.expanduser(target) for start, _, target in pairs}  # no shell expands what follows a =
