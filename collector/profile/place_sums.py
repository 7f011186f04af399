"""place_sums -- what functions or modules took in each rank of a parallel job, and on each node, without the samples

Only the groups with most time have figures of their own, as many as there is room for; what the others of a module spend themselves is one group.
Figures are floats of 32 bits.
"""

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import add
from typing import Final, NamedTuple

from collector.profile.filters import spans_of
from collector.profile.groupings import by_function, by_module
from collector.profile.metrics import reported_rows
from collector.profile.model import Function, Module, Process, Profile, identity_of
from collector.profile.samples import Columns, Grouping, GroupSums

_ROOM: Final = 1 << 19
"""So many figures of places and groups, of each base metric."""

_FEWEST: Final = 32

OTHERS: Final = "(other functions)"


class Place(NamedTuple):
    """Where processes ran: a node, and a rank; -1 for what belongs to none."""

    node: str
    rank: int


class PlaceSums(NamedTuple):
    """Figures by group and place: of each base metric a column, exclusive ones first, of len(groups) times len(places) figures, group after group.

    A group is the position of a function or module; -1 - m stands for the other functions of module m, of which only exclusive figures are known.
    """

    places: Sequence[Place]
    groups: Sequence[int]
    columns: Columns

    def sums_at(self, positions: Iterable[int]) -> GroupSums:
        """The figures of some places together, by row."""
        sums: list[Sequence[float]] = [array("d", bytes(8 * len(self.groups))) for _ in self.columns]
        for position in positions:
            sums = [list(map(add, known, column[position :: len(self.places)])) for known, column in zip(sums, self.columns)]
        return GroupSums(tuple(sums[: len(sums) // 2]), tuple(sums[len(sums) // 2 :]))


class PlaceFigures(NamedTuple):
    """All figures of some places; groups by what tells them apart in any profile, columns by the names of base metrics."""

    places: list[Place]
    metrics: list[str]
    keys: Sequence[int]
    columns: list["array[float]"]


def place_of(process: Process) -> Place:
    """Where a process ran."""
    return Place(process.node, -1 if process.rank is None else process.rank)


def threads_by_place(profile: Profile) -> dict[Place, set[int]]:
    """The positions of the threads at each place, in order."""
    found: dict[Place, set[int]] = {}
    for position, thread in enumerate(profile.threads):
        found.setdefault(place_of(profile.processes[thread.process]), set()).add(position)
    return dict(sorted(found.items()))


def cut_piece(profile: Profile, grouping: Grouping) -> PlaceFigures:
    """The figures of a profile whose samples are at hand; `grouping` is by function or by module."""
    threads = threads_by_place(profile)
    joined = [array("f") for _ in range(2 * len(_base_names(profile)))]
    for positions in threads.values():
        sums = profile._replace(samples=profile.samples.select(spans_of(profile, positions))).samples.sum_groups(grouping)
        for into, column in zip(joined, (*sums.exclusive, *sums.inclusive)):
            into.extend(array("f", column))
    keys = _keys(profile, grouping)
    by_group = [[column[group :: grouping.count] for column in joined] for group in range(grouping.count)]
    known = [group for group, figures in enumerate(by_group) if any(map(any, figures))]
    columns = [array("f", b"".join(by_group[group][column].tobytes() for group in known)) for column in range(len(joined))]
    return PlaceFigures(list(threads), _base_names(profile), array("Q", [keys[group] for group in known]), columns)


def join_pieces(profile: Profile, grouping: Grouping, pieces: Iterable[PlaceFigures]) -> PlaceSums:
    """All pieces of a profile. Pieces may have places in common, whose figures are added."""
    places = list(threads_by_place(profile))
    groups = _largest(profile, grouping, max(_FEWEST, _ROOM // max(1, len(places))))
    if grouping.name == "functions" and len(groups) < grouping.count:
        groups += [-1 - module for module in range(len(profile.modules))]
    rows = {group: row for row, group in enumerate(groups)}
    number_of = {key: number for number, key in enumerate(_keys(profile, grouping))}
    place_number = {place: number for number, place in enumerate(places)}
    names = _base_names(profile)
    columns = tuple(array("f", bytes(4 * len(groups) * len(places))) for _ in range(2 * len(names)))
    known: set[int] = set()
    for piece in pieces:
        positions = [place_number[place] for place in piece.places]
        bases = [names.index(name) for name in piece.metrics]
        own_columns = [columns[base + kind] for kind in (0, len(names)) for base in bases]
        put = _set_run if known.isdisjoint(positions) and _are_neighbours(positions) else _add_each
        known.update(positions)
        for row, own in _rows_of(profile, piece, number_of, rows):
            for into, figures in zip(own_columns, own):
                put(into, row * len(places), positions, figures)
    return PlaceSums(places, groups, columns)


def _are_neighbours(positions: list[int]) -> bool:
    return bool(positions) and positions == list(range(positions[0], positions[0] + len(positions)))


def _set_run(into: "array[float]", first: int, positions: Sequence[int], figures: Sequence[float]) -> None:
    """Figures of neighbouring places that have none yet."""
    into[first + positions[0] : first + positions[-1] + 1] = array("f", figures)


def _add_each(into: "array[float]", first: int, positions: Sequence[int], figures: Sequence[float]) -> None:
    for position, figure in zip(positions, figures):
        if figure:
            into[first + position] += figure


def _rows_of(profile: Profile, piece: PlaceFigures, number_of: Mapping[int, int], rows: Mapping[int, int]) -> Iterator[tuple[int, Sequence[Sequence[float]]]]:
    """The figures of each row that a piece has some of, by place. Of other functions it is only known what they spend themselves."""
    width, base_count = len(piece.places), len(piece.columns) // 2
    others: dict[int, list[Sequence[float]]] = {}
    for index, key in enumerate(piece.keys):
        group, part = number_of[key], slice(index * width, (index + 1) * width)
        if group in rows:
            yield rows[group], [column[part] for column in piece.columns]
        elif profile.functions and -1 - profile.functions[group].module in rows:
            figures: list[Sequence[float]] = [column[part] for column in piece.columns[:base_count]]
            row = rows[-1 - profile.functions[group].module]
            known = others.get(row)
            others[row] = figures if known is None else [list(map(add, old, new)) if any(new) else old for old, new in zip(known, figures)]
    for row, figures in others.items():
        yield row, [*figures, *figures]


def titles(profile: Profile, sums: PlaceSums) -> list[tuple[Function | None, Module, str | None, int | None]]:
    """What each group of functions is."""
    found: list[tuple[Function | None, Module, str | None, int | None]] = []
    for group in sums.groups:
        function = profile.functions[group] if group >= 0 else Function(OTHERS, OTHERS, OTHERS, -1 - group)
        found.append((function, profile.modules[function.module], function.file, function.line))
    return found


def _base_names(profile: Profile) -> list[str]:
    """The base metrics, in the order of their columns."""
    return [name for _, name in sorted((metric.parts[0], metric.name) for metric in profile.metrics if len(metric.parts) == 1)]


def _largest(profile: Profile, grouping: Grouping, most: int) -> list[int]:
    """The groups with most exclusive, and with most inclusive time, half of each."""
    if grouping.count <= most:
        return list(range(grouping.count))
    sums = profile.samples.sum_groups(grouping)
    chosen: dict[int, None] = {}
    orders = [
        sorted(range(grouping.count), key=[-row[0] for row in reported_rows(profile.metrics, columns)].__getitem__)
        for columns in (sums.exclusive, sums.inclusive)
    ]
    for group in (group for pair in zip(*orders) for group in pair):
        if len(chosen) == most:
            break
        chosen[group] = None
    return sorted(chosen)


def _keys(profile: Profile, grouping: Grouping) -> list[int]:
    modules = [_digest(repr(module)) for module in profile.modules]
    if grouping.name == "modules":
        return modules
    return [
        _digest(repr((function.name, identity_of(function.raw_name), modules[function.module], function.file))) for function in profile.functions
    ]


def _digest(text: str) -> int:
    from hashlib import blake2b  # with which all of OpenSSL is loaded

    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def groupings(profile: Profile) -> tuple[Grouping, Grouping]:
    """Those that there are such sums of."""
    return by_function(profile), by_module(profile)
