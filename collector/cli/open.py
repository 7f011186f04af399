"""open -- write an experiment as one HTML page (collector html) and show it in the browser

    collector open EXPT...
    collector open BEFORE... -- AFTER...

Where there is no browser, as over ssh, it says where the page is.
"""

from __future__ import annotations

import argparse
import os
import webbrowser
from collections.abc import Sequence
from pathlib import Path

from collector.cli import html
from collector.printable import printable

NAME = "open"
HELP = __doc__ or ""
OPTIONS_BETWEEN = True


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Those of `collector html`."""
    html.add_arguments(parser)


def prepare(words: Sequence[str]) -> list[str]:
    """As `collector html` does."""
    return html.prepare(words)


def run(args: argparse.Namespace) -> int:
    """Write the page, and show it."""
    path = html.write_html(args)
    if has_screen() and webbrowser.open(Path(path).resolve().as_uri()):
        print(printable(path))
    else:
        print(f"{printable(os.path.abspath(path))} (no browser was found here)")
    return 0


def has_screen() -> bool:
    """Whether a browser has somewhere to show itself: one in the terminal would not run the page."""
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))
