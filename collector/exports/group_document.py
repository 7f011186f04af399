"""group_document -- groups, addresses, the hot path and the timeline as plain structures (docs/json.md)"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from collector.exports import document
from collector.exports.plain import plains
from collector.profile.call_tree import CallNode
from collector.profile.category_calls import CategoryCallRow
from collector.profile.code_rows import call_times, category_call_times, group_times, grouped_times, pc_times, region_times, spread_times
from collector.profile.grouped import Group, GroupedRows, Row
from collector.profile.model import Profile
from collector.profile.over_ranks import SpreadRow
from collector.profile.pcs import PcRow
from collector.profile.regions import RegionRow
from collector.profile.sample_points import labelled_points
from collector.profile.timeline import Timeline, TimelineRow


def groups(profile: Profile, by: str, found: Iterable[Group], has_errors: bool = False) -> document.Document:
    """One row a group."""
    return document.framed(profile, group_times(found, document.figure_of(profile, has_errors))) | {"by": by}


def grouped(profile: Profile, by: str, found: Sequence[GroupedRows[Row]], limit: int | None = None, has_errors: bool = False) -> document.Document:
    """The rows of the view `functions` or `lines`, group by group, and the groups."""
    figure = document.figure_of(profile, has_errors)
    rows = document.framed(profile, grouped_times(found, figure, limit))
    return rows | {"by": by, "groups": plains(group_times((one.group for one in found), figure))}


def spreads(profile: Profile, by: str, rows: Iterable[SpreadRow], found: Iterable[Group]) -> document.Document:
    """A view over ranks or nodes, and the time of each of them as groups."""
    times = plains(group_times(found, document.figure_of(profile)))
    return document.framed(profile, spread_times(rows)) | {"by": by, "groups": times}


def pcs(profile: Profile, rows: Iterable[PcRow]) -> document.Document:
    """The view `pcs`."""
    return document.framed(profile, pc_times(rows, document.figure_of(profile)))


def regions(profile: Profile, rows: Iterable[RegionRow]) -> document.Document:
    """The view `regions`."""
    return document.framed(profile, region_times(rows, document.figure_of(profile)))


def calls(profile: Profile, rows: Iterable[CategoryCallRow]) -> document.Document:
    """The view `calls`."""
    return document.framed(profile, category_call_times(rows, document.figure_of(profile)))


def hot_path(profile: Profile, nodes: Iterable[CallNode]) -> document.Document:
    """The view `hotpath`."""
    return document.framed(profile, call_times(nodes, document.figure_of(profile)))


def timeline(profile: Profile, chart: Timeline, rows: Iterable[TimelineRow]) -> document.Document:
    """The view `timeline`: the CPU time of each step."""
    rounded = (replace(row, cpu=round(row.cpu, 9), steps=tuple(round(step, 9) for step in row.steps)) for row in rows)
    return document.framed(profile, rounded) | {"step": chart.step, "labels": plains(labelled_points(profile))}
