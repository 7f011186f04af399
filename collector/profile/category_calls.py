"""category_calls -- by which calls a program came to what it spent its time on, and from where: MPI_Allreduce in exchange, halo.c:42"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from collector.profile.categories import Categories
from collector.profile.groupings import by_frame
from collector.profile.metrics import Values, add_values, reported_rows
from collector.profile.model import PYTHON_KINDS, Function, Module, Profile
from collector.profile.samples import BASE, OWN, THROUGH, CategoryFilter, StackFilter


@dataclass(frozen=True, slots=True)
class CategoryCallRow:
    """A function of a category that other code called; the caller and the place of the call. `caller` is None at the start of a stack."""

    function: Function
    module: Module
    caller: Function | None
    file: str | None
    line: int | None
    values: Values


class _Path(NamedTuple):
    """Of a node: its category, the frame by which it was come to and that one's caller, and the last frame, and Python frame, that counts; -1 is none."""

    category: int = OWN
    entry: int = -1
    caller: int = -1
    last: int = -1
    python: int = -1


def category_calls(profile: Profile, categories: Categories, category: str) -> list[CategoryCallRow]:
    """The calls by which all time of a category was spent, the one with most time first. CategoryError if there is no such category."""
    roles, mark = categories.roles(profile), categories.number_of(category)
    part = profile.samples.select(None, StackFilter(category=CategoryFilter(roles, mark)))
    tree = part.call_sums(by_frame(profile))
    columns = [[a + b for a, b in zip(*both)] for both in zip(tree.finished, tree.unfinished)]
    paths = [_Path()] * len(tree.parents)
    sums: dict[tuple[int, int, str | None, int | None], Values] = {}
    for node, values in enumerate(reported_rows(profile.metrics, columns)):
        if node:
            paths[node] = _next(profile, paths[tree.parents[node]], tree.groups[node], roles[tree.groups[node]])
        if any(values):
            key = _key(profile, paths[node])
            sums[key] = add_values(sums[key], values) if key in sums else values
    rows = [_row(profile, *key, values) for key, values in sums.items()]
    return sorted(rows, key=lambda row: (-row.values[0], row.function.name, row.line or 0))


def _next(profile: Profile, path: _Path, frame: int, role: int) -> _Path:
    """See `samples.CategoryFilter`."""
    if role == THROUGH:
        return path
    if profile.frames[frame].kind in PYTHON_KINDS:
        path = path._replace(python=frame)
    if role == path.category or not (role == OWN or role & BASE or path.category == OWN or path.category & BASE):
        return path._replace(last=frame)
    is_wrapped = path.python >= 0 and _is_wrapper(profile, path.last)
    return _Path(role, frame, path.python if is_wrapped else path.last, frame, path.python)


def _is_wrapper(profile: Profile, frame: int) -> bool:
    """Whether a caller tells a reader less than the Python function around it: it has no name, or Cython made it."""
    function = profile.functions[profile.frames[frame].function]
    return function.raw_name.startswith(("__pyx_", f"{profile.modules[function.module].name}+0x"))


def _key(profile: Profile, path: _Path) -> tuple[int, int, str | None, int | None]:
    function = profile.frames[path.entry].function if path.entry >= 0 else -1
    if path.caller < 0:
        return function, -1, None, None
    caller = profile.frames[path.caller]
    return function, caller.function, caller.file, caller.line


def _row(profile: Profile, function: int, caller: int, file: str | None, line: int | None, values: Values) -> CategoryCallRow:
    called = profile.functions[function]
    return CategoryCallRow(called, profile.modules[called.module], profile.functions[caller] if caller >= 0 else None, file, line, values)
