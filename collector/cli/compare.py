"""compare -- show what changed from some runs of a program to others, and whether it is more than chance

    collector compare [OPTIONS] BEFORE... -- AFTER...

BEFORE and AFTER are experiments: one run, or better five or more, on each side.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from collector.cli.reporting import debug_options, metric_options, name_options
from collector.cli.reporting.paper import page_style, show_profile, write_page
from collector.cli.reporting.sides import WORDS, check_run, check_sides, divided
from collector.errors import UsageError
from collector.printable import printable
from collector.profile.compared_run import RUNS, Run
from collector.profile.comparison import SORT_KEYS, ComparedRow, Comparison, compare, slower_than
from collector.profile.findings import failure
from collector.profile.metrics import ratios_of
from collector.profile.model import Profile
from collector.profile.source_map import SourceMap, with_sources_at
from collector.profile.views import Selection

NAME = "compare"
HELP = __doc__ or ""
SLOWER = 3
"""Exit status if something got slower than --fail-above allows."""

_ROWS = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.usage = f"collector compare [OPTIONS] {WORDS}"
    add = parser.add_argument
    add("before", metavar="BEFORE", nargs="*", help="experiments of the program as it was")
    add("--after", metavar="AFTER", nargs="*", help="experiments of the program as it is now; -- is short for it")
    add("--by", choices=list(RUNS), default="function", help="compare functions (default), source lines or call paths")
    metric_options.add_arguments(parser, several=False)
    add("--fail-above", metavar="PERCENT", help=f"exit with {SLOWER} if more than this is lost in the total or an important function")
    add("-l", "--limit", metavar="N", type=int, help=f"show N rows; 0 is all of them; default {_ROWS}, with --json and --csv all")
    add("-s", "--sort", metavar="COLUMN", choices=list(SORT_KEYS), help=f"sort by {', '.join(SORT_KEYS)}; default: findings, then difference")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--json", dest="format", action="store_const", const="json", help="as JSON")
    kind.add_argument("--csv", dest="format", action="store_const", const="csv", help="as CSV")
    add("-o", "--output", metavar="FILE", help="write to FILE instead of the terminal")
    add("-w", "--width", metavar="COLUMNS", type=int, help="width of the text; default: the terminal's, or 100")
    name_options.add_frame_arguments(parser)
    debug_options.add_arguments(parser)


def prepare(words: Sequence[str]) -> list[str]:
    """The words as argparse can tell them apart: what stands behind `--` is for an option of its own."""
    return divided(words, NAME)


def run(args: argparse.Namespace) -> int:
    """Show the comparison and give the exit status."""
    check_sides(args.before, args.after, NAME)
    if args.limit is not None and args.limit < 0:
        raise UsageError(f"--limit is a number of rows, not {args.limit}")
    if args.metric is not None and "," in args.metric:
        raise UsageError("one metric is compared at a time: --metric NAME")
    limit = _percent(args.fail_above)
    style = page_style(args.width, args.output)
    debug_dirs, source_map = debug_options.debug_dirs_of(args), debug_options.source_map_of(args)
    before, after = ([_run_of(path, args, debug_dirs, source_map) for path in side] for side in (args.before, args.after))
    comparison = compare(before, after, args.by)
    failed = () if limit is None else slower_than(comparison, limit)
    selection = _selected(comparison, args)
    if args.format is None:
        from collector.reports import compare as text

        write_page(text.render(comparison, selection, style) + "\n", args.output)
    else:
        from collector.exports import compare_document, csv_text, json_text

        document = compare_document.compare(comparison, selection.rows, limit, failed)
        write_page(json_text.to_json(document) if args.format == "json" else csv_text.to_csv(document), args.output)
    if failed and limit is not None:
        print(f"collector: {printable(failure(failed, limit, comparison.metric))}", file=sys.stderr)
    return SLOWER if failed else 0


def _run_of(path: str, args: argparse.Namespace, debug_dirs: tuple[str, ...], source_map: SourceMap) -> Run:
    made: list[Run] = []

    def make(profile: Profile) -> None:
        check_run(profile, path)
        measured = metric_options.measured(with_sources_at(profile, source_map), args.metric or "cpu", takes_ratios=True)
        ratio = next((place for place in ratios_of(measured.metrics) if place.ratio.name == args.metric), None)
        if ratio and args.fail_above is not None:
            raise UsageError(f"--fail-above is for what there can be too much of, not for {args.metric}")
        made.append(RUNS[args.by](measured, ratio))

    show_profile((path,), make, not args.no_inlines, args.pieces, debug_dirs, args.debuginfod, args.interpreter_frames)
    return made[-1]


def _percent(text: str | None) -> float | None:
    """A share as it is written: `5%`, `5 %`, `0.5`."""
    if text is None:
        return None
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise UsageError(f"--fail-above is a number of percent such as 5%, not {text!r}")
    return value / 100


def _selected(comparison: Comparison, args: argparse.Namespace) -> Selection:
    rows: list[ComparedRow] = list(comparison.rows)
    if args.sort:
        rows.sort(key=SORT_KEYS[args.sort])
    limit = args.limit if args.limit is not None else 0 if args.format else _ROWS
    return Selection(rows[:limit], rows[limit:]) if limit else Selection(rows)
