"""grouped -- rows of a view by what they belong to: module and file of the code; thread, process, label and category of the samples

A function or line belongs to one module and one file. A sample belongs to one thread, process, phase and category: each of those has a table
of its own, in which a function may come up again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Generic, TypeVar

from collector.profile import aggregate, over_ranks
from collector.profile.categories import Categories
from collector.profile.filters import spans_of
from collector.profile.groupings import numbered
from collector.profile.metrics import Values, add_values, reported_rows, reported_values
from collector.profile.model import Profile
from collector.profile.phases import phase_spans
from collector.profile.samples import EVERY_STACK, CategoryFilter, Grouping, Span, Spans, StackFilter
from collector.profile.views import GROUP_KEYS, TABLE_VIEWS

Row = aggregate.FunctionRow | aggregate.LineRow
R = TypeVar("R", bound=Row, covariant=True)

NO_FILE: Final = "(no source known)"


@dataclass(frozen=True, slots=True)
class Group:
    """What belongs together, and its time. Of threads, processes and phases both figures are the same."""

    title: str
    exclusive: Values
    inclusive: Values


@dataclass(frozen=True, slots=True)
class GroupedRows(Generic[R]):
    """A group and its rows of a view."""

    group: Group
    rows: Sequence[R]


def groups(profile: Profile, by: str, categories: Categories, sort: str | None = None) -> list[Group]:
    """All groups with time, by `sort`, else the one with most exclusive time first; phases in the order of time."""
    found = _code_groups(profile, by) if by in _OF_CODE else [group for group, _ in _PARTS[by](profile, categories)]
    return sorted(found, key=GROUP_KEYS[sort]) if sort else found


def grouped_rows(
    profile: Profile, by: str, view: str, categories: Categories, threshold: float = 0.0, sort: str | None = None
) -> tuple[list[GroupedRows[Row]], list[Group]]:
    """The rows of `functions` or `lines` group by group, of groups that have at least `threshold` (0 to 1) of the whole; and the other groups.

    `sort` is a column of the view; groups have its order too where it is one of theirs.
    """
    shown, hidden = _grouped_rows(profile, by, view, categories, threshold)
    if sort:
        shown = [replace(one, rows=sorted(one.rows, key=TABLE_VIEWS[view].sort_keys[sort])) for one in shown]
    if sort and sort in GROUP_KEYS:
        shown.sort(key=lambda one: GROUP_KEYS[sort](one.group))
    return shown, hidden


def _grouped_rows(profile: Profile, by: str, view: str, categories: Categories, threshold: float) -> tuple[list[GroupedRows[Row]], list[Group]]:
    least = threshold * aggregate.total_values(profile)[0]
    rows_of = _ROWS[view]
    if by not in _OF_CODE:
        parts = _PARTS[by](profile, categories)
        shown = [GroupedRows(group, rows_of(part())) for group, part in parts if group.exclusive[0] >= least]
        return shown, [group for group, _ in parts if group.exclusive[0] < least]
    belonging: dict[str, list[Row]] = {}
    for row in rows_of(profile):
        file = row.file if isinstance(row, aggregate.LineRow) else row.function.file
        belonging.setdefault(row.module.name if by == "module" else file or NO_FILE, []).append(row)
    found = _code_groups(profile, by, of_lines=view == "lines")
    shown = [GroupedRows(group, belonging.get(group.title, [])) for group in found if group.exclusive[0] >= least]
    return shown, [group for group in found if group.exclusive[0] < least]


_OF_CODE = ("module", "file")
_ROWS: dict[str, Callable[[Profile], Sequence[Row]]] = {"functions": aggregate.functions, "lines": aggregate.lines}

Part = Callable[[], Profile]
"""Makes the samples of a group."""


def _code_groups(profile: Profile, by: str, of_lines: bool = False) -> list[Group]:
    """The modules, or the files in which functions are defined, or lines are."""
    functions = profile.functions
    if by == "module":
        return _by_key(profile, [profile.modules[functions[frame.function].module].name for frame in profile.frames])
    return _by_key(profile, [(frame.file if of_lines else functions[frame.function].file) or NO_FILE for frame in profile.frames])


def _by_key(profile: Profile, keys: Iterable[str]) -> list[Group]:
    """Groups of frames that have a key in common."""
    numbers, names = numbered(keys)
    sums = profile.samples.sum_groups(Grouping("", len(names), lambda: numbers))
    rows = zip(names, reported_rows(profile.metrics, sums.exclusive), reported_rows(profile.metrics, sums.inclusive))
    return _largest_first([Group(title, exclusive, inclusive) for title, exclusive, inclusive in rows if any(inclusive)])


def _largest_first(found: list[Group]) -> list[Group]:
    return sorted(found, key=lambda group: (-group.exclusive[0], -group.inclusive[0], group.title))


def _part(profile: Profile, spans: Spans | None, stacks: StackFilter = EVERY_STACK) -> Profile:
    return profile._replace(samples=profile.samples.select(spans, stacks))


def _threads(profile: Profile, _: Categories) -> list[tuple[Group, Part]]:
    position = {id(thread): index for index, thread in enumerate(profile.threads)}
    has_several = len(profile.processes) > 1
    found: list[tuple[Group, Part]] = []
    for row in aggregate.threads(profile):
        if any(row.values):
            title = f"{row.thread.name or 'thread'} {row.thread.tid}" + (f" of {_process_title(profile, row.thread.process)}" if has_several else "")
            part = partial(_part, profile, spans_of(profile, {position[id(row.thread)]}))
            found.append((Group(title, row.values, row.values), part))
    return found


def _processes(profile: Profile, _: Categories) -> list[tuple[Group, Part]]:
    position = {id(process): index for index, process in enumerate(profile.processes)}
    found: list[tuple[Group, Part]] = []
    for row in sorted(aggregate.processes(profile), key=lambda row: -row.values[0]):
        if any(row.values):
            process = position[id(row.process)]
            threads = {index for index, thread in enumerate(profile.threads) if thread.process == process}
            part = partial(_part, profile, spans_of(profile, threads))
            found.append((Group(_process_title(profile, process), row.values, row.values), part))
    return found


def _members(profile: Profile, _: Categories, by: str) -> list[tuple[Group, Part]]:
    found: list[tuple[Group, Part]] = []
    listed = over_ranks.members(profile, by)
    for member, values in zip(listed, over_ranks.totals(profile, listed)):
        found.append((Group(str(member.key), values, values), partial(over_ranks.part_of, profile, member)))
    return found


def _process_title(profile: Profile, process: int) -> str:
    known = profile.processes[process]
    recording = f" in {profile.recordings[known.experiment].name}" if len(profile.recordings) > 1 else ""
    rank = "" if known.rank is None else f" of rank {known.rank}"
    return f"{known.name or 'process'} {known.pid}{rank}{recording}"


def _phases(profile: Profile, _: Categories) -> list[tuple[Group, Part]]:
    titles, spans = phase_spans(profile)
    cells = profile.samples.phase_cells(spans)
    sums: dict[int, Values] = {}
    for phase, values in zip(cells.phases, zip(*cells.values)):
        sums[phase] = add_values(sums[phase], values) if phase in sums else values
    found: list[tuple[Group, Part]] = []
    for phase, title in enumerate(titles):
        if phase in sums:
            values = reported_values(profile.metrics, sums[phase])
            found.append((Group(title, values, values), partial(_part, profile, _only(spans, phase))))
    return found


def _only(spans: Spans, phase: int) -> Spans:
    distinct: dict[int, list[Span]] = {id(own): [span for span in own if span.phase == phase] for own in spans}
    return [distinct[id(own)] for own in spans]


def _categories(profile: Profile, categories: Categories) -> list[tuple[Group, Part]]:
    roles, names = categories.roles(profile), categories.names
    marks = [categories.number_of(name) for name in names if name]
    number_of = {mark: number for number, mark in enumerate(marks)}
    groups_of_frames = [number_of.get(role, len(marks)) for role in roles]
    sums = profile.samples.sum_groups(Grouping("", len(marks) + 1, lambda: groups_of_frames))
    inclusive: Sequence[Values] = reported_rows(profile.metrics, sums.inclusive)
    found: list[tuple[Group, Part]] = []
    for mark, title in zip(marks, filter(None, names)):
        part = _part(profile, None, StackFilter(category=CategoryFilter(roles, mark)))
        exclusive = aggregate.total_values(part)
        if any(exclusive) or any(inclusive[number_of[mark]]):
            found.append((Group(title, exclusive, inclusive[number_of[mark]]), partial(_part, part, None)))
    return sorted(found, key=lambda pair: (-pair[0].exclusive[0], pair[0].title))


_PARTS: dict[str, Callable[[Profile, Categories], list[tuple[Group, Part]]]] = {
    "thread": _threads,
    "process": _processes,
    "label": _phases,
    "category": _categories,
    "rank": partial(_members, by=over_ranks.RANK),
    "node": partial(_members, by=over_ranks.NODE),
}
