"""filter_options -- which samples are shown, as options of the commands that show a profile"""

from __future__ import annotations

from typing import TYPE_CHECKING

from collector.errors import UsageError
from collector.profile.lock import HELD, RELEASED
from collector.profile.model import Profile

if TYPE_CHECKING:
    import argparse

    from collector.profile.categories import Categories


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    add("--process", metavar="PID|NAME", action="append", help="only this process, or programs of a name or shell pattern; may be repeated")
    add("--thread", metavar="TID|NAME", action="append", help="only this thread, or threads of a name or shell pattern; may be repeated")
    add("--rank", metavar="LIST", help="of a parallel job only these ranks: 0,8-15 or, every fourth, 0-/4")
    add("--node", metavar="NAME", action="append", help="only processes on this node, or on nodes whose name a shell pattern fits; may be repeated")
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
    add("--categories", metavar="FILE", action="append", help="a table of categories of your own, before the built-in one")


def categories_of(args: argparse.Namespace, is_needed: bool) -> Categories | None:
    """The categories, if a filter or something else needs them. UsageError if they cannot be used."""
    if not is_needed and args.category is None:
        return None
    from collector.load.categories import categories_of

    return categories_of(args.categories or ())


def chosen(profile: Profile, args: argparse.Namespace, categories: Categories | None) -> Profile:
    """The samples that are asked for. UsageError if a filter makes no sense."""
    filters = args.process, args.thread, args.rank, args.node, args.time, args.between, args.module, args.function, args.leaf, args.ignore
    if not any(filters) and args.focus is None and args.callers_of is None and args.category is None and args.gil is None:
        return profile
    from collector.capture.rank import parse_ranks
    from collector.profile.filters import FilterError, select
    from collector.units import NS_PER_S

    begin_ns = min(recording.start_ns for recording in profile.recordings)
    start_s, end_s = _parse_span(args.time)
    try:
        return select(
            profile,
            pids=_numbers_or_names(args.process),
            tids=_numbers_or_names(args.thread),
            ranks=None if args.rank is None else parse_ranks(args.rank, "--rank"),
            nodes=args.node,
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


