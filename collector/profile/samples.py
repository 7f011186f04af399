"""samples -- the samples of a profile, and the questions that can be asked of them

Where they are kept and how they are added up is not this package's business: `Samples` is what it must answer. A *group* is any set
of frames: a function, a line, a module, one address.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Final, NamedTuple, Protocol

Columns = tuple[Sequence[float], ...]
"""One sequence for each base metric, in their order (`metrics.Metric.parts`); times are in seconds."""

class Scales(NamedTuple):
    """What values of a thread are multiplied with: user CPU time, the time of missing ticks, which is then added to user time, and system CPU time."""

    user: float = 1.0
    missing: float = 0.0
    system: float = 1.0


NOTHING: Final = (1 << 32) - 1
"""Stands for no node and no group."""


class Grouping:
    """Groups of frames, `count` of them. Those with the same name are the same for the same profile; without a name it is asked only once."""

    def __init__(self, name: str, count: int, find: Callable[[], Sequence[int]]) -> None:
        self.name = name
        self.count = count
        self.find = find

    @cached_property
    def groups(self) -> Sequence[int]:
        """The group of each frame of the profile."""
        return self.find()


class Cells(NamedTuple):
    """Sums of all samples of one thread whose stacks ended in one way, as columns; `values` has one column a base metric."""

    threads: Sequence[int]
    ends: Sequence[str]
    counts: Sequence[int]
    values: Columns


class Span(NamedTuple):
    """Time from one moment up to, not including, another, in nanoseconds; `phase` is what its samples are told apart by."""

    start_ns: int
    end_ns: int
    phase: int = 0


EVER: Final = (1 << 64) - 1
"""A span up to here includes all that comes."""

Spans = Sequence[Sequence[Span]]
"""The spans of each thread of a profile; they rise, and do not overlap."""


class PhaseCells(NamedTuple):
    """Sums of all samples of one thread in one phase, as columns."""

    threads: Sequence[int]
    phases: Sequence[int]
    values: Columns


class GroupSums(NamedTuple):
    """Sums by group, `exclusive[base][group]` and `inclusive[base][group]`.

    *Exclusive* is the time of samples whose leaf is in the group, *inclusive* of samples with the group anywhere on their stack. A
    group that is on a stack several times, as in recursion, counts once for each sample.
    """

    exclusive: Columns
    inclusive: Columns


class CallSums(NamedTuple):
    """The tree of calls of groups, by node: node 0 is the root (its parent and group are NOTHING), and a parent always stands before its children.

    Recursion is folded: a group that is on the path already goes on from its node there. `finished` and `unfinished` are the exclusive
    times of stacks that reach the start of their thread, and of those that do not; the inclusive ones have those of all nodes below.
    """

    parents: Sequence[int]
    groups: Sequence[int]
    finished: Columns
    unfinished: Columns
    finished_inclusive: Columns
    unfinished_inclusive: Columns


class SampleRows(NamedTuple):
    """Samples one by one, as columns, thread by thread; their stacks as a tree of groups, as in `CallSums`.

    `values` has one column a base metric; `is_finished` is 1 for a stack that reaches the start of its thread, else 0.
    """

    parents: Sequence[int]
    groups: Sequence[int]
    threads: Sequence[int]
    times_ns: Sequence[int]
    nodes: Sequence[int]
    is_finished: Sequence[int]
    values: Columns


class EdgeSums(NamedTuple):
    """Sums by edge: one group calling another, both by their numbers; a caller of `Grouping.count` is the start of the stack.

    `outermost` are the samples in which the edge leads to the outermost call of its callee, `innermost` those in which it leads on from
    the innermost call of its caller. A group ends its innermost call itself in its `exclusive` time, which is by group.
    """

    callers: Sequence[int]
    callees: Sequence[int]
    outermost: Columns
    innermost: Columns
    exclusive: Columns


OWN: Final = 0
THROUGH: Final = 1
BASE: Final = 0x80
"""Roles of frames: code of the program's own, and code that is part of what called it; all others are categories. One with the bit BASE
is as the program's own code is, but has a name."""


class CategoryFilter(NamedTuple):
    """Which category a stack must be of; `roles` of all frames."""

    roles: bytes
    category: int

    def takes(self, frames: Sequence[int]) -> bool:
        """Whether a stack is of the category: that which the program's own code called last, and all that this called."""
        category = OWN
        for role in map(self.roles.__getitem__, frames):
            if role != THROUGH and (role == OWN or role & BASE or category == OWN or category & BASE):
                category = role
        return category == self.category

    def joined(self, other: "CategoryFilter | None") -> "CategoryFilter":
        """What both of them take: of two categories nothing. ValueError if they are of different tables."""
        if other is None or other == self:
            return self
        if other.roles != self.roles:
            raise ValueError("categories of two tables cannot be asked for together")
        return CategoryFilter(self.roles, THROUGH)


