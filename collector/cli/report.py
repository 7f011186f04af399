"""report -- show where a recorded program spent its time

    collector report EXPERIMENT... [VIEW [ARGUMENT]]

Several experiments are added up. Without a view it is the overview.
"""

from __future__ import annotations

import argparse
import gc
from typing import TYPE_CHECKING

from collector.cli.reporting import debug_options
from collector.cli.reporting.paper import page_style, show_profile, write_page
from collector.cli.reporting.words import VIEWS, parse_words
from collector.errors import UsageError
from collector.profile.lock import HELD, RELEASED
from collector.profile.model import Profile

if TYPE_CHECKING:
    from collector.profile.categories import Categories

NAME = "report"
OPTIONS_BETWEEN = True
HELP = (__doc__ or "") + "\nviews:\n" + "\n".join(
    f"  {f'{view} {argument}'.strip():<27} {meaning}" for view, (argument, meaning) in VIEWS.items()
)


_GROUPINGS = ("module", "file", "thread", "process", "label", "category")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add = parser.add_argument
    add("words", metavar="EXPERIMENT... [VIEW [ARGUMENT]]", nargs="+", help="experiments, and what to show of them")
    add("-l", "--limit", metavar="N", type=int, help="show N rows; 0 is all of them")
    add("-s", "--sort", metavar="COLUMN", help="sort a table by this column")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--json", dest="format", action="store_const", const="json", help="as JSON")
    kind.add_argument("--csv", dest="format", action="store_const", const="csv", help="as CSV")
    add("-o", "--output", metavar="FILE", help="write to FILE instead of the terminal")
    add("-w", "--width", metavar="COLUMNS", type=int, help="width of the text; default: the terminal's, or 100")
    add("--threshold", metavar="PERCENT", type=float, help="calltree: leave out branches below this; default 0.5")
    add("--by", metavar="WHAT", choices=_GROUPINGS, help="group by module, file, thread, process, label or category")
    add("--categories", metavar="FILE", action="append", help="a table of categories of your own, before the built-in one")
    add("--bottom-up", action="store_true", help="calltree: from the functions in which time is spent up to their callers")
    add("--context", metavar="N", type=int, help="source, disasm: only lines or instructions with time, and N around each")
    add("--errors", action="store_true", help="functions, lines, calltree, groups: show how far off a time may be because it was sampled")
    add("--long-names", action="store_true", help="show functions with their template and parameter lists")
    add("--no-inlines", action="store_true", help="count inlined calls for the functions around them")
    add("--interpreter-frames", action="store_true", help="show the frames of Python's interpreter, not only of the functions that it runs")
    add("--pieces", action="store_true", help="show pieces of functions (f.cold, f.part.0, f.constprop.0) apart from them")
    debug_options.add_arguments(parser)
    add("--process", metavar="PID|NAME", action="append", help="only this process, or programs of a name or shell pattern; may be repeated")
    add("--thread", metavar="TID|NAME", action="append", help="only this thread, or threads of a name or shell pattern; may be repeated")
    add("--time", metavar="START-END", help="only this span, in seconds since the experiment began")
    add("--between", metavar="LABEL", nargs=2, help="only from a sample point with the first label to the next with the second")
    add("--module", metavar="PATTERN", action="append", help="only samples with code of such a module anywhere on their stack; all of several")
    add("--function", metavar="REGEX", action="append", help="only samples with such a function anywhere on their stack; all of several")
    add("--leaf", metavar="REGEX", action="append", help="only samples in such a function itself")
    add("--ignore", metavar="REGEX", action="append", help="without samples that have such a function on their stack")
    add("--focus", metavar="REGEX", help="only such functions and what they call: stacks begin at the first of them")
    add("--callers-of", metavar="REGEX", help="only such functions and their callers: stacks end at the first of them")
    add("--gil", choices=(HELD, RELEASED), help="only samples of Python functions that held the global interpreter lock, or did not")
    add("--category", metavar="NAME", help="only samples of this category, such as MPI or locks")


