"""spreads -- how the time of code differs between the ranks, or nodes, of a parallel job."""

from __future__ import annotations

from collector.profile.metrics import Metric
from collector.profile.model import Profile
from collector.profile.over_ranks import NODE, RANK, Spread, SpreadRow, members, shared_ranks, total_spread
from collector.profile.views import Selection
from collector.reports import layout
from collector.reports.style import Style
from collector.reports.table import Column, figure, name, table_lines
from collector.units import format_percent, plural


def render(profile: Profile, view: str, by: str, selection: Selection, style: Style) -> str:
    """A row for each function, line or module: exclusive and inclusive times of all ranks, and where the least and the greatest are."""
    lines = [layout.title_line(profile, f"{view.capitalize()} by {by}", style), ""]
    count = len(members(profile, by))
    if not count:
        return "\n".join([*lines, *layout.paragraph(f"There is no {by} here: nothing was recorded as part of a parallel job.", style)])
    if not selection.rows:
        return "\n".join(lines + layout.nothing_lines(style))
    metric = profile.metrics[0]
    lines += table_lines(_columns(view, by, metric), [_cells(row, view, metric) for row in selection.rows], style)
    lines += layout.hidden_line(selection.hidden, "object" if view == "objects" else view[:-1], style)
    lines += ["", *layout.paragraph(f"{plural(count, by)}: {spread_line(total_spread(profile, by), by, metric)}", style)]
    lines += shared_lines(profile, by, style)
    return "\n".join(lines)


def spread_line(spread: Spread, by: str, metric: Metric) -> str:
    """A spread of a metric in words."""
    mean, least, most, deviation = (
        f"{layout.amount(value, metric)} {metric.unit}".rstrip() for value in (spread.mean, spread.min, spread.max, spread.deviation)
    )
    title = metric.title if metric.name == "cpu" else metric.name
    return (
        f"{title} {mean} on average, from {least} ({by} {spread.min_at}) to {most} ({by} {spread.max_at}), "
        f"deviation {deviation}, imbalance {format_percent(spread.imbalance, 1.0)} %"
    )


def shared_line(profile: Profile) -> str:
    """That some ranks are sums over several launches; empty if none is."""
    shared = shared_ranks(profile)
    if not shared:
        return ""
    title = f"rank {shared[0]} adds" if len(shared) == 1 else f"{len(shared)} ranks add"
    return f"{title} up processes of several launches, as by several mpirun or by MPI_Comm_spawn (the view `processes` has each)"


def shared_lines(profile: Profile, by: str, style: Style) -> list[str]:
    """The same below figures of ranks."""
    shared = shared_line(profile) if by == RANK else ""
    return ["", *layout.paragraph(f"Here {shared}: imbalances are of the sums.", style)] if shared else []


def _columns(view: str, by: str, metric: Metric) -> list[Column]:
    title = by.capitalize()
    own, all_below = ("Exclusive", "Inclusive") if metric.name == "cpu" else (f"{word} {layout.metric_heading(metric)}" for word in ("Exclusive", "Inclusive"))
    at = [name(title, least=6), name(title, least=6)] if by == NODE else [figure(title, "min", rank=2), figure(title, "max")]
    return [
        figure(own, "mean"),
        figure(own, "min", rank=1),
        figure(own, "max"),
        figure(own, "dev.", rank=4),
        *at,
        figure("Imbalance", "%"),
        figure(all_below, "mean", rank=1),
        figure(all_below, "max", rank=3),
        *([name("Line", least=12, keep="end")] if view == "lines" else []),
        *([name("Function", good=24)] if view != "objects" else []),
        name("Module", least=8),
    ]


def _cells(row: SpreadRow, view: str, metric: Metric) -> list[str]:
    own, all_below = row.exclusive, row.inclusive
    return [
        *(layout.amount(value, metric) for value in (own.mean, own.min, own.max, own.deviation)),
        str(own.min_at),
        str(own.max_at),
        format_percent(own.imbalance, 1.0),
        layout.amount(all_below.mean, metric),
        layout.amount(all_below.max, metric),
        *([layout.place(row.file, row.line)] if view == "lines" else []),
        *([layout.function_title(row.function)] if row.function else []),
        row.module.name,
    ]
