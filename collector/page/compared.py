"""compared -- a comparison as the page has it: its answer, its rows, and the call tree of both sides; all judged here, so that the page only shows it"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from collector.page.facts import Table, table
from collector.page.packing import pack
from collector.printable import printable
from collector.profile.change import Change
from collector.profile.compared_run import Key, Run, function_key, function_run, in_shares
from collector.profile.compared_tree import ComparedNode, RunTree, compared_tree, renamed_functions, run_tree
from collector.profile.comparison import compare
from collector.profile.findings import answer, notes, rules
from collector.profile.model import Profile
from collector.units import plural

VERDICTS: Final = ("none", "slower", "faster", "new", "gone", "too few")
_FIGURES: Final = (
    "before", "after", "before_samples", "after_samples", "difference", "difference_low", "difference_high", "ratio", "ratio_low", "ratio_high",
    "rest_ratio", "rest_low", "rest_high", "p",
)  # fmt: skip
_PARTS: Final = 1 << 30
"""The steps that the largest time of a tree is divided into."""


class ComparedRun(NamedTuple):
    """A run by functions, and its calls."""

    run: Run
    tree: RunTree


@dataclass(frozen=True, slots=True)
class ComparedSide:
    """The runs of one side, and the functions of all of them as one profile, as `function_keys` gives them."""

    runs: tuple[ComparedRun, ...]
    keys: tuple[Key, ...]


def compared_run(profile: Profile) -> ComparedRun:
    """What a comparison needs of one run."""
    return ComparedRun(function_run(profile), run_tree(profile))


def function_keys(profile: Profile) -> tuple[Key, ...]:
    """What each function is known by on both sides."""
    return tuple(function_key(function, profile.modules[function.module]) for function in profile.functions)


def compared_data(before: ComparedSide, after: ComparedSide) -> str:
    """All of it, packed."""
    old, new = ([one.tree for one in side.runs] for side in (before, after))
    comparison = compare([one.run for one in before.runs], [one.run for one in after.runs])
    by_share = compare([in_shares(one.run) for one in before.runs], [in_shares(one.run) for one in after.runs])
    shares = {row.key: row.change for row in by_share.rows}
    renamed = renamed_functions(old, new, comparison.renamed)
    nodes = compared_tree(old, new, renamed, comparison.total)
    places = {key: place for tree in old for key, place in tree.places.items()}
    places |= {renamed.get(key, key): place for tree in new for key, place in tree.places.items()}
    places |= {row.key: (row.place.function, row.place.module) for row in comparison.rows}
    keys = [row.key for row in comparison.rows]
    keys += dict.fromkeys(node.key for node in nodes if node.key in places and node.key not in shares)
    numbers = {key: number for number, key in enumerate(keys)}
    document = {
        "sides": [_side(comparison.before), _side(comparison.after)],
        "answer": printable(answer(comparison)),
        "notes": [printable(note) for note in notes(comparison)],
        "rules": rules(comparison),
        "total": {name: values[0] for name, values in _figures([comparison.total]).items()},
        "functions": table(
            ("name", "shortName", "module", "file", "line"),
            [(function.name, function.short_name, module.name, function.file or "", function.line or 0) for function, module in map(places.__getitem__, keys)],
        ),
        "time": _figures([row.change for row in comparison.rows]),
        "share": _figures([shares[row.key] for row in comparison.rows]),
        "units": _units(nodes),
    }
    columns = {
        "parents": [number - node.parent for number, node in enumerate(nodes)],
        "functions": [numbers.get(node.key, -1) + 1 for node in nodes],
        "before.functions": _numbers_of(before.keys, numbers, {}),
        "after.functions": _numbers_of(after.keys, numbers, renamed),
        **_tree_columns(nodes),
    }
    return pack(document, columns)


def _side(runs: Sequence[Run]) -> dict[str, Any]:
    commands = dict.fromkeys(printable(shlex.join(run.command)) for run in runs)
    return {"title": plural(len(runs), "run"), "commands": list(commands), "names": [printable(run.name) for run in runs]}


def _numbers_of(functions: Sequence[Key], numbers: Mapping[Key, int], renamed: Mapping[Key, Key]) -> list[int]:
    """By function of a profile, its number in the comparison and one more, or 0."""
    return [numbers.get(renamed.get(key, key), -1) + 1 for key in functions]


def _verdict(change: Change) -> str:
    return "too few" if change.p is None else change.verdict


def _figures(changes: Sequence[Change]) -> Table:
    """Columns of figures without more digits than times have, as `collector compare --json` gives them; `p` may be very small."""
    columns: Table = {}
    for name in _FIGURES:
        values = [getattr(change, name) for change in changes]
        columns[name] = [round(value, 9) if isinstance(value, float) and name != "p" else value for value in values]
    return {**columns, "verdict": [_verdict(change) for change in changes]}


def _changes(node: ComparedNode) -> dict[str, Change]:
    return {
        "time.exclusive": node.exclusive, "time.inclusive": node.inclusive,
        "share.exclusive": node.exclusive_share, "share.inclusive": node.inclusive_share,
    }  # fmt: skip


def _units(nodes: Sequence[ComparedNode]) -> dict[str, float]:
    """What the numbers of the tree count, in seconds and in parts of the total."""
    whole = max([1e-6, *(value for node in nodes for value in (node.inclusive.before, node.inclusive.after, _error(node.inclusive)))])
    return {"time": whole / _PARTS, "share": 4 / _PARTS}


def _error(change: Change) -> float:
    return 0.0 if change.difference_high is None else change.difference_high - change.difference


def _tree_columns(nodes: Sequence[ComparedNode]) -> dict[str, list[int]]:
    units = _units(nodes)
    columns: dict[str, list[int]] = {}
    for node in nodes:
        for name, change in _changes(node).items():
            unit = units[name.partition(".")[0]]
            for figure, value in (("before", change.before), ("after", change.after), ("error", _error(change))):
                columns.setdefault(f"{name}.{figure}", []).append(min(round(value / unit), 0xFFFFFFFF))
            columns.setdefault(f"{name}.verdict", []).append(VERDICTS.index(_verdict(change)))
        for kind, change in (("exclusive", node.exclusive), ("inclusive", node.inclusive)):
            columns.setdefault(f"{kind}.samples", []).append(change.before_samples + change.after_samples)
    return columns
