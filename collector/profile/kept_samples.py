"""kept_samples -- answers that samples gave before, kept instead of the samples

A question is its kind and the name of its grouping. What was not kept is asked of the samples themselves, where they are at hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeVar, cast

from collector.profile.groupings import by_function, by_line, by_module, by_source_line
from collector.profile.lock import held_cells
from collector.profile.model import Frame, Profile
from collector.profile.samples import EVERY_STACK, CallSums, Cells, EdgeSums, Grouping, GroupSums, PhaseCells, SampleRows, Samples, Spans, StackFilter

if TYPE_CHECKING:
    from collector.profile.place_sums import PlaceSums

Question = tuple[str, str]
"""Which method of `samples.Samples`, and the name of the grouping."""

Answers = dict[Question, Any]
"""What a method gave, or a function that makes it when it is wanted."""

T = TypeVar("T")


class NotKeptError(LookupError):
    """Nobody asked this before, and the samples are not here."""

    def __init__(self) -> None:
        super().__init__("a profile file has no samples, only what views of the whole show: for this the experiment is needed")


class KeptSamples:
    """See `samples.Samples`. What `source` has to be asked is kept in `answers`."""

    def __init__(self, answers: Answers, source: Samples | None = None) -> None:
        self.answers = answers
        self._source = source

    def cells(self) -> Cells:
        """See `samples.Samples`."""
        return self._answer("cells", "cells", lambda source: source.cells())

    def cells_of(self, name: str, stacks: StackFilter) -> Cells:
        """See `samples.Samples`."""
        return self._answer("cells", name, lambda source: source.cells_of(name, stacks))

    def sum_groups(self, grouping: Grouping) -> GroupSums:
        """See `samples.Samples`."""
        return self._answer("sum_groups", grouping.name, lambda source: source.sum_groups(grouping))

    def call_sums(self, grouping: Grouping) -> CallSums:
        """See `samples.Samples`."""
        return self._answer("call_sums", grouping.name, lambda source: source.call_sums(grouping))

    def edge_sums(self, grouping: Grouping) -> EdgeSums:
        """See `samples.Samples`."""
        return self._answer("edge_sums", grouping.name, lambda source: source.edge_sums(grouping))

    def rows(self, grouping: Grouping, is_folded: bool = True) -> SampleRows:
        """See `samples.Samples`. The samples themselves are not kept."""
        return self.select(None).rows(grouping, is_folded)

    def phase_cells(self, spans: Spans) -> PhaseCells:
        """See `samples.Samples`. Nothing is kept of a part."""
        return self.select(None).phase_cells(spans)

    def select(self, spans: Spans | None, stacks: StackFilter = EVERY_STACK) -> Samples:
        """See `samples.Samples`. Nothing is kept of a part."""
        if self._source is None:
            raise NotKeptError
        return self._source.select(spans, stacks)

    def place_sums(self, name: str) -> PlaceSums | None:
        """What was kept by rank and node; None if the samples themselves are here. NotKeptError if there is neither."""
        answer = self.answers.get(("place_sums", name))
        if answer is None and self._source is None:
            raise NotKeptError
        if answer is None:
            return self._source.place_sums(name) if isinstance(self._source, KeptSamples) else None
        return cast("PlaceSums", answer() if callable(answer) else answer)

    def _answer(self, kind: str, name: str, ask: Callable[[Samples], T]) -> T:
        question = kind, name
        answer = self.answers.get(question)
        if answer is None:
            if self._source is None:
                raise NotKeptError
            answer = ask(self._source)
        elif callable(answer):
            answer = answer()
        if name:
            self.answers[question] = answer
        return cast(T, answer)


def read_answers(profile: Profile) -> Answers:
    """All answers that are kept of a profile."""
    kept = profile.samples.answers if isinstance(profile.samples, KeptSamples) else {}
    return {question: answer() if callable(answer) else answer for question, answer in kept.items()}


def is_known(profile: Profile, kind: str, grouping: Grouping) -> bool:
    """Whether this was asked before, so that the answer is at hand."""
    return isinstance(profile.samples, KeptSamples) and (kind, grouping.name) in profile.samples.answers


def ask_all(profile: Profile) -> None:
    """Ask the samples all that views ask of a whole profile."""
    samples, functions = profile.samples, by_function(profile)
    samples.cells()
    held_cells(profile)
    for grouping in (functions, by_module(profile), by_line(profile)[0], by_source_line(profile)[0]):
        samples.sum_groups(grouping)
    samples.call_sums(functions)
    samples.edge_sums(functions)


def merged_addresses(frames: Iterable[Frame]) -> tuple[Frame, ...]:
    """The frames without their addresses, each once, in the order in which they came: so groups keep their numbers."""
    merged = dict.fromkeys(map(itemgetter(0, 1, 2, 4, 5), frames))
    return tuple([Frame(function, file, line, 0, kind, code) for function, file, line, kind, code in merged])