def run(args: argparse.Namespace) -> int:
    """Show the view and give the exit status."""
    gc.disable()  # a profile is many values that all stay until the end: nothing that could be collected
    request = parse_words(args.words)
    _check(args)
    debug_dirs, source_map = debug_options.debug_dirs_of(args), debug_options.source_map_of(args)
    from collector.cli.reporting.pages import PageOptions, check_by, check_errors, check_sort, make_page
    from collector.load.outdated import with_outdated
    from collector.profile.runtime_hints import with_runtime_hints

    check_by(request.view, args.by)
    check_sort(request.view, args.by, args.sort)
    if args.errors:
        check_errors(request.view, args.by)
    threshold = None if args.threshold is None else args.threshold / 100
    style = page_style(args.width, args.output)
    categories = _categories(args)
    options = PageOptions(
        args.format or "text", args.limit, args.sort, threshold, style, args.errors, debug_dirs, source_map,
        args.by, categories, args.bottom_up, args.context,
    )  # fmt: skip

    def show(profile: Profile) -> None:
        if source_map:
            from collector.profile.source_map import with_sources_at

            profile = with_sources_at(profile, source_map)
        if args.long_names:
            from collector.profile.names import with_long_names

            profile = with_long_names(profile)
        told = with_runtime_hints(with_outdated(_chosen(profile, args, categories)))
        write_page(make_page(told, request.view, request.argument, options), args.output)

    show_profile(request.paths, show, not args.no_inlines, args.pieces, debug_dirs, args.debuginfod, args.interpreter_frames)
    gc.freeze()  # nor at the end, when the interpreter would look for it after all
    return 0


def _check(args: argparse.Namespace) -> None:
    if args.limit is not None and args.limit < 0:
        raise UsageError(f"--limit is a number of rows, not {args.limit}")
    if args.context is not None and args.context < 0:
        raise UsageError(f"--context is a number of lines or instructions, not {args.context}")
    if args.threshold is not None and not 0 <= args.threshold <= 100:
        raise UsageError(f"--threshold is between 0 and 100 percent, not {args.threshold:g}")


def _categories(args: argparse.Namespace) -> Categories | None:
    if args.by != "category" and args.category is None:
        return None
    from collector.load.categories import categories_of

    return categories_of(args.categories or ())


def _chosen(profile: Profile, args: argparse.Namespace, categories: Categories | None) -> Profile:
    filters = args.process, args.thread, args.time, args.between, args.module, args.function, args.leaf, args.ignore
    if not any(filters) and args.focus is None and args.callers_of is None and args.category is None and args.gil is None:
        return profile
    from collector.profile.filters import FilterError, select
    from collector.units import NS_PER_S

    begin_ns = min(recording.start_ns for recording in profile.recordings)
    start_s, end_s = _parse_span(args.time)
    try:
        return select(
            profile,
            pids=_numbers_or_names(args.process),
            tids=_numbers_or_names(args.thread),
            start_ns=None if start_s is None else begin_ns + round(start_s * NS_PER_S),
            end_ns=None if end_s is None else begin_ns + round(end_s * NS_PER_S),
            between=args.between,
            modules=args.module or (),
            functions=args.function or (),
            leaf=args.leaf or (),
            ignore=args.ignore or (),
            focus=args.focus,
            callers_of=args.callers_of,
            category=args.category,
            categories=categories,
            lock=args.gil,
        )
    except FilterError as error:
        raise UsageError(str(error)) from error


def _numbers_or_names(words: list[str] | None) -> list[int | str] | None:
    return None if words is None else [int(word) if word.isdecimal() else word for word in words]


def _parse_span(text: str | None) -> tuple[float | None, float | None]:
    if text is None:
        return None, None
    start, dash, end = text.partition("-")
    try:
        span = float(start) if start else None, float(end) if end else None
    except ValueError:
        dash = ""
    if not dash or text == "-":
        raise UsageError(f"--time is START-END in seconds, such as 1.5-3 or 10-, not {text!r}")
    if span[0] is not None and span[1] is not None and span[0] >= span[1]:
        raise UsageError(f"--time {text}: the end comes before the start")
    return span


