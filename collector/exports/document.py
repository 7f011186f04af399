"""document -- every view as one plain structure of dicts and lists, the same for all formats (docs/json.md).

All views share the frame `experiment`, `metrics`, `total`, `rows`. Times are seconds since the
experiment began, or durations in seconds; figures that belong to a metric stand under its name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from collector.exports.plain import plains
from collector.profile import aggregate
from collector.profile.call_tree import CallNode
from collector.profile.callers_callees import NeighbourRow, Neighbours
from collector.profile.causes import exit_status
from collector.profile.instructions import Listing
from collector.profile.metrics import Values
from collector.profile.model import Clock, Function, Module, Process, Profile, Recording
from collector.profile.sample_points import SampleReading, labelled_points
from collector.profile.samples import sample_count
from collector.profile.source_lines import SourceRow
from collector.units import NS_PER_S

Document = dict[str, Any]


def functions(profile: Profile, rows: Iterable[aggregate.FunctionRow]) -> Document:
    """The view `functions`."""
    return _framed(profile, [_function_row(profile, row) for row in rows])


def function(profile: Profile, row: aggregate.FunctionRow) -> Document:
    """The view `function`: one row."""
    known = {"linker_name": row.function.raw_name, "alias": row.function.alias, "path": row.module.path}
    return _framed(profile, [{**_function_row(profile, row), **known}])


def lines(profile: Profile, rows: Iterable[aggregate.LineRow]) -> Document:
    """The view `lines`."""
    return _framed(
        profile,
        [
            {
                "file": row.file,
                "line": row.line,
                "function": row.function.name,
                "module": row.module.name,
                "exclusive": _figures(profile, row.exclusive),
                "inclusive": _figures(profile, row.inclusive),
            }
            for row in rows
        ],
    )


def objects(profile: Profile, rows: Iterable[aggregate.ObjectRow]) -> Document:
    """The view `objects`."""
    return _framed(
        profile,
        [
            {
                "module": row.module.name,
                "path": row.module.path,
                "build_id": row.module.build_id,
                "exclusive": _figures(profile, row.exclusive),
                "inclusive": _figures(profile, row.inclusive),
            }
            for row in rows
        ],
    )


def threads(profile: Profile, rows: Iterable[aggregate.ThreadRow]) -> Document:
    """The view `threads`."""
    return _framed(
        profile,
        [
            {
                **_of_experiment(profile, row.process.experiment),
                "pid": row.process.pid,
                "image": row.process.image,
                "tid": row.thread.tid,
                "name": row.thread.name,
                "start": _since_start(profile, row.process.experiment, row.thread.start_ns),
                "end": _since_start(profile, row.process.experiment, row.thread.end_ns),
                "samples": row.sample_count,
                "values": _figures(profile, row.values),
                "accounted": _accounted(row.thread.user_ns, row.thread.system_ns),
                "unattributed": row.thread.unattributed_ns / NS_PER_S,
            }
            for row in rows
        ],
    )


def processes(profile: Profile, rows: Iterable[aggregate.ProcessRow]) -> Document:
    """The view `processes`, and the descendants in which nothing was recorded."""
    document = _framed(profile, [_process_row(profile, row) for row in rows])
    document["unrecorded"] = [
        {
            **_of_experiment(profile, one.experiment),
            "pid": one.pid,
            "program": one.program,
            "gone": _since_start(profile, one.experiment, one.time_ns),
            "exit_status": exit_status(one.status),
            "reason": one.reason,
        }
        for one in profile.unrecorded
    ]
    return document


def samples(profile: Profile, rows: Iterable[SampleReading]) -> Document:
    """The view `samples`: sample points."""
    return _framed(profile, plains(rows))


def call_tree(profile: Profile, rows: Iterable[CallNode]) -> Document:
    """The view `calltree`."""
    return _framed(
        profile,
        [
            {
                "id": row.id,
                "parent": row.parent,
                "depth": row.depth,
                **_named(row.function, row.module, row.title),
                "exclusive": _figures(profile, row.exclusive),
                "inclusive": _figures(profile, row.inclusive),
            }
            for row in rows
        ],
    )


def callers_callees(profile: Profile, neighbours: Neighbours, limit: int | None = None) -> Document:
    """The view `callers-callees`: rows with the relation `caller`, `self` or `callee`."""
    rows = [_neighbour_row(profile, "caller", row) for row in neighbours.callers[: limit or None]]
    rows.append(
        {
            "relation": "self",
            **_named(neighbours.function, neighbours.module),
            "values": _figures(profile, neighbours.exclusive),
        }
    )
    rows += [_neighbour_row(profile, "callee", row) for row in neighbours.callees[: limit or None]]
    document = _framed(profile, rows)
    document["function"] = {
        **_named(neighbours.function, neighbours.module),
        "alias": neighbours.function.alias,
        "exclusive": _figures(profile, neighbours.exclusive),
        "inclusive": _figures(profile, neighbours.inclusive),
    }
    return document


def source(
    profile: Profile, path: str, text: Sequence[str], rows: Iterable[SourceRow], first: int, last: int, note: str = ""
) -> Document:
    """The view `source`: the lines of the file that are on a stack, with their text."""
    document = _framed(
        profile,
        [
            {
                "line": row.line,
                "source": text[row.line - 1] if row.line <= len(text) else None,
                "exclusive": _figures(profile, row.exclusive),
                "inclusive": _figures(profile, row.inclusive),
            }
            for row in rows
            if first <= row.line <= last
        ],
    )
    document["file"] = path
    document["note"] = note or None
    return document


def disasm(profile: Profile, function: int, listings: Iterable[Listing]) -> Document:
    """The view `disasm`: the instructions of all pieces of a function's code."""
    document = _framed(
        profile,
        [
            {
                "piece": piece,
                "address": row.address,
                "instruction": row.text,
                "file": row.file,
                "line": row.line,
                "exclusive": _figures(profile, row.exclusive),
                "inclusive": _figures(profile, row.inclusive),
            }
            for piece, listing in enumerate(listings)
            for row in listing.rows
        ],
    )
    known = profile.functions[function]
    document["function"] = {**_named(known, profile.modules[known.module]), "alias": known.alias}
    return document


