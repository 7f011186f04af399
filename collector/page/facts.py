"""facts -- what the page says in words: what ran, its functions, moments, warnings, metrics; rows as short lists, in the order of their names

Times are seconds since the experiment began. Every name is made printable here; that none of them becomes markup is up to the page, which only ever
shows them as text.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from collector.page.cells import Line, others_of
from collector.printable import printable
from collector.profile.aggregate import stack_ends, total_values
from collector.profile.causes import DROP_CAUSES, NOT_SAMPLED, STACK_ENDS, describe_ending
from collector.profile.metric_groups import metric_groups
from collector.profile.metric_series import Value
from collector.profile.metrics import ratios_of
from collector.profile.model import Process, Profile
from collector.profile.process_rows import moment
from collector.profile.samples import sample_count
from collector.profile.warnings import brief_warnings, graded_warnings, stand_ins
from collector.units import NS_PER_S, format_rate

Table = dict[str, list[Any]]
"""Columns by name, all of one length."""


def facts_of(profile: Profile, lines: Sequence[Line], sources: Mapping[str, tuple[str, str]]) -> dict[str, Any]:
    """All of it. `lines` are those of the cells; `sources` are texts of source files, each with a note about it, by their path."""
    files = list(dict.fromkeys(path for path in (*(line[1] for line in lines), *(function.file for function in profile.functions)) if path))
    numbers = {path: number for number, path in enumerate(files)}
    return {
        "recordings": _recordings(profile),
        "processes": _processes(profile),
        "threads": _threads(profile),
        "modules": table(("name", "path", "buildId"), [(module.name, module.path, module.build_id) for module in profile.modules]),
        "functions": table(
            ("name", "shortName", "module", "file", "line"),
            [(one.name, one.short_name, one.module, numbers.get(one.file or "", -1), one.line or 0) for one in profile.functions],
        ),
        "files": [printable(path) for path in files],
        "sources": {str(numbers[path]): [_source_text(text), note] for path, (text, note) in sources.items() if path in numbers},
        "lines": table(
            ("function", "file", "line", "kind"),
            [(function, numbers.get(file or "", -1), line or 0, kind) for function, file, line, kind in lines],
        ),
        "moments": _moments(profile),
        "pauses": table(
            ("process", "cause", "start", "end"),
            [(one.process, one.cause, *(_moment(profile, one.process, time) for time in (one.start_ns, one.end_ns))) for one in profile.pauses],
        ),
        "messages": _messages(profile),
        "brief": [printable(text) for text in [*_shown(profile), *brief_warnings(profile)]],
        "losses": [f"{DROP_CAUSES.get(loss.cause, loss.cause)}: {loss.count:,} in {printable(loss.where)}" for loss in profile.losses],
        "stackEnds": table(("end", "samples"), _stack_ends(profile)),
        "standIns": stand_ins(profile),
        "metrics": _metrics(profile),
        "others": [[metric.name, metric.title, metric.unit] for metric in others_of(profile)],
        "sums": _sums_of_others(profile),
        "ratios": [[place.ratio.name, place.ratio.part, place.ratio.whole, place.ratio.is_share] for place in ratios_of(profile.metrics)],
        "total": dict(zip((metric.name for metric in profile.metrics), total_values(profile))),
        "samples": sample_count(profile.samples.cells()),
    }


def _stack_ends(profile: Profile) -> list[tuple[str, int]]:
    return [(STACK_ENDS.get(row.cause, row.cause), row.sample_count) for row in stack_ends(profile) if row.cause != NOT_SAMPLED]


def _sums_of_others(profile: Profile) -> list[tuple[str, str, str, list[str]]]:
    """Metrics that others add up to, with the names of these: `blocked`, of what is waited for."""
    stored = {metric.parts[0]: metric.name for metric in others_of(profile)}
    sums = (metric for metric in profile.metrics if len(metric.parts) > 1 and stored.keys() >= set(metric.parts))
    return [(metric.name, metric.title, metric.unit, [stored[part] for part in metric.parts]) for metric in sums]


def _recordings(profile: Profile) -> list[dict[str, Any]]:
    return [
        {
            "name": printable(one.name),
            "command": printable(shlex.join(one.command)),
            "directory": printable(one.directory),
            "host": printable(one.host),
            "system": printable(f"{one.kernel} {one.machine}".strip()),
            "processors": one.cpu_count,
            "began": one.wall_ns / NS_PER_S,
            "duration": (one.end_ns - one.start_ns) / NS_PER_S,
            "ending": "" if one.status is None else describe_ending(one.status),
            "accounted": None if one.accounted_ns is None else one.accounted_ns / NS_PER_S,
            "options": printable(" ".join(one.options)),
            "recorder": one.library_version,
        }
        for one in profile.recordings
    ]


def _processes(profile: Profile) -> Table:
    rows = []
    for process, (parent, is_next_image) in zip(profile.processes, _parents(profile.processes)):
        rows.append((
            process.experiment, process.pid, process.image, parent, int(is_next_image),
            process.name, shlex.join(process.arguments),
            moment(profile, process.experiment, process.start_ns),
            None if process.end_ns is None else moment(profile, process.experiment, process.end_ns),
            "" if process.status is None or process.has_execed else describe_ending(process.status), _clock(process), _period(process), process.interpreter,
            process.rank, process.node,
        ))  # fmt: skip
    names = (
        "experiment", "pid", "image", "parent", "isNextImage", "name", "arguments", "start", "end", "ending", "clock", "period", "interpreter",
        "rank", "node",
    )  # fmt: skip
    return table(names, rows)


def _parents(processes: Sequence[Process]) -> list[tuple[int, bool]]:
    """The place of the image before each, if that is the same process, or else of its parent; -1: none. Numbers are used again, so in the order of time."""
    found = [(-1, False)] * len(processes)
    latest: dict[tuple[int, str, int], int] = {}
    for place in sorted(range(len(processes)), key=lambda place: (processes[place].start_ns, processes[place].image)):
        process = processes[place]
        before = latest.get((process.experiment, process.node, process.pid), -1)
        is_next_image = before >= 0 and processes[before].identity == process.identity
        found[place] = before if is_next_image else latest.get((process.experiment, process.node, process.parent_pid), -1), is_next_image
        latest[process.experiment, process.node, process.pid] = place
    return found


def _clock(process: Process) -> str:
    return f"{process.clock.name} at {format_rate(process.clock.period_ns)}" if process.clock else ""


def _period(process: Process) -> float:
    return max(process.clock.period_ns, process.clock.effective_period_ns) / NS_PER_S if process.clock else 0.0


def _threads(profile: Profile) -> Table:
    rows = [
        (
            thread.process, thread.tid, thread.name,
            _moment(profile, thread.process, thread.start_ns), _moment(profile, thread.process, thread.end_ns),
            None if thread.user_ns is None or thread.system_ns is None else (thread.user_ns + thread.system_ns) / NS_PER_S,
            thread.unattributed_ns / NS_PER_S,
        )
        for thread in profile.threads
    ]  # fmt: skip
    return table(("process", "tid", "name", "start", "end", "accounted", "unattributed"), rows)


def _moments(profile: Profile) -> Table:
    """Labelled sample points, and where a process forked or called exec."""
    rows = [
        (-1 if point.process is None else point.process, point.experiment, moment(profile, point.experiment, point.time_ns), point.label)
        for point in profile.points
        if point.label
    ]
    return table(("process", "experiment", "time", "label"), rows)


def _shown(profile: Profile) -> list[str]:
    return [f"Shown is only: {'; '.join(profile.filters)}."] if profile.filters else []


def _messages(profile: Profile) -> list[list[Any]]:
    """Severity (0 to 2) and sentence."""
    notes = {(0, message.text): message.count for message in profile.messages if not message.severity}
    return [[severity, printable(text), count] for (severity, text), count in {**graded_warnings(profile), **notes}.items()]


def _metrics(profile: Profile) -> list[dict[str, Any]]:
    rows = []
    for group in metric_groups(profile):
        for row in group.rows:
            experiment = row.parts[0].series.experiment
            over = row.overview
            rows.append({
                "group": printable(group.title),
                "title": printable(row.metric.title),
                "description": printable(row.metric.description),
                "units": printable(row.metric.units),
                "kind": row.metric.kind,
                "colour": printable(row.metric.colour),
                "parts": len(row.parts),
                "perNode": row.metric.per_node,
                "experiment": experiment,
                "times": [round(moment(profile, experiment, time), 6) for time in over.times_ns],
                "least": [_finite(value) for value in over.least],
                "mean": [_finite(value) for value in over.mean],
                "greatest": [_finite(value) for value in over.greatest],
                "total": [_finite(value) for value in over.total],
            })  # fmt: skip
    return rows


def _finite(value: Value) -> Value:
    return value if value is None or math.isfinite(value) else None


def _moment(profile: Profile, process: int, time_ns: int | None) -> float | None:
    return None if time_ns is None else moment(profile, profile.processes[process].experiment, time_ns)


def table(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Table:
    """Rows as columns by name, with every text printable."""
    return {name: [printable(row[place]) if isinstance(row[place], str) else row[place] for row in rows] for place, name in enumerate(names)}


def _source_text(text: str) -> str:
    return "\n".join(printable(line.expandtabs(4)) for line in text.split("\n"))
