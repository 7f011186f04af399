"""html -- write an experiment as one HTML page: timeline, flame graph, functions, callers and callees, source

    collector html EXPT... [-o FILE.html]
    collector html --sources EXPT               with the text of all source files that have time
    collector html BEFORE... -- AFTER...        what changed between them, as collector compare has it

The page is one file that needs nothing else: no server, no network. Several experiments are added up, or those of each side.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from collector.cli.reporting import debug_options, filter_options, name_options
from collector.cli.reporting.disassembly import listings_of
from collector.cli.reporting.meaning import source_text
from collector.cli.reporting.paper import show_profile
from collector.cli.reporting.sides import check_run, check_sides, divided
from collector.errors import CollectorError
from collector.load.outdated import with_outdated
from collector.page.compared import ComparedRun, ComparedSide, compared_data, compared_run, function_keys
from collector.page.document import Sources, experiment_data, render
from collector.page.instructions import Listings
from collector.printable import printable
from collector.profile.aggregate import functions, total_values
from collector.profile.instructions import Listing
from collector.profile.model import Profile
from collector.profile.runtime_hints import with_runtime_hints
from collector.profile.source_map import with_sources_at
from collector.units import format_bytes

NAME = "html"
HELP = __doc__ or ""
OPTIONS_BETWEEN = True

_LEAST_SHARE = 0.01
_MOST_FUNCTIONS = 40
_GENERATOR = b'<meta name="generator" content="collector">'
_HEAD_BYTES = 4096


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the experiments and what the page shows."""
    add = parser.add_argument
    add("experiments", metavar="EXPT", nargs="+", help="experiments, which are added up")
    add("-o", "--output", metavar="FILE", help="the page; default: EXPT.html or BEFORE-AFTER.html, here")
    add("--after", metavar="AFTER", nargs="*", help="compare with these experiments, one run each; -- is short for it")
    add("--sources", action="store_true", help="put the source files of all lines with time into the page")
    disasm_help = f"put the instructions of functions with {100 * _LEAST_SHARE:g} %% of the time or more in, up to {_MOST_FUNCTIONS}, by objdump: some seconds"
    add("--disasm", action="store_true", help=disasm_help)
    name_options.add_frame_arguments(parser)
    debug_options.add_arguments(parser)
    filter_options.add_arguments(parser)


def prepare(words: Sequence[str]) -> list[str]:
    """The words with an option for what stands behind `--`."""
    return divided(words, NAME)


def run(args: argparse.Namespace) -> int:
    """Write the page, and say where."""
    path = write_html(args)
    print(f"{printable(path)}: {format_bytes(os.path.getsize(path))}")
    return 0


def write_html(args: argparse.Namespace) -> str:
    """Write the page that the arguments ask for, and give its path."""
    sides = [args.experiments]
    if args.after is not None:
        check_sides(args.experiments, args.after, NAME)
        sides.append(args.after)
    path = args.output or "-".join(_stem(side[0]) for side in sides) + ".html"
    parts = [_part_of(side, args, is_compared=len(sides) > 1) for side in sides]
    comparison = compared_data(*(part.compared for part in parts)) if len(sides) > 1 else ""
    title = " – ".join([*(part.name for part in parts), "collector"])
    _write(path, render([part.data for part in parts], title, args.disasm, comparison), is_asked=args.output is not None)
    return path


@dataclass(frozen=True, slots=True)
class _Part:
    """Experiments that were added up: their name, what the page has of them, and what a comparison needs."""

    name: str
    data: str
    compared: ComparedSide


def _part_of(experiments: Sequence[str], args: argparse.Namespace, is_compared: bool) -> _Part:
    parts: list[_Part] = []
    runs: list[ComparedRun] = []

    def add_run(profile: Profile) -> None:
        check_run(profile, profile.recordings[0].path)
        runs.append(compared_run(profile))

    def show(profile: Profile) -> None:
        profile = with_runtime_hints(with_outdated(profile))
        data = experiment_data(profile, _sources_of(profile) if args.sources else {}, _listings_of(profile, args) if args.disasm else None)
        if is_compared and len(experiments) == 1:
            add_run(profile)
        more = len(profile.recordings) - 1
        name = profile.recordings[0].name + (f" and {more} more" if more else "")
        parts.append(_Part(name, data, ComparedSide(tuple(runs), function_keys(profile))))

    if is_compared and len(experiments) > 1:
        for path in experiments:
            _show((path,), add_run, args)
    _show(experiments, show, args)
    return parts[-1]


def _show(experiments: Sequence[str], show: Callable[[Profile], None], args: argparse.Namespace) -> None:
    source_map = debug_options.source_map_of(args)
    debug_dirs = debug_options.debug_dirs_of(args)
    categories = filter_options.categories_of(args, is_needed=False)

    def show_chosen(profile: Profile) -> None:
        show(filter_options.chosen(with_sources_at(profile, source_map), args, categories))

    show_profile(tuple(experiments), show_chosen, not args.no_inlines, args.pieces, debug_dirs, args.debuginfod, args.interpreter_frames)


def _sources_of(profile: Profile) -> Sources:
    """The texts of all source files with time that can be read."""
    texts: dict[str, tuple[str, str]] = {}
    for path in sorted({frame.file for frame in profile.frames if frame.file and frame.line}):
        lines, note = source_text(profile, path)
        if lines:
            texts[path] = "\n".join(lines), note
    return texts


def _listings_of(profile: Profile, args: argparse.Namespace) -> Listings:
    """The instructions of the functions with most exclusive time, by function; a sentence where there are none to be had."""
    numbers = {id(function): number for number, function in enumerate(profile.functions)}
    least = _LEAST_SHARE * total_values(profile)[0]
    wanted = [numbers[id(row.function)] for row in functions(profile) if row.exclusive[0] >= least][:_MOST_FUNCTIONS]
    listings: dict[int, tuple[Listing, ...] | str] = {}
    for function in wanted:
        try:
            listings[function] = listings_of(profile, function, debug_options.debug_dirs_of(args), debug_options.source_map_of(args))
        except CollectorError as error:
            listings[function] = str(error)
    return listings


def _stem(experiment: str) -> str:
    return os.path.splitext(os.path.basename(os.path.abspath(experiment)))[0]


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
