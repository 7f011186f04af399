"""native_samples -- the questions of a profile, put to the analysis in C"""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import repeat
from operator import add, sub
from typing import Any, cast

from collector.analysis.library import (
    DEMAND_FROM,
    DEMAND_LAST,
    DEMAND_NEVER,
    DEMAND_UPTO,
    WANT_EDGES,
    WANT_GROUPS,
    WANT_ROWS,
    WANT_TREE,
    WANT_UNFOLDED,
    Answer,
    Library,
    Question,
    by_reference,
    bytes_at,
    check,
    pointer_and_count,
)
from collector.analysis.seam import Expansion
from collector.errors import ExperimentError
from collector.format import StackEnd
from collector.profile.metrics import CPU_VALUES, MISSING, SAMPLES, SYSTEM, USER, Value, in_base_order
from collector.profile.plain_samples import scaled
from collector.profile.samples import (
    EVERY_STACK,
    CallSums,
    Cells,
    Columns,
    EdgeSums,
    Grouping,
    GroupSums,
    PhaseCells,
    SampleRows,
    Scales,
    Span,
    Spans,
    StackFilter,
    common_spans,
)
from collector.regular_file import open_regular
from collector.units import NS_PER_S

_END_NAMES = {int(end): end.name.lower() for end in StackEnd}
_NO_FILE = -1
_ROW_FIELDS = 4
_SCALES = len(Scales._fields)

Row = tuple[Any, list[int]]
"""A key that begins with a thread, and figures that are not multiplied yet."""

RawCells = list[tuple[int, ...]]
"""Thread, phase, StackEnd, the values (times in nanoseconds), and the number of samples."""


@dataclass(eq=False)
class AnalysisHandle:
    """One analysis in C, and what it needs from here: the paths of its logs and their threads, and the buffers that it looks at."""

    library: Library
    handle: int
    values: Sequence[Value] = CPU_VALUES
    paths: list[str] = field(default_factory=list)
    threads: dict[int, frozenset[int]] = field(default_factory=dict)
    expansion: Expansion | None = None
    cells: RawCells | None = None

    @property
    def columns(self) -> int:
        """How many values there are."""
        return len(self.values)

    def read(self, log: int, function: object, *arguments: object) -> None:
        """Have a function read a log, whose file is opened if it needs it."""
        descriptor = _NO_FILE
        try:
            if self.library.needs_file(self.handle, log):
                descriptor = open_regular(self.paths[log])
            check(function(self.handle, log, descriptor, *arguments), f"the log {self.paths[log]}")  # type: ignore[operator]
        except OSError as error:
            raise ExperimentError(f"the log {self.paths[log]} cannot be read: {error.strerror}") from error
        finally:
            if descriptor != _NO_FILE:
                os.close(descriptor)


def cells_of(engine: AnalysisHandle, answer: Answer) -> RawCells:
    """The cells of an answer."""
    width = engine.columns + 4
    numbers = _numbers("Q", answer.cells, answer.cell_count * width)
    return list(zip(*(numbers[column::width] for column in range(width))))


