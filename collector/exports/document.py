"""document -- every view as one plain structure of dicts and lists, the same for all formats (docs/json.md).

All views share the frame `experiment`, `metrics`, `total`, `rows`. Times are seconds since the
experiment began, or durations in seconds; figures that belong to a metric stand under its name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from collector.exports.plain import plains
from collector.profile import aggregate
from collector.profile.call_tree import CallNode, hot_path
from collector.profile.callers_callees import Neighbours
from collector.profile.causes import exit_status
from collector.profile.code_rows import Figure, call_times, function_times, line_times, module_times, neighbour_times
from collector.profile.instructions import Listing
from collector.profile.metrics import Metric, Values, figures, ratios_of
from collector.profile.model import Function, Module, Profile
from collector.profile.precision import error_of, exact_variance
from collector.profile.process_rows import experiment_facts, moment, process_times, thread_times
from collector.profile.sample_points import SampleReading, labelled_points
from collector.profile.samples import sample_count
from collector.profile.source_lines import SourceRow
from collector.profile.warnings import Titled, warnings_of
from collector.units import NS_PER_S

Document = dict[str, Any]


def functions(profile: Profile, rows: Iterable[aggregate.FunctionRow], has_errors: bool = False) -> Document:
    """The view `functions`."""
    rows = list(rows)
    return framed(profile, function_times(rows, figure_of(profile, has_errors)), ((row.function.name, row.exclusive) for row in rows))


def function(profile: Profile, row: aggregate.FunctionRow) -> Document:
    """The view `function`: one row."""
    document = functions(profile, [row])
    document["rows"][0] |= {"linker_name": row.function.raw_name, "alias": row.function.alias, "path": row.module.path}
    return document


def lines(profile: Profile, rows: Iterable[aggregate.LineRow], has_errors: bool = False) -> Document:
    """The view `lines`."""
    rows = list(rows)
    titled = ((f"{row.file}:{row.line}" if row.line else row.function.name, row.exclusive) for row in rows)
    return framed(profile, line_times(rows, figure_of(profile, has_errors)), titled)


def objects(profile: Profile, rows: Iterable[aggregate.ObjectRow]) -> Document:
    """The view `objects`."""
    return framed(profile, module_times(rows, figure_of(profile)))


def threads(profile: Profile, rows: Iterable[aggregate.ThreadRow]) -> Document:
    """The view `threads`."""
    return framed(profile, thread_times(profile, rows))


def processes(profile: Profile, rows: Iterable[aggregate.ProcessRow]) -> Document:
    """The view `processes`, and the descendants in which nothing was recorded."""
    document = framed(profile, process_times(profile, rows))
    document["unrecorded"] = [
        {
            **_of_experiment(profile, one.experiment),
            "pid": one.pid,
            "program": one.program,
            "gone": moment(profile, one.experiment, one.time_ns),
            "exit_status": exit_status(one.status),
            "reason": one.reason,
        }
        for one in profile.unrecorded
    ]
    return document


def samples(profile: Profile, rows: Iterable[SampleReading]) -> Document:
    """The view `samples`: sample points."""
    return framed(profile, rows)


def call_tree(profile: Profile, rows: Iterable[CallNode], has_errors: bool = False) -> Document:
    """The view `calltree`."""
    rows = list(rows)
    return framed(profile, call_times(rows, figure_of(profile, has_errors)), ((row.title, row.exclusive) for row in rows))


def callers_callees(profile: Profile, neighbours: Neighbours, limit: int | None = None) -> Document:
    """The view `callers-callees`: rows with the relation `caller`, `self` or `callee`."""
    figure = figure_of(profile)
    document = framed(profile, neighbour_times(neighbours, figure, limit))
    document["function"] = {
        **_named(neighbours.function, neighbours.module),
        "exclusive": figure(neighbours.exclusive),
        "inclusive": figure(neighbours.inclusive),
    }
    return document


def source(
    profile: Profile, path: str, text: Sequence[str], rows: Iterable[SourceRow], first: int, last: int, note: str = ""
) -> Document:
    """The view `source`: the lines of the file that are on a stack, with their text."""
    figure = figure_of(profile)
    document = framed(profile)
    document["rows"] = [
        {
            "line": row.line,
            "source": text[row.line - 1] if row.line <= len(text) else None,
            "exclusive": figure(row.exclusive),
            "inclusive": figure(row.inclusive),
        }
        for row in rows
        if first <= row.line <= last
    ]
    document["file"] = path
    document["note"] = note or None
    return document


def disasm(profile: Profile, function: int, listings: Iterable[Listing]) -> Document:
    """The view `disasm`: the instructions of all pieces of a function's code."""
    figure = figure_of(profile)
    document = framed(profile)
    document["rows"] = [
        {
            "piece": piece,
            "address": row.address,
            "instruction": row.text,
            "file": row.file,
            "line": row.line,
            "exclusive": figure(row.exclusive),
            "inclusive": figure(row.inclusive),
        }
        for piece, listing in enumerate(listings)
        for row in listing.rows
    ]
    known = profile.functions[function]
    document["function"] = _named(known, profile.modules[known.module])
    return document


