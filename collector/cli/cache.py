"""cache -- show how much reports keep in the user's cache directory, or remove it

    collector cache              the directory, what is in it, and how large it is
    collector cache clear        remove it; the next report of each experiment takes as long as the first

Reports keep the symbol tables of modules and the profiles of finished experiments, so that a second report is quick.
"""

from __future__ import annotations

import argparse

from collector.errors import CollectorError
from collector.printable import printable
from collector.units import format_bytes, plural

NAME = "cache"
HELP = __doc__ or ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what to do with it."""
    parser.add_argument("action", metavar="clear", nargs="?", choices=["clear"], help="remove what is kept")


def run(args: argparse.Namespace) -> int:
    """Show the cache, or remove it."""
    from collector.load.cache_directory import clear_cache_directory, read_cache_directory

    found = read_cache_directory()
    path = printable(found.path)
    if args.action == "clear":
        left = clear_cache_directory()
        if left.size_bytes:
            raise CollectorError(f"{format_bytes(left.size_bytes)} in {left.path} cannot be removed" + (f": {left.problem}" if left.problem else ""))
        print(f"{path}: {format_bytes(found.size_bytes)} removed" if found.parts else f"{path}: there was nothing to remove")
        return 0
    if not found.parts and not found.problem:
        print(f"{path}: nothing is kept yet")
    elif found.parts:
        print(f"{path}: {format_bytes(found.size_bytes)}")
    for part in found.parts:
        limit = f" of at most {format_bytes(part.limit_bytes)}" if part.limit_bytes else ""
        print(f"  {plural(part.count, part.unit):>14}  {part.title}, {format_bytes(part.size_bytes)}{limit}")
    if found.problem:
        raise CollectorError(f"nothing can be kept in {found.path}, so that every report reads everything anew: {found.problem}")
    return 0