class StackFilter(NamedTuple):
    """Which stacks count, by sets of positions of frames, and which part of them is shown.

    They have a frame of each set of `anywhere` and none of `nowhere`, their last frame is in each set of `last`, and they are of a category.
    They begin at the first frame of `begin` and end at the first of `end` from there on, which they must have; without such sets
    they are shown whole. All but that is asked of whole stacks.
    """

    anywhere: tuple[frozenset[int], ...] = ()
    last: tuple[frozenset[int], ...] = ()
    nowhere: frozenset[int] = frozenset()
    begin: frozenset[int] | None = None
    end: frozenset[int] | None = None
    category: CategoryFilter | None = None

    def shown(self, frames: Sequence[int]) -> Sequence[int]:
        """What is shown of a stack; nothing if it does not count."""
        if not self._takes(frames):
            return ()
        first = 0 if self.begin is None else _first_of(frames, self.begin)
        last = len(frames) - 1 if self.end is None else _first_of(frames, self.end, first)
        return frames[first : last + 1] if last < len(frames) else ()

    def _takes(self, frames: Sequence[int]) -> bool:
        return (
            not any(wanted.isdisjoint(frames) for wanted in self.anywhere)
            and all(frames[-1] in wanted for wanted in self.last)
            and self.nowhere.isdisjoint(frames)
            and (self.category is None or self.category.takes(frames))
        )

    def joined(self, other: "StackFilter") -> "StackFilter":
        """What both of them take. ValueError if that is more than can be asked for together."""
        anywhere = tuple(dict.fromkeys((*self.anywhere, *other.anywhere)))
        if len(anywhere) > MOST_DEMANDS:
            raise ValueError(f"no more than {MOST_DEMANDS} sets of frames can be asked for together")
        begin, end = _only_one(self.begin, other.begin), _only_one(self.end, other.end)
        category = self.category.joined(other.category) if self.category else other.category
        return StackFilter(anywhere, (*self.last, *other.last), self.nowhere | other.nowhere, begin, end, category)


def _first_of(frames: Sequence[int], wanted: frozenset[int], start: int = 0) -> int:
    return next((position for position in range(start, len(frames)) if frames[position] in wanted), len(frames))


def _only_one(one: frozenset[int] | None, other: frozenset[int] | None) -> frozenset[int] | None:
    if one is not None and other is not None and one != other:
        raise ValueError("stacks that were cut by a focus, or by callers, cannot be cut so once more")
    return other if one is None else one


EVERY_STACK: Final = StackFilter()
MOST_DEMANDS: Final = 28
"""So many sets of frames may be asked for anywhere on a stack."""


class Samples(Protocol):
    """All samples of a profile, or some of them."""

    def cells(self) -> Cells:
        """Their sums by thread and end of the stack."""

    def cells_of(self, name: str, stacks: StackFilter) -> Cells:
        """The same of some stacks; `name` is what such a question is called."""

    def sum_groups(self, grouping: Grouping) -> GroupSums:
        """Exclusive and inclusive sums of all groups."""

    def call_sums(self, grouping: Grouping) -> CallSums:
        """The tree of calls."""

    def edge_sums(self, grouping: Grouping) -> EdgeSums:
        """Callers and callees of all groups."""

    def rows(self, grouping: Grouping, is_folded: bool = True) -> SampleRows:
        """The samples themselves; unless `is_folded` each call of a recursion is a node."""

    def phase_cells(self, spans: Spans) -> PhaseCells:
        """The sums by thread and phase of those in some spans, in this order."""

    def select(self, spans: Spans | None, stacks: StackFilter = EVERY_STACK) -> "Samples":
        """Those in some spans, with some stacks; None is all time of all threads."""


def common_spans(spans: Spans, others: Spans) -> Spans:
    """What lies in both, with the phases of the first."""
    distinct = {(id(own), id(other)): (own, other) for own, other in zip(spans, others)}  # threads may share theirs
    found = {pair: _common(*both) for pair, both in distinct.items()}
    return [found[id(own), id(other)] for own, other in zip(spans, others)]


def _common(spans: Sequence[Span], others: Sequence[Span]) -> list[Span]:
    pairs = ((max(one.start_ns, other.start_ns), min(one.end_ns, other.end_ns), one.phase) for one in spans for other in others)
    return [Span(start_ns, end_ns, phase) for start_ns, end_ns, phase in pairs if start_ns < end_ns]


def sample_count(cells: Cells) -> int:
    """How many samples the cells stand for."""
    return sum(cells.counts)
