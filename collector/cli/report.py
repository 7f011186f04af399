"""report -- show where a recorded program spent its time

    collector report EXPERIMENT... [VIEW [ARGUMENT]]

Several experiments are added up. Without a view it is the overview.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import os
import sys
from collections.abc import Callable

from collector.cli.reporting.words import VIEWS, parse_words
from collector.errors import CollectorError, ExperimentError, UsageError
from collector.profile.model import Profile
from collector.reports.style import Style

NAME = "report"
HELP = (__doc__ or "") + "\nviews:\n" + "\n".join(
    f"  {f'{view} {argument}'.strip():<27} {meaning}" for view, (argument, meaning) in VIEWS.items()
)

_WIDTH_OF_FILES = 100


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
    add("--errors", action="store_true", help="functions, lines, calltree: show how far off a time may be because it was sampled")
    add("--no-inlines", action="store_true", help="count inlined calls for the functions around them")
    add("--pieces", action="store_true", help="show pieces of functions (f.cold, f.part.0, f.constprop.0) apart from them")
    add("--process", metavar="PID|NAME", action="append", help="only this process, or programs of a name or shell pattern; may be repeated")
    add("--thread", metavar="TID|NAME", action="append", help="only this thread, or threads of a name or shell pattern; may be repeated")
    add("--time", metavar="START-END", help="only this span, in seconds since the experiment began")
    add("--between", metavar="LABEL", nargs=2, help="only from a sample point with the first label to the next with the second")
    add("--module", metavar="PATTERN", action="append", help="only samples with code of such a module anywhere on their stack; all of several")
    add("--function", metavar="REGEX", action="append", help="only samples with such a function anywhere on their stack; all of several")
    add("--leaf", metavar="REGEX", action="append", help="only samples in such a function itself")


def run(args: argparse.Namespace) -> int:
    """Show the view and give the exit status."""
    gc.disable()  # a profile is many values that all stay until the end: nothing that could be collected
    request = parse_words(args.words)
    _check(args)
    from collector.cli.reporting.pages import PageOptions, check_errors, check_sort, make_page
    from collector.load.outdated import with_outdated

    check_sort(request.view, args.sort)
    if args.errors:
        check_errors(request.view)
    threshold = None if args.threshold is None else args.threshold / 100
    options = PageOptions(args.format or "text", args.limit, args.sort, threshold, _style(args), args.errors)

    def show(profile: Profile) -> None:
        _write(make_page(with_outdated(_chosen(profile, args)), request.view, request.argument, options), args.output)

    if args.no_inlines or args.pieces:  # what is kept has the usual names
        _show_loaded(_load(request.paths, not args.no_inlines, args.pieces)[0], show)
    else:
        _show_kept_or_loaded(request.paths, show)
    gc.freeze()  # nor at the end, when the interpreter would look for it after all
    return 0


def _check(args: argparse.Namespace) -> None:
    if args.limit is not None and args.limit < 0:
        raise UsageError(f"--limit is a number of rows, not {args.limit}")
    if args.width is not None and args.width < 20:
        raise UsageError(f"--width is at least 20 columns, not {args.width}")
    if args.threshold is not None and not 0 <= args.threshold <= 100:
        raise UsageError(f"--threshold is between 0 and 100 percent, not {args.threshold:g}")


def _show_kept_or_loaded(paths: tuple[str, ...], show: Callable[[Profile], None]) -> None:
    """Show the profile that was kept of the experiments, if it knows enough, else what they say, which is then kept."""
    from collector.load.kept import KeptProfile
    from collector.profile.kept_samples import NotKeptError

    kept = KeptProfile(paths)
    if kept.profile is not None:
        with contextlib.suppress(NotKeptError, ExperimentError):
            show(kept.profile)
            return
    loaded, looked_at = _load(paths)
    profile = kept.completing(loaded)
    _show_loaded(profile, show)
    kept.store(profile, looked_at)


def _show_loaded(profile: Profile, show: Callable[[Profile], None]) -> None:
    from collector.profile.kept_samples import NotKeptError

    try:
        show(profile)
    except NotKeptError as error:  # of a profile in a file
        raise UsageError(str(error)) from error


def _load(paths: tuple[str, ...], has_inlines: bool = True, has_pieces: bool = False) -> tuple[Profile, set[str]]:
    """The profile, and the files that its names depend on."""
    from collector.cli.reporting.progress import ProgressLine
    from collector.load import load
    from collector.symbols.symbolizer import Symbolizer

    progress = ProgressLine(sys.stderr)
    symbolizer = Symbolizer(has_inlines=has_inlines, has_pieces=has_pieces, progress=progress)
    try:
        return load(paths, symbolizer=symbolizer, progress=progress), symbolizer.looked_at
    finally:
        progress.close()


def _chosen(profile: Profile, args: argparse.Namespace) -> Profile:
    if not any((args.process, args.thread, args.time, args.between, args.module, args.function, args.leaf)):
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


def _style(args: argparse.Namespace) -> Style:
    is_terminal = args.output is None and sys.stdout.isatty()
    default = _columns_of_terminal() if is_terminal else _columns_asked()
    has_color = is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Style(max(20, args.width or default or _WIDTH_OF_FILES), has_color)


def _columns_of_terminal() -> int:
    import shutil  # brings three ways of compression with it

    return shutil.get_terminal_size().columns


def _columns_asked() -> int:
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if columns.isdecimal() else 0


def _write(text: str, path: str | None) -> None:
    if path is None or path == "-":
        sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]  # Output has it, whatever the stream
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    try:
        with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError as error:
        raise CollectorError(f"{path} cannot be written: {(error.strerror or str(error)).lower()}") from error
