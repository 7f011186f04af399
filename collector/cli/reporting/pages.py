"""pages -- makes the view that was asked for, as text, JSON or CSV

Each maker imports what its view is made by: a report of one view has no use for the modules of all others.
"""

from collections.abc import Callable, Collection
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING

from collector.cli.reporting.meaning import meant_function, meant_source, source_text
from collector.errors import UsageError
from collector.named_tuple import NamedTuple
from collector.profile import aggregate
from collector.profile.call_tree import hot_path
from collector.profile.model import Profile
from collector.profile.source_map import SourceMap
from collector.profile.views import FUNCTIONS, GROUP_KEYS, TABLE_VIEWS, Selection, choose, choose_branches
from collector.reports.style import Style

if TYPE_CHECKING:
    from collector.exports.document import Document
    from collector.profile.categories import Categories

_TABLES = {"functions", "lines", "objects", "threads", "processes", "samples", "pcs"}
"""Views that are a table; the modules and functions that make them have their names."""

_TELL_ALL = {"overview", "header"}
"""Views that show every warning themselves."""
_WITHOUT_CODE = {"samples", "timeline", "metrics", "threads", "processes"}
"""No functions, lines or addresses stand there."""

_HAVE_ERRORS = ("functions", "lines", "calltree")
"""Views that can show sampling errors."""

_HAVE_GROUPS = ("overview", "functions", "lines", "timeline")
_GROUP_THRESHOLD = 0.005
_GROUP_LIMIT = 5


class PageOptions(NamedTuple):
    """How a view is to be shown. `format` is text, json or csv; a `limit` of None is the view's own, 0 is none."""

    format: str = "text"
    limit: int | None = None
    sort: str | None = None
    threshold: float | None = None
    style: Style = Style()
    has_errors: bool = False
    debug_dirs: tuple[str, ...] = ()
    source_map: SourceMap = MappingProxyType({})
    by: str | None = None
    categories: "Categories | None" = None
    is_bottom_up: bool = False
    context: int | None = None


def check_errors(view: str, by: str | None) -> None:
    """UsageError if sampling errors cannot be shown with the view."""
    if view not in _HAVE_ERRORS and not (by and view == "overview"):
        raise UsageError(f"{view} has no sampling errors; --errors is for {', '.join(_HAVE_ERRORS)}, and groups (--by)")


def _is_spread(view: str, by: str | None) -> bool:
    """Whether it is asked how a view differs over ranks or nodes."""
    if by is None:
        return False
    from collector.profile.over_ranks import NODE, RANK, VIEWS

    return by in (RANK, NODE) and view in VIEWS


def check_by(view: str, by: str | None) -> None:
    """UsageError if the view has no groups of that kind."""
    if by is None or _is_spread(view, by):
        return
    if view not in _HAVE_GROUPS:
        raise UsageError(f"{view} cannot be grouped; --by is for {', '.join(_HAVE_GROUPS)}")
    if view == "timeline" and by not in ("thread", "process"):
        raise UsageError(f"timeline is by process or by thread, not by {by}")


def check_sort(view: str, by: str | None, sort: str | None) -> None:
    """UsageError if the view has no such column; it can be known before anything is read."""
    if sort is None:
        return
    is_of_groups = by and view == "overview"
    if view not in TABLE_VIEWS and not is_of_groups:
        raise UsageError(f"{view} has its own order; --sort is for {', '.join(TABLE_VIEWS)}, and groups (--by)")
    if _is_spread(view, by):
        from collector.profile.over_ranks import SORT_KEYS

        keys: Collection[str] = SORT_KEYS
    else:
        keys = GROUP_KEYS if is_of_groups else TABLE_VIEWS[view].sort_keys
    if sort not in keys:
        raise UsageError(f"{'groups have' if is_of_groups else f'{view} has'} no column {sort!r} to sort by; there are {', '.join(keys)}")


def make_page(profile: Profile, view: str, argument: str | None, options: PageOptions) -> str:
    """The view's text, ending in a newline."""
    if options.by and view != "timeline":
        make = _groups_page if view == "overview" else _spreads_page if _is_spread(view, options.by) else _grouped_page
        page = make(profile, view, options)
    else:
        page = _table_page(profile, view, options) if view in _TABLES else _MAKERS[view](profile, argument or "", options)
    if options.format != "text" or (view in _TELL_ALL and not options.by):
        return page
    from collector.reports.layout import warning_lines

    lines = warning_lines(profile, options.style, says_outdated=view == "source", has_code=view not in _WITHOUT_CODE or bool(options.by))
    return page + "".join(f"{line}\n" for line in lines)