def header(profile: Profile) -> Document:
    """The view `header`: experiments, their processes, losses and messages."""
    document = _framed(profile, [_recording_row(recording) for recording in profile.recordings])
    document["processes"] = [_process_row(profile, row) for row in aggregate.processes(profile)]
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
    document = _framed(profile, [_function_row(profile, row) for row in rows])
    document["experiments"] = [_recording_row(recording) for recording in profile.recordings]
    document["samples"] = sample_count(profile.samples.cells())
    document["threads"] = len(profile.threads)
    document["processes"] = len(profile.processes)
    document["unrecorded"] = len(profile.unrecorded)
    document["unattributed"] = sum(thread.unattributed_ns for thread in profile.threads) / NS_PER_S
    document["stacks"] = {row.cause: row.sample_count for row in aggregate.stack_ends(profile)}
    document["losses"] = _losses(profile)
    document["labels"] = plains(labelled_points(profile))
    return document


def _framed(profile: Profile, rows: list[dict[str, Any]]) -> Document:
    names = [recording.name for recording in profile.recordings]
    return {
        "experiment": names[0] if len(names) == 1 else names,
        "metrics": [{"name": metric.name, "unit": metric.unit} for metric in profile.metrics],
        "total": _figures(profile, aggregate.total_values(profile)),
        "rows": rows,
    }


def _figures(profile: Profile, values: Values) -> dict[str, float]:
    return {metric.name: round(value, 9) if metric.unit else round(value) for metric, value in zip(profile.metrics, values)}


def _named(function: Function | None, module: Module | None, title: str | None = None) -> dict[str, Any]:
    return {
        "function": function.name if function else title,
        "module": module.name if module else None,
        "file": function.file if function else None,
        "line": function.line if function else None,
    }


def _function_row(profile: Profile, row: aggregate.FunctionRow) -> dict[str, Any]:
    return {
        **_named(row.function, row.module),
        "exclusive": _figures(profile, row.exclusive),
        "inclusive": _figures(profile, row.inclusive),
    }


def _neighbour_row(profile: Profile, relation: str, row: NeighbourRow) -> dict[str, Any]:
    return {
        "relation": relation,
        **_named(row.function, row.module, "(start of the stack)"),
        "values": _figures(profile, row.values),
    }


def _process_row(profile: Profile, row: aggregate.ProcessRow) -> dict[str, Any]:
    process = row.process
    return {
        **_of_experiment(profile, process.experiment),
        "pid": process.pid,
        "image": process.image,
        "parent_pid": process.parent_pid,
        "program": process.executable,
        "arguments": list(process.arguments),
        "start": _since_start(profile, process.experiment, process.start_ns),
        "end": _since_start(profile, process.experiment, process.end_ns),
        "exit_status": exit_status(process.status),
        "threads": row.thread_count,
        "samples": row.sample_count,
        "values": _figures(profile, row.values),
        "accounted": _accounted(process.user_ns, process.system_ns),
        "before_recording": process.unrecorded_ns / NS_PER_S,
        "clock": _clock(process),
    }


def _clock(process: Process) -> dict[str, Any] | None:
    clock: Clock | None = process.clock
    if clock is None:
        return None
    return {
        "name": clock.name,
        "period": clock.period_ns / NS_PER_S,
        "effective_period": clock.effective_period_ns / NS_PER_S,
        "detail": clock.detail,
    }


def _recording_row(recording: Recording) -> dict[str, Any]:
    return {
        "experiment": recording.name,
        "path": recording.path,
        "command": list(recording.command),
        "directory": recording.directory,
        "host": recording.host,
        "machine": recording.machine,
        "kernel": recording.kernel,
        "cpu_count": recording.cpu_count,
        "page_bytes": recording.page_bytes,
        "began": recording.wall_ns / NS_PER_S,
        "duration": (recording.end_ns - recording.start_ns) / NS_PER_S,
        "exit_status": exit_status(recording.status),
        "accounted": None if recording.accounted_ns is None else recording.accounted_ns / NS_PER_S,
        "options": list(recording.options),
        "recorder": recording.library_version,
        "format": recording.format_version,
        "logs": recording.log_count,
        "log_bytes": recording.log_bytes,
    }


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


def _since_start(profile: Profile, experiment: int, time_ns: int | None) -> float | None:
    if time_ns is None:
        return None
    return round((time_ns - profile.recordings[experiment].start_ns) / NS_PER_S, 9)


def _accounted(user_ns: int | None, system_ns: int | None) -> dict[str, float] | None:
    if user_ns is None or system_ns is None:
        return None
    return {
        "cpu": (user_ns + system_ns) / NS_PER_S,
        "user": user_ns / NS_PER_S,
        "system": system_ns / NS_PER_S,
    }
