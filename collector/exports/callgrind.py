"""callgrind -- the costs of functions, lines and calls as of valgrind's tool, for KCachegrind, QCachegrind and callgrind_annotate

The format: https://valgrind.org/docs/manual/cl-format.html. A call costs what passed in the outermost call of its callee: so those that lead to
a function add up to its inclusive time, whatever recursion there is. Everything is called by a function `(all)`.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import repeat

from collector.exports.names import function_names
from collector.exports.sample_table import UNFINISHED, MetricColumn, SampleTable, sample_table
from collector.printable import printable
from collector.profile.groupings import by_line
from collector.profile.metrics import CPU_METRICS
from collector.profile.model import Profile

_UNKNOWN = "???"
_ALL = "(all)"

Costs = list[int]
"""One figure for each of the events, and how many samples they are of."""

_Place = tuple[str, int]
"""Source file and line; 0 is no line."""


@dataclass
class _Function:
    own: dict[_Place, Costs] = field(default_factory=dict)
    calls: dict[tuple[_Place, int, int], Costs] = field(default_factory=dict)


def callgrind(profile: Profile) -> Iterator[bytes]:
    """The file: time in nanoseconds, exclusive by line, inclusive by call. How often a call was made nobody knows: it is as many as its samples."""
    grouping, lines = by_line(profile)
    table = sample_table(profile, grouping, has_root=True)
    unfinished = len(profile.functions)
    names = _Names(profile, [file for file, _, _ in lines], [function for _, _, function in lines])
    places = [(printable(file or "") or names.files[function], line or 0) for file, line, function in lines] + [(_UNKNOWN, 0)]
    columns = [*map(MetricColumn, CPU_METRICS, (table.cpu_ns, table.user_ns, table.system_ns, table.counts)), *table.others]
    functions = _functions(table, columns, [*(function for _, _, function in lines), unfinished], places, unfinished + 1)
    yield b"# callgrind format\nversion: 1\ncreator: collector\n"
    for recording in profile.recordings:
        yield f"cmd: {printable(' '.join(recording.command))}\n".encode()
    yield f"positions: line\nevents: {' '.join([column.metric.name for column in columns])}\n".encode()
    yield "".join(f"event: {column.metric.name} : {_meaning(column)}\n" for column in columns).encode()
    yield f"summary: {_joined([sum(column.values) for column in columns])}\n".encode()
    for number in sorted(functions):
        yield "".join(_iter_function(names, number, functions[number])).encode()


class _Names:
    """The names in the file: each is written whole the first time, and then as a number."""

    def __init__(self, profile: Profile, files: Sequence[str | None], functions: Sequence[int]) -> None:
        self._modules = [function.module for function in profile.functions] + [len(profile.modules)] * 2
        self._paths = [*(printable(module.path or module.name) for module in profile.modules), _UNKNOWN]
        self.files = [printable(function.file or "") for function in profile.functions] + [_UNKNOWN] * 2
        for file, function in zip(files, functions):
            self.files[function] = self.files[function] or printable(file or "") or _UNKNOWN
        self._names = [*function_names(profile), UNFINISHED, _ALL]
        self._known: dict[tuple[str, str | int], int] = {}

    def position(self, function: int, called: str = "") -> str:
        """Where a function is, and what it is called."""
        module = self._modules[function]
        key = "cfi" if called else "fl"
        return (
            f"{called}ob={self._short('ob', module, self._paths[module])}\n{key}={self.file(self.files[function])}\n"
            f"{called}fn={self._short('fn', function, self._names[function])}\n"
        )

    def file(self, path: str) -> str:
        """A source file."""
        return self._short("fl", path, path)

    def _short(self, kind: str, key: str | int, text: str) -> str:
        number = self._known.get((kind, key))
        if number is not None:
            return f"({number})"
        number = self._known[kind, key] = len(self._known) + 1
        return f"({number}) {text}"


def _iter_function(names: _Names, number: int, function: _Function) -> Iterator[str]:
    yield "\n" + names.position(number)
    file = names.files[number]
    rows = [(place, -1, 0, costs) for place, costs in function.own.items()]
    rows += [(place, callee, line, costs) for (place, callee, line), costs in function.calls.items()]
    for place, callee, line, costs in sorted(rows):
        if place[0] != file:
            file = place[0]
            yield f"fi={names.file(file)}\n"
        if callee >= 0:
            yield f"{names.position(callee, 'c')}calls={costs[-1]} {line}\n"
        yield f"{place[1]} {_joined(costs[:-1])}\n"


def _functions(
    table: SampleTable, events: Sequence[MetricColumn], functions: Sequence[int], places: Sequence[_Place], everything: int
) -> dict[int, _Function]:
    """The costs of each function that has any, and behind them how many samples of any kind.

    `functions` and `places` are those of the groups, `everything` calls those that nobody calls.
    """
    own = [array("q", bytes(8 * len(table.parents))) for _ in range(len(events) + 1)]
    for column, values in zip(own, (*(event.values for event in events), repeat(1))):
        for node, value in zip(table.nodes, values):
            column[node] += value
    inclusive = [array("q", column) for column in own]
    for column in inclusive:
        for node in range(len(column) - 1, 0, -1):
            column[table.parents[node]] += column[node]
    found: dict[int, _Function] = defaultdict(_Function)
    for node in _iter_outermost(table, functions):
        group, parent = table.groups[node], table.parents[node]
        caller, place = (functions[table.groups[parent]], places[table.groups[parent]]) if parent else (everything, (_UNKNOWN, 0))
        if inclusive[-1][node]:
            _add(found[caller].calls.setdefault((place, functions[group], places[group][1]), [0] * len(own)), inclusive, node)
    for node in range(1, len(table.parents)):
        if own[-1][node]:
            group = table.groups[node]
            _add(found[functions[group]].own.setdefault(places[group], [0] * len(own)), own, node)
    return found


def _iter_outermost(table: SampleTable, functions: Sequence[int]) -> Iterator[int]:
    """Each node whose function is not on its path before."""
    first_callee, next_one = (array("I", bytes(4 * len(table.parents))) for _ in range(2))
    for node in range(len(table.parents) - 1, 0, -1):
        parent = table.parents[node]
        next_one[node], first_callee[parent] = first_callee[parent], node
    path: list[int] = []
    on_path = [0] * (max(functions) + 1)
    node = first_callee[0]
    while node:
        function = functions[table.groups[node]]
        if not on_path[function]:
            yield node
        on_path[function] += 1
        path.append(node)
        node = first_callee[node]
        while path and not node:
            gone = path.pop()
            on_path[functions[table.groups[gone]]] -= 1
            node = next_one[gone]


def _add(into: Costs, columns: Sequence[Sequence[int]], node: int) -> None:
    for place, column in enumerate(columns):
        into[place] += column[node]


def _meaning(column: MetricColumn) -> str:
    return f"{printable(column.metric.title)} in ns" if column.is_time else printable(column.metric.title)


def _joined(costs: Sequence[int]) -> str:
    return " ".join(map(str, costs))