def _table_page(profile: Profile, view: str, options: PageOptions) -> str:
    selection = choose(TABLE_VIEWS[view], profile, options.sort, options.limit)
    errors = {"has_errors": True} if options.has_errors else {}
    if options.format == "text":
        page: str = import_module(f"collector.reports.{view}").render(profile, selection, options.style, **errors)
        return page + "\n"
    home = import_module("collector.exports.group_document" if view == "pcs" else "collector.exports.document")
    return _exported(getattr(home, view)(profile, selection.rows, **errors), options)


def _groups_page(profile: Profile, view: str, options: PageOptions) -> str:
    """One row a group."""
    from collector.profile.grouped import groups

    found = groups(profile, _by(options), _categories(options), options.sort)
    if options.format == "text":
        from collector.reports import groups as as_text

        limit = options.limit or len(found)
        return as_text.render(profile, _by(options), Selection(found[:limit], found[limit:]), options.style, options.has_errors) + "\n"
    from collector.exports import group_document

    return _exported(group_document.groups(profile, _by(options), found[: options.limit or None], options.has_errors), options)


def _spreads_page(profile: Profile, view: str, options: PageOptions) -> str:
    """The rows of a view over ranks or nodes."""
    from collector.profile import over_ranks

    by = _by(options)
    rows = sorted(over_ranks.spreads(profile, by, view), key=over_ranks.SORT_KEYS[options.sort or "exclusive"])
    if options.format == "text":
        from collector.reports import spreads as as_text

        limit = options.limit or len(rows)
        return as_text.render(profile, view, by, Selection(rows[:limit], rows[limit:]), options.style) + "\n"
    from collector.exports import group_document
    from collector.profile.grouped import groups

    return _exported(group_document.spreads(profile, by, rows[: options.limit or None], groups(profile, by, _categories(options))), options)


def _grouped_page(profile: Profile, view: str, options: PageOptions) -> str:
    """The rows of a view, group by group."""
    from collector.profile.grouped import grouped_rows

    default = _GROUP_THRESHOLD if options.format == "text" else 0.0
    threshold = default if options.threshold is None else options.threshold
    shown, hidden = grouped_rows(profile, _by(options), view, _categories(options), threshold, options.sort)
    if options.format == "text":
        limit = _GROUP_LIMIT if options.limit is None else options.limit
        from collector.reports import groups as as_text

        return as_text.render_rows(profile, view, _by(options), shown, limit, hidden, options.style, options.has_errors) + "\n"
    from collector.exports import group_document

    return _exported(group_document.grouped(profile, _by(options), shown, options.limit, options.has_errors), options)


def _by(options: PageOptions) -> str:
    return options.by or "module"


def _categories(options: PageOptions) -> "Categories":
    from collector.profile.categories import read_categories

    return options.categories or read_categories()


def _hot_path_page(profile: Profile, argument: str, options: PageOptions) -> str:
    path = hot_path(profile)
    if options.format == "text":
        from collector.reports import hotpath

        return hotpath.render(profile, path, options.style) + "\n"
    from collector.exports import group_document

    return _exported(group_document.hot_path(profile, path.nodes), options)


def _regions_page(profile: Profile, argument: str, options: PageOptions) -> str:
    from collector.profile.regions import regions

    rows = regions(profile, _categories(options))
    if options.format == "text":
        from collector.reports import regions as as_text

        return as_text.render(profile, rows, options.limit, options.style) + "\n"
    from collector.exports import group_document

    return _exported(group_document.regions(profile, rows[: options.limit or None]), options)


def _calls_page(profile: Profile, argument: str, options: PageOptions) -> str:
    from collector.profile.categories import CategoryError
    from collector.profile.category_calls import category_calls

    try:
        rows = category_calls(profile, _categories(options), argument)
    except CategoryError as error:
        raise UsageError(str(error)) from error
    if options.format == "text":
        from collector.reports import calls

        return calls.render(profile, argument, rows, options.limit, options.style) + "\n"
    from collector.exports import group_document

    return _exported(group_document.calls(profile, rows[: options.limit or None]), options)


def _timeline_page(profile: Profile, argument: str, options: PageOptions) -> str:
    from collector.profile.timeline import timeline
    from collector.reports import timeline as as_text

    count = as_text.step_count(options.style) if options.format == "text" else _STEPS
    is_by_thread = options.by == "thread" or (options.by is None and len(profile.processes) == 1)
    chart = timeline(profile, count, is_by_thread)
    rows = chart.rows
    if options.limit:
        longest = sorted(rows, key=lambda row: -row.cpu)[: options.limit]
        rows = [row for row in rows if row in longest]
    if options.format == "text":
        hidden = [row for row in chart.rows if row not in rows]
        return as_text.render(profile, chart, Selection(rows, hidden), options.style) + "\n"
    from collector.exports import group_document

    return _exported(group_document.timeline(profile, chart, rows), options)


