"""man -- show the manual page of a command, or write the pages to where man(1) finds them

    collector man                              the page collector(1)
    collector man COMMAND                      the page of a command, collector-COMMAND(1)
    collector man -o ~/.local/share/man/man1   write all of them there

On a terminal the page is shown by man(1). Otherwise its source is printed: collector man record | man -l -
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

from collector.errors import CollectorError
from collector.units import plural

NAME = "man"
HELP = __doc__ or ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the page, and where to."""
    parser.add_argument("command", metavar="COMMAND", nargs="?", help="the command whose page it is")
    parser.add_argument("-o", "--output", metavar="DIR", help="write the pages of all commands, or that of COMMAND, into this directory")


def run(args: argparse.Namespace) -> int:
    """Show, print or write."""
    from collector.cli.describing.man_page import man_page, page_name
    from collector.cli.main import full_name, iter_commands

    command = full_name(args.command) if args.command else None
    if args.output:
        commands = [command] if command else [None, *iter_commands()]
        _write(args.output, {f"{page_name(name)}.1": man_page(name) for name in commands})
        return 0
    source = man_page(command)
    if sys.stdout.isatty():
        return _show(source)
    sys.stdout.write(source)
    return 0


def _write(directory: str, pages: dict[str, str]) -> None:
    try:
        os.makedirs(directory, exist_ok=True)
        for name, source in pages.items():
            with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
                file.write(source)
    except OSError as error:
        raise CollectorError(f"{error.filename or directory} cannot be written: {(error.strerror or str(error)).lower()}") from error
    print(f"{directory}: {plural(len(pages), 'page')}")


def _show(source: str) -> int:
    try:
        return subprocess.run(["man", "-l", "-"], input=source.encode(), check=False).returncode
    except FileNotFoundError:
        raise CollectorError("there is no man(1) here to show the page; -h behind a command tells the same") from None
