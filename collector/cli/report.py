"""report -- show where a recorded program spent its time

    collector report EXPERIMENT... [VIEW [ARGUMENT]]

Several experiments are added up. Without a view it is the overview.
"""

from __future__ import annotations

from collector.cli.reporting import debug_options, filter_options, metric_options, name_options
from collector.cli.reporting.paper import page_style, show_profile, write_page
from collector.cli.reporting.words import VIEWS, parse_words
from collector.errors import UsageError
from collector.profile.model import Profile

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

NAME = "report"
OPTIONS_BETWEEN = True
HELP = (__doc__ or "") + "\nviews:\n" + "\n".join(
    f"  {f'{view} {argument}'.strip():<27} {meaning}" for view, (argument, meaning) in VIEWS.items()
)


_GROUPINGS = ("module", "file", "thread", "process", "label", "category", "rank", "node")


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
    add("--by", metavar="WHAT", choices=_GROUPINGS, help="group by module, file, thread, process, label or category; or how it differs by rank or node")
    add("--bottom-up", action="store_true", help="calltree: from the functions in which time is spent up to their callers")
    add("--context", metavar="N", type=int, help="source, disasm: only lines or instructions with time, and N around each")
    add("--errors", action="store_true", help="functions, lines, calltree, groups: show how far off a time may be because it was sampled")
    metric_options.add_arguments(parser)
    name_options.add_arguments(parser)
    debug_options.add_arguments(parser)
    filter_options.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Show the view and give the exit status."""
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
    categories = filter_options.categories_of(args, args.by == "category" or request.view in ("calls", "regions"))
    options = PageOptions(
        args.format or "text", args.limit, args.sort, threshold, style, args.errors, debug_dirs, source_map,
        args.by, categories, args.bottom_up, args.context,
    )  # fmt: skip

    def show(profile: Profile) -> None:
        chosen = filter_options.chosen(name_options.renamed(profile, args, source_map), args, categories)
        if args.metric or request.view != "overview":
            chosen = metric_options.measured(chosen, args.metric, takes_ratios=True, has_errors=args.errors)
        told = with_runtime_hints(with_outdated(chosen))
        write_page(make_page(told, request.view, request.argument, options), args.output)

    show_profile(request.paths, show, not args.no_inlines, args.pieces, debug_dirs, args.debuginfod, args.interpreter_frames)
    return 0


def _check(args: argparse.Namespace) -> None:
    if args.limit is not None and args.limit < 0:
        raise UsageError(f"--limit is a number of rows, not {args.limit}")
    if args.context is not None and args.context < 0:
        raise UsageError(f"--context is a number of lines or instructions, not {args.context}")
    if args.threshold is not None and not 0 <= args.threshold <= 100:
        raise UsageError(f"--threshold is between 0 and 100 percent, not {args.threshold:g}")