class NativeSamples:
    """See `profile.samples.Samples`: those in some spans, with some stacks. `cells` are theirs, if they are known."""

    def __init__(
        self,
        engine: AnalysisHandle,
        scales: array[float],
        frame_count: int,
        cells: RawCells | None,
        spans: Spans | None = None,
        stacks: StackFilter = EVERY_STACK,
    ) -> None:
        self._engine = engine
        self._scales = scales
        self._frame_count = frame_count
        self._spans = spans
        self._stacks = stacks
        self._known_cells = cells

    @cached_property
    def _cells(self) -> Cells:
        if self._known_cells is None:
            self._ask(Grouping("", 1, lambda: [0] * self._frame_count), 0)
        rows = _added_up(((thread, _END_NAMES[end]), figures) for thread, _, end, *figures in self._known_cells or ())
        counts = [figures[-1] for _, figures in rows]
        return Cells([thread for (thread, _), _ in rows], [end for (_, end), _ in rows], counts, self._scaled(rows))

    def cells(self) -> Cells:
        """See `profile.samples.Samples`."""
        return self._cells

    def cells_of(self, name: str, stacks: StackFilter) -> Cells:
        """See `profile.samples.Samples`."""
        return self.select(None, stacks).cells()

    def phase_cells(self, spans: Spans) -> PhaseCells:
        """See `profile.samples.Samples`."""
        part = self.select(spans)
        part.cells()
        rows = _added_up(((thread, phase), figures) for thread, phase, _, *figures in part._known_cells or ())
        return PhaseCells([thread for (thread, _), _ in rows], [phase for (_, phase), _ in rows], self._scaled(rows))

    def sum_groups(self, grouping: Grouping) -> GroupSums:
        """See `profile.samples.Samples`."""
        answer = self._ask(grouping, WANT_GROUPS)
        return GroupSums(self._columns(answer.exclusive, grouping.count), self._columns(answer.inclusive, grouping.count))

    def call_sums(self, grouping: Grouping) -> CallSums:
        """See `profile.samples.Samples`."""
        answer = self._ask(grouping, WANT_TREE)
        count = answer.node_count
        return CallSums(
            _numbers("I", answer.parents, count),
            _numbers("I", answer.node_groups, count),
            self._columns(answer.finished, count),
            self._columns(answer.unfinished, count),
            self._columns(answer.finished_inclusive, count),
            self._columns(answer.unfinished_inclusive, count),
        )

    def rows(self, grouping: Grouping, is_folded: bool = True) -> SampleRows:
        """See `profile.samples.Samples`."""
        values = tuple(array("d") for _ in self._shown)
        rows = SampleRows(array("I"), array("I"), array("I"), array("Q"), array("I"), array("B"), values)
        answer = self._ask(grouping, WANT_TREE | WANT_ROWS | (0 if is_folded else WANT_UNFOLDED), lambda: self._take(rows))
        parents, groups = (_numbers("I", address, answer.node_count) for address in (answer.parents, answer.node_groups))
        return rows._replace(parents=parents, groups=groups)

    def _take(self, rows: SampleRows) -> None:
        """Add the rows of the log that was followed last."""
        engine, (where, count) = self._engine, pointer_and_count()
        check(engine.library.rows(engine.handle, by_reference(where), by_reference(count)), "the samples")
        width = _ROW_FIELDS + engine.columns
        numbers = _numbers("Q", where.value, count.value * width)
        threads = array("I", numbers[0::width])
        for column, place in ((rows.is_finished, 1), (rows.nodes, 2), (rows.times_ns, 3)):
            cast("array[int]", column).extend(array(cast("array[int]", column).typecode, numbers[place::width]))
        cast("array[int]", rows.threads).extend(threads)
        by_user, _, by_system = (map(self._scales[place::_SCALES].__getitem__, threads) for place in range(_SCALES))
        others = [index for index in range(len(rows.values)) if index != SAMPLES]
        added = self._missing_of(numbers, width, threads)
        counted = array("d", [1.0]) * count.value
        for place, index, kind in zip(range(_ROW_FIELDS, width), others, engine.values):
            own, column = cast("array[float]", rows.values[index]), numbers[place::width]
            if kind == CPU_VALUES[USER]:
                own.extend((value * scale + missing) / NS_PER_S for value, scale, missing in zip(column, by_user, added))
            elif kind == CPU_VALUES[SYSTEM]:
                own.extend(value * scale / NS_PER_S for value, scale in zip(column, by_system))
            else:
                own.extend(value / NS_PER_S for value in column) if kind.is_time else own.extend(map(float, column))
            if kind.is_count:
                counted = array("d", map(sub, counted, column))
        cast("array[float]", rows.values[SAMPLES]).extend(counted)

    def _missing_of(self, numbers: array[int], width: int, threads: array[int]) -> Iterable[float]:
        """By row, what is added to user time (ns)."""
        values = self._engine.values
        if MISSING not in values:
            return repeat(0.0)
        missing = numbers[_ROW_FIELDS + values.index(MISSING) :: width]
        return [value * scale for value, scale in zip(missing, map(self._scales[1::_SCALES].__getitem__, threads))]

    def edge_sums(self, grouping: Grouping) -> EdgeSums:
        """See `profile.samples.Samples`."""
        answer = self._ask(grouping, WANT_EDGES)
        count = answer.node_count
        return EdgeSums(
            _numbers("I", answer.parents, count)[1:],
            _numbers("I", answer.node_groups, count)[1:],
            tuple(column[1:] for column in self._columns(answer.finished, count)),
            tuple(column[1:] for column in self._columns(answer.unfinished, count)),
            self._columns(answer.exclusive, grouping.count),
        )

    def select(self, spans: Spans | None, stacks: StackFilter = EVERY_STACK) -> NativeSamples:
        """See `profile.samples.Samples`."""
        if spans is None:
            spans = self._spans
        elif self._spans is not None:
            spans = common_spans(spans, self._spans)
        return NativeSamples(self._engine, self._scales, self._frame_count, None, spans, self._stacks.joined(stacks))

    def _ask(self, grouping: Grouping, want: int, after_log: Callable[[], None] | None = None) -> Answer:
        engine, column = self._engine, array("I", grouping.groups)
        spans, first_span = self._packed_spans
        question = Question(
            column.buffer_info()[0], spans.buffer_info()[0] if spans else None, first_span.buffer_info()[0], self._scales.buffer_info()[0],
            len(column), len(self._scales) // _SCALES, grouping.count, want, *self._demands,
        )
        check(engine.library.begin(engine.handle, by_reference(question)), "the samples")
        for log in range(len(engine.paths)):
            if self._is_wanted(log):
                engine.read(log, engine.library.follow)
                if after_log:
                    after_log()
        answer = Answer()
        check(engine.library.finish(engine.handle, by_reference(answer)), "the samples")
        self._known_cells = cells_of(engine, answer)
        return answer

    def _is_wanted(self, log: int) -> bool:
        """Whether a log has samples of a thread that has a span."""
        return self._spans is None or any(self._spans[thread] for thread in self._engine.threads.get(log, ()) if thread < len(self._spans))

    @cached_property
    def _packed_spans(self) -> tuple[array[int] | None, array[int]]:
        """All spans one behind the other, and where those of each thread begin."""
        if self._spans is None:
            return None, array("I")
        packed = array("Q")
        first_span = array("I", [0])
        for spans in self._spans:
            for span in spans:
                packed.extend(span)
            first_span.append(len(packed) // len(Span._fields))
        packed.extend(Span(0, 0))  # so that it lies somewhere
        return packed, first_span

    @cached_property
    def _marks(self) -> array[int]:
        """By frame, the demands that it meets, as bits."""
        marks = array("I", [0]) * self._frame_count
        for bit, frames in self._demanded.items():
            for frame in frames:
                marks[frame] |= bit
        for frame in self._stacks.nowhere:
            marks[frame] |= DEMAND_NEVER
        return marks

    @cached_property
    def _demanded(self) -> dict[int, frozenset[int]]:
        """Of which frames a stack must have one, by the bit of the demand."""
        stacks = self._stacks
        demanded = {1 << bit: frames for bit, frames in enumerate(stacks.anywhere)}
        if stacks.last:
            demanded[DEMAND_LAST] = frozenset.intersection(*stacks.last)
        if stacks.begin is not None:
            demanded[DEMAND_FROM] = stacks.begin
        if stacks.end is not None:
            demanded[DEMAND_UPTO] = stacks.end
        return demanded

    @property
    def _demands(self) -> tuple[int | None, int, bytes | None, int]:
        """Where they lie, and all that must be met; the roles of all frames, and the category."""
        if self._stacks is EVERY_STACK or self._stacks == EVERY_STACK:
            return None, 0, None, 0
        category = self._stacks.category
        asked = (None, 0) if category is None else (category.roles, category.category)
        return self._marks.buffer_info()[0], sum(self._demanded), *asked

    def _scaled(self, rows: Sequence[Row]) -> Columns:
        values = [(*scaled(self._engine.values, figures, self._scales_of(key[0])), float(figures[-1])) for key, figures in rows]
        return in_base_order([[row[column] for row in values] for column in range(len(self._shown))])

    def _scales_of(self, thread: int) -> Scales:
        return Scales(*self._scales[_SCALES * thread : _SCALES * (thread + 1)])

    @cached_property
    def _shown(self) -> list[int]:
        """The columns of answers that are figures."""
        values = self._engine.values
        return [column for column in range(self._engine.columns + 1) if column == len(values) or values[column] != MISSING]

    def _columns(self, address: int | None, count: int) -> Columns:
        width = self._engine.columns + 1
        numbers = _numbers("d", address, count * width)
        return in_base_order([numbers[column::width] for column in self._shown])


def _added_up(rows: Iterable[Row]) -> list[Row]:
    """Rows of the same key as one, in the order of their keys."""
    sums: dict[Any, list[int]] = {}
    for key, figures in rows:
        known = sums.get(key)
        sums[key] = figures if known is None else list(map(add, known, figures))
    return sorted(sums.items())


def _numbers(type_code: str, address: int | None, count: int) -> array:  # type: ignore[type-arg]
    numbers = array(type_code)
    numbers.frombytes(bytes_at(address, count * numbers.itemsize))
    return numbers
