"""merge -- several profiles as one, as if their experiments had been loaded together

Modules, functions and places in the code that are the same become one; recordings, processes and threads stand one behind the other. Only sums are
added, so the profiles may have come from files.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from collector.profile.groupings import by_function, by_line, by_module, by_source_line
from collector.profile.kept_samples import KeptSamples, ask_all, merged_addresses, read_answers
from collector.profile.lock import HELD, held_cells
from collector.profile.metrics import SAMPLES, Value, in_base_order, metrics_of, ordered_values, values_of
from collector.profile.model import Frame, Function, Message, Module, Profile, Recording
from collector.profile.samples import NOTHING, CallSums, Cells, Columns, EdgeSums, Grouping, GroupSums

Numbers = Sequence[int]
"""By a number in one of the profiles, the number in the one that they become."""


@dataclass(frozen=True, slots=True)
class _Part:
    """One of the profiles, and where its tables went."""

    profile: Profile
    modules: Numbers
    functions: Numbers
    frames: tuple[Frame, ...]
    places: dict[str, Numbers]


@dataclass(slots=True)
class _Tables:
    """What modules, functions, frames of all profiles become."""

    modules: dict[Module, int] = field(default_factory=dict)
    functions: dict[tuple[str, str, int, str | None], int] = field(default_factory=dict)
    function_rows: list[Function] = field(default_factory=list)
    recordings: list[Recording] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("processes", "threads", "codes"), 0))

    def add(self, profile: Profile, of_same: bool) -> _Part:
        modules = [self.modules.setdefault(module, len(self.modules)) for module in profile.modules]
        functions = [self._number(function, modules[function.module]) for function in profile.functions]
        codes = self.counts["codes"]
        frames = tuple(
            Frame(functions[function], file, line, 0, kind, code + codes if code >= 0 else -1)
            for function, file, line, _, kind, code in merged_addresses(profile.frames)
        )
        places: dict[str, Numbers] = {"recordings": [self._place(recording, of_same) for recording in profile.recordings]}
        for name in ("processes", "threads"):
            first = self.counts[name]
            self.counts[name] += len(getattr(profile, name))
            places[name] = range(first, self.counts[name])
        self.counts["codes"] += max([len(profile.codes), *(frame.code + 1 for frame in profile.frames)])
        return _Part(profile, modules, functions, frames, places)

    def _place(self, recording: Recording, of_same: bool) -> int:
        if not of_same or recording not in self.recordings:
            self.recordings.append(recording)
            return len(self.recordings) - 1
        return self.recordings.index(recording)

    def _number(self, function: Function, module: int) -> int:
        if function.module != module:
            function = function._replace(module=module)
        number = self.functions.setdefault(function.identity, len(self.functions))
        if number == len(self.function_rows):
            self.function_rows.append(function)
        return number


def merge(profiles: Sequence[Profile], *, of_same: bool = False) -> Profile:
    """One profile of several; of a metric that some do not have, these have nothing. ValueError if there is none.

    `of_same`: recordings that are equal are one, of which the profiles have different processes.
    """
    if not profiles:
        raise ValueError("there are no profiles to be merged")
    tables = _Tables()
    values = ordered_values([value for profile in profiles for value in values_of(profile.metrics)])
    parts = [tables.add(_measured(profile, values), of_same) for profile in profiles]
    samples = KeptSamples({})
    merged = Profile(
        recordings=tuple(tables.recordings),
        modules=tuple(tables.modules),
        functions=tuple(tables.function_rows),
        frames=tuple(dict.fromkeys(frame for part in parts for frame in part.frames)),
        processes=_moved(parts, "processes", experiment="recordings"),
        threads=_moved(parts, "threads", process="processes"),
        samples=samples,
        points=_moved(parts, "points", experiment="recordings", process="processes"),
        losses=_moved(parts, "losses", experiment="recordings"),
        messages=_once(_moved(parts, "messages", experiment="recordings")),
        pauses=_moved(parts, "pauses", process="processes"),
        codes=tuple(code for part in parts for code in part.profile.codes),
        unrecorded=_moved(parts, "unrecorded", experiment="recordings"),
        digests=tuple(dict.fromkeys(row for part in parts for row in part.profile.digests)),
        series=_moved(parts, "series", experiment="recordings", process="processes"),
        metrics=metrics_of(values),
    )
    samples.answers["cells", "cells"] = _merge_cells([(part.profile.samples.cells(), part.places["threads"]) for part in parts])
    held = [(cells, part.places["threads"]) for part in parts if (cells := held_cells(part.profile)) is not None]
    if held:
        samples.answers["cells", HELD] = _merge_cells(held)
    _merge_groups(samples, parts, merged)
    samples.answers["call_sums", "functions"] = _merge_calls(parts)
    samples.answers["edge_sums", "functions"] = _merge_edges(parts, len(merged.functions))
    return merged


def _measured(profile: Profile, values: Sequence[Value]) -> Profile:
    """The profile with a column for each of these values."""
    metrics = metrics_of(values)
    if profile.metrics == metrics:
        return profile
    known = {value: position for position, value in enumerate(values_of(profile.metrics))}
    places = in_base_order([*map(known.get, values), len(known)])
    kept = KeptSamples({}, profile.samples)
    ask_all(profile._replace(samples=kept))
    answers = {question: _spread(answer, places) for question, answer in read_answers(profile._replace(samples=kept)).items()}
    return profile._replace(samples=KeptSamples(answers), metrics=metrics)


def _spread(answer: Any, places: Sequence[int | None]) -> Any:
    """An answer with its columns at new places, and zeros in those that it does not have."""
    fields = answer._asdict()
    return answer._replace(**{name: _placed(field, places) for name, field in fields.items() if _is_columns(field)})


def _is_columns(field: Any) -> bool:
    """Whether these are columns of values, and not one column of numbers or texts."""
    return isinstance(field, tuple) and bool(field) and not isinstance(field[0], (int, str))


def _placed(columns: Columns, places: Sequence[int | None]) -> Columns:
    stored = [*columns[:SAMPLES], *columns[SAMPLES + 1 :], columns[SAMPLES]]
    return tuple(array("d", bytes(8 * len(columns[0]))) if place is None else stored[place] for place in places)


def _moved(parts: Iterable[_Part], table: str, **fields: str) -> tuple[Any, ...]:
    """The rows of a table of all parts; `fields` are positions in another table."""
    rows = []
    for part in parts:
        for row in getattr(part.profile, table):
            places = {name: getattr(row, name) for name in fields}
            rows.append(row._replace(**{name: None if place is None else part.places[fields[name]][place] for name, place in places.items()}))
    return tuple(rows)


def _once(messages: Iterable[Message]) -> tuple[Message, ...]:
    """What is said of a file, and not of a moment, is said once, and a hint once for each experiment."""
    known: dict[object, Message] = {}
    for message in messages:
        key: object = message
        if message.time_ns is None:
            key = message.severity, message.text, message.subject
        elif message.is_hint:
            key = message.experiment, message.text, message.subject
        known.setdefault(key, message)
    return tuple(known.values())


def _merge_cells(cells: Sequence[tuple[Cells, Numbers]]) -> Cells:
    """Each with the positions of its threads."""
    return Cells(
        [places[thread] for each, places in cells for thread in each.threads],
        [end for each, _ in cells for end in each.ends],
        [count for each, _ in cells for count in each.counts],
        tuple([value for each, _ in cells for value in each.values[base]] for base in range(len(cells[0][0].values))),
    )


def _merge_groups(samples: KeptSamples, parts: Sequence[_Part], merged: Profile) -> None:
    def merge_by(name: str, count: int, grouping_of: Callable[[_Part], tuple[Grouping, Numbers]]) -> None:
        pairs = [(part.profile.samples.sum_groups(grouping), numbers) for part in parts for grouping, numbers in (grouping_of(part),)]
        exclusive = _added([(sums.exclusive, numbers) for sums, numbers in pairs], count)
        samples.answers["sum_groups", name] = GroupSums(exclusive, _added([(sums.inclusive, numbers) for sums, numbers in pairs], count))

    lines = {key: number for number, key in enumerate(by_line(merged)[1])}
    source_lines = {key: number for number, key in enumerate(by_source_line(merged)[1])}

    def find_lines(part: _Part) -> tuple[Grouping, Numbers]:
        grouping, keys = by_line(part.profile)
        return grouping, [lines[file, line, part.functions[function]] for file, line, function in keys]

    def find_source_lines(part: _Part) -> tuple[Grouping, Numbers]:
        grouping, keys = by_source_line(part.profile)
        return grouping, [source_lines[key] for key in keys]

    merge_by("functions", len(merged.functions), lambda part: (by_function(part.profile), part.functions))
    merge_by("modules", len(merged.modules), lambda part: (by_module(part.profile), part.modules))
    merge_by("lines", len(lines), find_lines)
    merge_by("source lines", len(source_lines), find_source_lines)


def _merge_calls(parts: Sequence[_Part]) -> CallSums:
    nodes: dict[tuple[int, int], int] = {(NOTHING, NOTHING): 0}
    pairs: list[tuple[CallSums, list[int]]] = []
    for part in parts:
        sums = part.profile.samples.call_sums(by_function(part.profile))
        numbers = [0]
        for parent, function in zip(sums.parents[1:], sums.groups[1:]):
            numbers.append(nodes.setdefault((numbers[parent], part.functions[function]), len(nodes)))
        pairs.append((sums, numbers))

    def added(name: str) -> Columns:
        return _added([(getattr(sums, name), numbers) for sums, numbers in pairs], len(nodes))

    parents, functions = array("I", [parent for parent, _ in nodes]), array("I", [function for _, function in nodes])
    return CallSums(parents, functions, added("finished"), added("unfinished"), added("finished_inclusive"), added("unfinished_inclusive"))


def _merge_edges(parts: Sequence[_Part], function_count: int) -> EdgeSums:
    edges: dict[tuple[int, int], int] = {}
    pairs: list[tuple[EdgeSums, list[int]]] = []
    exclusive = []
    for part in parts:
        sums = part.profile.samples.edge_sums(by_function(part.profile))
        callers = [*part.functions, function_count]
        numbers = [
            edges.setdefault((callers[caller], part.functions[callee]), len(edges)) for caller, callee in zip(sums.callers, sums.callees)
        ]
        pairs.append((sums, numbers))
        exclusive.append((sums.exclusive, part.functions))
    return EdgeSums(
        array("I", [caller for caller, _ in edges]),
        array("I", [callee for _, callee in edges]),
        _added([(sums.outermost, numbers) for sums, numbers in pairs], len(edges)),
        _added([(sums.innermost, numbers) for sums, numbers in pairs], len(edges)),
        _added(exclusive, function_count),
    )


def _added(pairs: Sequence[tuple[Columns, Numbers]], count: int) -> Columns:
    """The sums of all, by their new numbers."""
    added = tuple(array("d", bytes(8 * count)) for _ in pairs[0][0])
    for columns, numbers in pairs:
        for into, column in zip(added, columns):
            for number, value in zip(numbers, column):
                if value:
                    into[number] += value
    return added
