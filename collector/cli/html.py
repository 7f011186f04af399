"""html -- write an experiment as one HTML page: timeline, flame graph, functions, callers and callees, source

    collector html EXPT... [-o FILE.html]
    collector html --sources EXPT       with the text of all source files that have time

The page is one file that needs nothing else: no server, no network. Several experiments are added up.
"""

from __future__ import annotations

import argparse
import os

from collector.cli.reporting import debug_options
from collector.cli.reporting.paper import show_profile
from collector.errors import CollectorError
from collector.printable import printable
from collector.profile.model import Profile
from collector.units import format_bytes

NAME = "html"
HELP = __doc__ or ""
OPTIONS_BETWEEN = True

_GENERATOR = b'<meta name="generator" content="collector">'
_HEAD_BYTES = 4096


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the experiments and what the page shows."""
    add = parser.add_argument
    add("experiments", metavar="EXPT", nargs="+", help="experiments, which are added up, or directories of them")
    add("-o", "--output", metavar="FILE", help="the page; default: the experiment's name with .html, here")
    add("--sources", action="store_true", help="put the source files of all lines with time into the page")
    add("--no-inlines", action="store_true", help="count inlined calls for the functions around them")
    add("--interpreter-frames", action="store_true", help="show the frames of Python's interpreter, not only of the functions that it runs")
    add("--pieces", action="store_true", help="show pieces of functions (f.cold, f.part.0, f.constprop.0) apart from them")
    debug_options.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Write the page, and say where."""
    path = write_html(args)
    print(f"{printable(path)}: {format_bytes(os.path.getsize(path))}")
    return 0


def write_html(args: argparse.Namespace) -> str:
    """Write the page that the arguments ask for, and give its path."""
    path = args.output or _default_path(args.experiments[0])
    pages: list[str] = []

    def show(profile: Profile) -> None:
        pages.append(_render(profile, args))

    debug_dirs = debug_options.debug_dirs_of(args)
    show_profile(tuple(args.experiments), show, not args.no_inlines, args.pieces, debug_dirs, args.debuginfod, args.interpreter_frames)
    _write(path, pages[-1], is_asked=args.output is not None)
    return path


def _render(profile: Profile, args: argparse.Namespace) -> str:
    from collector.cli.reporting.meaning import source_text
    from collector.load.outdated import with_outdated
    from collector.page.document import render
    from collector.profile.runtime_hints import with_runtime_hints
    from collector.profile.source_map import with_sources_at

    profile = with_runtime_hints(with_outdated(with_sources_at(profile, debug_options.source_map_of(args))))
    texts: dict[str, tuple[str, str]] = {}
    if args.sources:
        for path in sorted({frame.file for frame in profile.frames if frame.file and frame.line}):
            lines, note = source_text(profile, path)
            if lines:
                texts[path] = "\n".join(lines), note
    name = profile.recordings[0].name + (f" and {len(profile.recordings) - 1} more" if len(profile.recordings) > 1 else "")
    return render([profile], [texts], f"{name} – collector")


def _default_path(experiment: str) -> str:
    name = os.path.basename(os.path.abspath(experiment))
    return os.path.splitext(name)[0] + ".html"


def _write(path: str, text: str, is_asked: bool) -> None:
    try:
        if not is_asked and os.path.exists(path):
            with open(path, "rb") as file:
                if _GENERATOR not in file.read(_HEAD_BYTES):
                    raise CollectorError(f"{path} is there already and is no page of collector; -o says where to write")
        with open(path, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
    except OSError as error:
        raise CollectorError(f"{path} cannot be written: {(error.strerror or str(error)).lower()}") from error