def header(profile: Profile) -> Document:
    """The view `header`: experiments, their processes, losses and messages."""
    document = framed(profile, experiment_facts(profile))
    document["processes"] = plains(process_times(profile, aggregate.processes(profile)))
    document["losses"] = _losses(profile)
    document["messages"] = [
        {
            **_of_experiment(profile, message.experiment),
            "severity": ("note", "warning", "error")[min(message.severity, 2)],
            "text": message.text,
            "count": message.count,
            "subject": message.subject,
        }
        for message in profile.messages
    ]
    return document


def overview(profile: Profile, rows: Iterable[aggregate.FunctionRow]) -> Document:
    """The view `overview`: its rows are the top functions."""
    document = functions(profile, rows)
    document["experiments"] = plains(experiment_facts(profile))
    document["samples"] = sample_count(profile.samples.cells())
    document["threads"] = len(profile.threads)
    document["processes"] = len(profile.processes)
    document["unrecorded"] = len(profile.unrecorded)
    document["unattributed"] = sum(thread.unattributed_ns for thread in profile.threads) / NS_PER_S
    document["stacks"] = {row.cause: row.sample_count for row in aggregate.stack_ends(profile)}
    document["losses"] = _losses(profile)
    document["labels"] = plains(labelled_points(profile))
    document["hotpath"] = plains(call_times(hot_path(profile).nodes, figure_of(profile)))
    return document


def framed(profile: Profile, rows: Iterable[object] = (), titled: Titled = ()) -> Document:
    """What all views share; `titled` are rows of which may be said that they rest on few samples."""
    names = [recording.name for recording in profile.recordings]
    return {
        "experiment": names[0] if len(names) == 1 else names,
        "metrics": [{"name": name, "unit": unit} for name, unit in _units(profile).items()],
        "filters": list(profile.filters),
        "total": figures(profile.metrics, aggregate.total_values(profile)),
        "warnings": warnings_of(profile, titled),
        "rows": plains(rows),
    }


def figure_of(profile: Profile, has_errors: bool = False) -> Figure[Mapping[str, float | None]]:
    """What makes the figures of a row, all by the names of their metrics."""
    if not has_errors:
        return partial(figures, profile.metrics)
    return partial(_with_error, profile.metrics, exact_variance(profile, aggregate.total_values(profile)))


def _units(profile: Profile) -> dict[str, str]:
    return {metric.name: metric.unit for metric in profile.metrics} | {place.ratio.name: place.ratio.unit for place in ratios_of(profile.metrics)}


def _with_error(metrics: Sequence[Metric], whole: float, values: Values) -> Mapping[str, float | None]:
    error = error_of(metrics, values, whole)
    return {**figures(metrics, values), "error": None if error is None else round(error, 9)}


def _named(function: Function, module: Module) -> dict[str, Any]:
    return {"function": function.name, "module": module.name, "file": function.file, "line": function.line, "alias": function.alias}


def _losses(profile: Profile) -> list[dict[str, Any]]:
    return [
        {
            **_of_experiment(profile, loss.experiment),
            "cause": loss.cause,
            "count": loss.count,
            "where": loss.where,
        }
        for loss in profile.losses
    ]


def _of_experiment(profile: Profile, experiment: int) -> dict[str, str]:
    """Which experiment a row belongs to, where there are several."""
    return {"experiment": profile.recordings[experiment].name}