_STEPS = 100


def _overview_page(profile: Profile, argument: str, options: PageOptions) -> str:
    if options.format == "text":
        from collector.reports import overview

        return overview.render(profile, options.limit, options.style) + "\n"
    from collector.exports import document

    limit = 10 if options.limit is None else options.limit
    return _exported(document.overview(profile, choose(FUNCTIONS, profile, limit=limit).rows), options)


def _header_page(profile: Profile, argument: str, options: PageOptions) -> str:
    if options.format == "text":
        from collector.reports import header

        return header.render(profile, options.style) + "\n"
    from collector.exports import document

    return _exported(document.header(profile), options)


def _metrics_page(profile: Profile, argument: str, options: PageOptions) -> str:
    if options.format == "text":
        from collector.reports import metrics

        return metrics.render(profile, options.limit, options.style) + "\n"
    from collector.exports import metric_document

    return _exported(metric_document.metrics(profile), options)


def _call_tree_page(profile: Profile, argument: str, options: PageOptions) -> str:
    default = 0.005 if options.format == "text" else 0.0
    threshold = default if options.threshold is None else options.threshold
    selection = choose_branches(profile, threshold, options.limit, options.is_bottom_up)
    if options.format == "text":
        from collector.reports import call_tree

        return call_tree.render(profile, selection, threshold, options.style, options.has_errors, options.is_bottom_up) + "\n"
    from collector.exports import document

    return _exported(document.call_tree(profile, selection.rows, options.has_errors), options)


def _neighbours_page(profile: Profile, argument: str, options: PageOptions) -> str:
    from collector.profile.callers_callees import callers_callees

    neighbours = callers_callees(profile, meant_function(profile, argument))
    if options.format == "text":
        from collector.reports import callers_callees as as_text

        return as_text.render(profile, neighbours, options.limit, options.style) + "\n"
    from collector.exports import document

    return _exported(document.callers_callees(profile, neighbours, options.limit), options)


def _source_page(profile: Profile, argument: str, options: PageOptions) -> str:
    from collector.profile.source_lines import source_lines

    part = meant_source(profile, argument)
    rows = source_lines(profile, part.path)
    if options.format == "text":
        from collector.reports import source

        text = source.render(
            profile, part.path, part.text, rows, part.first, part.last, options.limit, options.style, part.note, options.context
        )
        return text + "\n"
    from collector.exports import document

    return _exported(document.source(profile, part.path, part.text, rows, part.first, part.last, part.note), options)


def _function_page(profile: Profile, argument: str, options: PageOptions) -> str:
    wanted = profile.functions[meant_function(profile, argument)]
    row = next((row for row in aggregate.functions(profile) if row.function is wanted), None)
    if row is None:
        raise UsageError(f"{wanted.name} has no time in this part of the experiment")
    if options.format == "text":
        from collector.reports import function

        return function.render(profile, row, options.style) + "\n"
    from collector.exports import document

    return _exported(document.function(profile, row), options)


def _disasm_page(profile: Profile, argument: str, options: PageOptions) -> str:
    from collector.cli.reporting.disassembly import listings_of

    wanted = meant_function(profile, argument)
    listings = listings_of(profile, wanted, options.debug_dirs, options.source_map)
    if options.format == "text":
        from collector.reports import disasm

        paths = {row.file for listing in listings for row in listing.rows if row.file}
        texts = {path: source_text(profile, path)[0] for path in paths}
        name = profile.functions[wanted].name
        return disasm.render(profile, name, listings, options.limit, options.style, texts, options.context) + "\n"
    from collector.exports import document

    return _exported(document.disasm(profile, wanted, listings), options)


def _exported(data: "Document", options: PageOptions) -> str:
    if options.format == "json":
        from collector.exports.json_text import to_json

        return to_json(data)
    from collector.exports.csv_text import to_csv

    return to_csv(data)


_MAKERS: dict[str, Callable[[Profile, str, PageOptions], str]] = {
    "overview": _overview_page,
    "header": _header_page,
    "metrics": _metrics_page,
    "calltree": _call_tree_page,
    "callers-callees": _neighbours_page,
    "hotpath": _hot_path_page,
    "regions": _regions_page,
    "calls": _calls_page,
    "timeline": _timeline_page,
    "source": _source_page,
    "disasm": _disasm_page,
    "function": _function_page,
}
