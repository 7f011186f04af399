"""help -- list the commands and the pages of the documentation, or show one of these

    collector help               commands and pages
    collector help PAGE          a page: tutorial, glossary, python-api, or that of a command
    collector help PAGE --path   where its file lies

The beginning of a page's name is enough. On a terminal a page is shown by $PAGER, or less.
"""

from __future__ import annotations

import argparse
import os
import sys

from collector.errors import CollectorError, UsageError
from collector.units import listed

NAME = "help"
HELP = __doc__ or ""

_WIDEST = 110


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the page."""
    parser.add_argument("page", metavar="PAGE", nargs="?", help="the page to show")
    parser.add_argument("--path", action="store_true", help="print the path of the page's file, or of the directory of all pages")


def run(args: argparse.Namespace) -> int:
    """Show a page, or what there is to choose from."""
    from collector.cli.describing.pages import docs_directory, find_pages

    pages = find_pages()
    if not pages:
        raise CollectorError(f"the documentation is not installed: there is no {docs_directory()}")
    path = pages[_full_name(args.page, pages)] if args.page else None
    if args.path:
        print(path or docs_directory())
    elif path:
        _show(path)
    else:
        print("\n".join(_contents(pages)))
    return 0


def _contents(pages: dict[str, str]) -> list[str]:
    from collector.cli.describing.pages import docs_directory, read_title
    from collector.cli.main import iter_commands, overview

    commands = set(iter_commands())
    width = max(map(len, pages))
    titles = [f"  {name:<{width}} {read_title(path)}" for name, path in pages.items() if name not in commands]
    return [overview(), "", "Pages, for collector help PAGE; each command has one as well:", "", *titles, "", f"They lie in {docs_directory()}."]


def _full_name(word: str, pages: dict[str, str]) -> str:
    begun = [word] if word in pages else [name for name in pages if name.startswith(word)]
    if len(begun) == 1:
        return begun[0]
    if begun:
        raise UsageError(f"the page {word!r} is not clear: {listed(begun)}?")
    import difflib

    near = difflib.get_close_matches(word, pages, 1)
    raise UsageError(f"there is no page {word!r}" + (f"; did you mean {near[0]}?" if near else "; collector help lists them"))


def _show(path: str) -> None:
    from collector.cli.describing.pages import page_text

    with open(path, encoding="utf-8") as file:
        markdown = file.read()
    if not sys.stdout.isatty():
        sys.stdout.write(markdown)
        return
    import shutil
    import subprocess

    text = page_text(markdown, min(shutil.get_terminal_size().columns, _WIDEST))
    pager = os.environ.get("PAGER") or "less"
    environment = {**os.environ, "LESS": os.environ.get("LESS", "FRX")}  # a page that fits needs no pager
    if subprocess.run(["sh", "-c", pager], input=text.encode(), env=environment, stderr=subprocess.DEVNULL, check=False).returncode == 127:
        sys.stdout.write(text)  # there is no such program
