"""firefox -- the processed format of https://profiler.firefox.com: threads with stacks, labels and pauses over time

The format: https://github.com/firefox-devtools/profiler/blob/main/docs-developer/processed-profile-format.md and src/types/profile.ts there, in version
60, the first in which threads share their tables; the page brings older versions up to its own. Times are milliseconds since the experiment
began; a sample weighs its CPU time.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from collector.exports.names import begin_ns, function_names, process_name, thread_name
from collector.exports.sample_table import UNFINISHED, SampleTable, sample_table
from collector.printable import printable
from collector.profile.categories import Categories
from collector.profile.groupings import by_frame
from collector.profile.model import Frame, Pause, Profile
from collector.profile.sample_point import SamplePoint
from collector.profile.samples import BASE, THROUGH
from collector.reading_fields import readings_of
from collector.readings import READINGS

_VERSION = 60
_GECKO_VERSION = 31
_LIBRARY = 1
_INSTANT, _INTERVAL = 0, 1
_NS_PER_MS = 1_000_000
_USUAL_PERIOD_NS = 1_000_000
_NO_FUNCTION = -1
_COLOURS = ("blue", "purple", "green", "orange", "yellow", "lightblue", "brown", "magenta", "red", "lightred")
_FORMATS = {"ns": "duration", "bytes": "bytes", "faults": "integer", "switches": "integer"}
_DISPLAY = ["marker-chart", "marker-table", "timeline-overview"]


def firefox(profile: Profile, categories: Categories) -> Iterator[bytes]:
    """The file, a thread at a time, and last the tables that they share."""
    table = sample_table(profile, by_frame(profile), has_root=True, is_of_cpu=True)
    strings = _Strings()
    threads = _Threads(profile, table, strings)
    yield f'{{"meta":{_json(_meta(profile, categories))},\n"libs":{_json(_libs(profile))},\n"threads":['.encode()
    separator = "\n"
    for thread, places in table.iter_threads():
        yield (separator + _json(threads.thread(thread, places))).encode()
        separator = ",\n"
    yield b'\n],\n"shared":{'
    for name, columns in _iter_shared(profile, table, strings, categories):
        yield f'"{name}":{_json(columns)},\n'.encode()
    yield f'"stringArray":{_json(list(strings.numbers))}}}}}\n'.encode()


class _Strings:
    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        return self.numbers.setdefault(text, len(self.numbers))


def _meta(profile: Profile, categories: Categories) -> dict[str, Any]:
    recordings = sorted(profile.recordings, key=lambda recording: recording.start_ns)
    periods = [process.clock.period_ns for process in profile.processes if process.clock]
    begin = begin_ns(profile)
    return {
        "interval": min(periods, default=_USUAL_PERIOD_NS) / _NS_PER_MS,
        "startTime": recordings[0].wall_ns / _NS_PER_MS if recordings else 0,
        "profilingStartTime": 0,
        "profilingEndTime": _ms(max((recording.end_ns for recording in recordings), default=0), begin),
        "processType": 0,
        "product": ", ".join(printable(recording.name) for recording in recordings),
        "importedFrom": "collector",
        "arguments": "; ".join(printable(" ".join(recording.command)) for recording in recordings),
        "oscpu": printable(f"{recordings[0].kernel} {recordings[0].machine}") if recordings else "",
        "platform": "Linux",
        "logicalCPUs": max((recording.cpu_count for recording in recordings), default=0),
        "stackwalk": 1,
        "debug": False,
        "version": _GECKO_VERSION,
        "preprocessedProfileVersion": _VERSION,
        "symbolicated": True,
        "usesOnlyOneStackType": True,
        "sourceCodeIsNotOnSearchfox": True,
        "categories": _category_list(categories),
        "markerSchema": _schema(),
        "sampleUnits": {"time": "ms", "eventDelay": "ms", "threadCPUDelta": "ns"},
    }


def _schema() -> list[dict[str, Any]]:
    """What markers have to tell: labels what was read of the process, pauses why."""
    why = {"key": "why", "label": "why", "format": "string"}  # a field `cause` means a stack
    readings = [{"key": _key(name), "label": _key(name).replace("_", " "), "format": _FORMATS[_unit(name)]} for name, _, _ in READINGS]
    return [{"name": "label", "display": _DISPLAY, "fields": [why, *readings]}, {"name": "pause", "display": _DISPLAY, "fields": [why]}]


def _key(name: str) -> str:
    return name.removesuffix("_ns")  # they are told in milliseconds


def _unit(name: str) -> str:
    return name.rpartition("_")[2]


def _category_list(categories: Categories) -> list[dict[str, Any]]:
    """Own code, `Other`, and those of the table, at the numbers that roles have. Where a category is as what called it, none is told."""
    names = [name or "Other" for name in categories.names]
    colours = [_COLOURS[0], "grey", *(_COLOURS[1 + place % (len(_COLOURS) - 1)] for place in range(len(names)))]
    return [{"name": printable(name), "color": colour, "subcategories": ["Other"]} for name, colour in zip(names, colours)]


def _libs(profile: Profile) -> list[dict[str, Any]]:
    return [
        {
            "arch": profile.recordings[0].machine if profile.recordings else "",
            "name": printable(module.name),
            "path": printable(module.path),
            "debugName": printable(module.name),
            "debugPath": printable(module.path),
            "breakpadId": breakpad_id(module.build_id),
            "codeId": module.build_id or None,
        }
        for module in profile.modules
    ]


def breakpad_id(build_id: str) -> str:
    """A build id as symbol servers have it: a GUID whose first three fields are little-endian, and an age of 0."""
    data = bytes.fromhex(build_id)[:16].ljust(16, b"\0") if build_id else bytes(16)
    return (data[3::-1] + data[5:3:-1] + data[7:5:-1] + data[8:]).hex().upper() + "0"


class _Threads:
    """What makes the tables of a thread, which refer to the shared ones."""

    def __init__(self, profile: Profile, table: SampleTable, strings: _Strings) -> None:
        self._profile = profile
        self._table = table
        self._strings = strings
        self._begin_ns = begin_ns(profile)
        self._pids = _pids(profile)
        self._points: dict[int | None, list[SamplePoint]] = defaultdict(list)
        for point in profile.points:
            if point.label:
                self._points[point.process].append(point)
        self._pauses: dict[int, list[Pause]] = defaultdict(list)
        for pause in profile.pauses:
            self._pauses[pause.process].append(pause)
        self._marked: set[int] = set()

    def thread(self, number: int, places: range) -> dict[str, Any]:
        """Everything about one thread."""
        profile = self._profile
        thread = profile.threads[number]
        process = profile.processes[thread.process]
        return {
            "name": thread_name(profile, number),
            "processName": process_name(process),
            "processType": "default",
            "isMainThread": thread.tid == process.pid,
            "pid": self._pids[thread.process],
            "tid": thread.tid,
            "processStartupTime": self._ms(process.start_ns),
            "processShutdownTime": None if process.end_ns is None else self._ms(process.end_ns),
            "registerTime": self._ms(thread.start_ns),
            "unregisterTime": None if thread.end_ns is None else self._ms(thread.end_ns),
            "pausedRanges": [
                {"startTime": self._ms(pause.start_ns), "endTime": pause.end_ns and self._ms(pause.end_ns), "reason": "profiler-paused"}
                for pause in self._pauses[thread.process]
            ],
            "showMarkersInTimeline": True,
            "samples": self._samples(places),
            "markers": self._markers(thread.process),
        }

    def _samples(self, places: range) -> dict[str, Any]:
        table = self._table
        return {
            "length": len(places),
            "stack": [table.nodes[place] - 1 for place in places],
            "time": [self._ms(table.times_ns[place]) for place in places],
            "weight": [table.cpu_ns[place] / _NS_PER_MS for place in places],
            "weightType": "tracing-ms",
            "threadCPUDelta": [table.cpu_ns[place] for place in places],
        }

    def _markers(self, process: int) -> dict[str, Any]:
        """Labels and pauses of a process, in its first thread with samples."""
        profile = self._profile
        rows: list[tuple[str, float, float | None, dict[str, Any]]] = []
        if process not in self._marked:
            self._marked.add(process)
            for point in self._points[process]:
                read = zip(READINGS, readings_of(point))
                told = {_key(name): value / _NS_PER_MS if _unit(name) == "ns" else value for (name, _, _), value in read if value is not None}
                rows.append((printable(point.label), self._ms(point.time_ns), None, {"type": "label", "why": point.cause, **told}))
            for pause in self._pauses[process]:
                end_ns = pause.end_ns or profile.recordings[profile.processes[process].experiment].end_ns
                rows.append(("not recorded", self._ms(pause.start_ns), self._ms(end_ns), {"type": "pause", "why": pause.cause}))
        rows.sort(key=lambda row: row[1])
        return {
            "length": len(rows),
            "name": [self._strings.number(name) for name, *_ in rows],
            "startTime": [start for _, start, _, _ in rows],
            "endTime": [end for _, _, end, _ in rows],
            "phase": [_INSTANT if end is None else _INTERVAL for _, _, end, _ in rows],
            "category": [1] * len(rows),
            "data": [data for *_, data in rows],
        }

    def _ms(self, time_ns: int) -> float:
        return _ms(time_ns, self._begin_ns)


def _iter_shared(profile: Profile, table: SampleTable, strings: _Strings, categories: Categories) -> Iterator[tuple[str, dict[str, Any]]]:
    """The tables that threads share, and their columns. The frame without a function is that of stacks without a start."""
    nodes = range(1, len(table.parents))
    frames = _numbered(table.groups[node] for node in nodes)
    known = [profile.frames[frame] if frame < len(profile.frames) else Frame(_NO_FUNCTION, address=-1) for frame in frames]
    functions = _numbered(frame.function for frame in known)
    modules = _numbered(profile.functions[function].module for function in functions if function != _NO_FUNCTION)
    parents = (table.parents[node] for node in nodes)
    yield "stackTable", {
        "length": len(nodes),
        "prefix": [parent - 1 if parent else None for parent in parents],
        "frame": [frames[table.groups[node]] for node in nodes],
    }
    roles, depths = categories.roles(profile) + bytes((THROUGH,)), _inline_depths(profile, table)
    yield "frameTable", {
        "length": len(frames),
        "address": [frame.address if frame.code < 0 else -1 for frame in known],
        "inlineDepth": [depths.get(frame, 0) for frame in frames],
        "category": [None if roles[frame] == THROUGH else roles[frame] & ~BASE for frame in frames],
        "subcategory": [None if roles[frame] == THROUGH else 0 for frame in frames],
        "func": [functions[frame.function] for frame in known],
        "nativeSymbol": [None] * len(frames),
        "innerWindowID": [None] * len(frames),
        "line": [frame.line for frame in known],
        "column": [None] * len(frames),
    }
    names, sources = function_names(profile), _Strings()
    called = [profile.functions[function] if function != _NO_FUNCTION else None for function in functions]
    yield "funcTable", {
        "length": len(functions),
        "name": [strings.number(names[function] if function != _NO_FUNCTION else UNFINISHED) for function in functions],
        "isJS": [False] * len(functions),
        "relevantForJS": [False] * len(functions),
        "resource": [modules[function.module] if function else -1 for function in called],
        "source": [sources.number(printable(function.file)) if function and function.file else None for function in called],
        "lineNumber": [function.line if function else None for function in called],
        "columnNumber": [None] * len(functions),
    }
    yield "resourceTable", {
        "length": len(modules),
        "lib": list(modules),
        "name": [strings.number(printable(profile.modules[module].name)) for module in modules],
        "host": [None] * len(modules),
        "type": [_LIBRARY] * len(modules),
    }
    yield "nativeSymbols", {"length": 0, "libIndex": [], "address": [], "name": [], "functionSize": []}
    files = [strings.number(file) for file in sources.numbers]
    yield "sources", {"length": len(files), "uuid": [None] * len(files), "filename": files}


def _pids(profile: Profile) -> list[str]:
    """The number of each process; where images or experiments share one, all but the first have their own behind a point."""
    seen: dict[int, int] = {}
    found = []
    for process in profile.processes:
        before = seen[process.pid] = seen.get(process.pid, -1) + 1
        found.append(f"{process.pid}.{before}" if before else str(process.pid))
    return found


def _inline_depths(profile: Profile, table: SampleTable) -> dict[int, int]:
    """How many calls an inlined frame is away from the function that its code is in."""
    depths: dict[int, int] = {}
    for node in range(1, len(table.parents)):
        group = table.groups[node]
        if group < len(profile.frames) and profile.frames[group].kind == "inlined":
            depths[group] = depths.get(table.groups[table.parents[node]], 0) + 1
    return depths


def _numbered(keys: Iterable[int]) -> dict[int, int]:
    return {key: place for place, key in enumerate(dict.fromkeys(keys))}


def _ms(time_ns: int, begin_ns: int) -> float:
    return (time_ns - begin_ns) / _NS_PER_MS


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))
