"""waits -- where threads waited: the samples of waits.log, and which process image they belong to"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from collector.experiment.directory import LogFile
from collector.experiment.events import AnyRecord, MappingChange, PmcAttach
from collector.experiment.merge import iter_records
from collector.experiment.node_clocks import with_shift
from collector.experiment.samples import PcSampleBlock, declared_values
from collector.format import WAIT_UNSEEN, StackEnd
from collector.load.log_facts import GrowingFacts, LogFacts
from collector.load.stand_ins import one_sample
from collector.profile import model
from collector.target.address_space import AddressSpace

BEYOND_LOOKS: Final = declared_values(("blocked_unseen ns", "runnable ns"), "wait-rows")
"""The values of what `after_last_look` gives."""

_LEAST_NS = 1000  # the unit of waits.log


@dataclass(slots=True)
class Waits:
    """What waits.log says besides its samples, and these by process id, with their times as they are in the log.

    `code` is that at addresses of format.WATCHED_CODE by process id, 0 of what is in all. `is_by_looks`: the kernel gave no records of when threads waited.
    """

    facts: LogFacts
    blocks: dict[int, list[PcSampleBlock]] = field(default_factory=dict)
    code: dict[int, list[MappingChange]] = field(default_factory=dict)
    is_by_looks: bool = False

    def code_of(self, pid: int) -> AddressSpace:
        """The code of a process that stacks of waits have, and its log does not."""
        return AddressSpace([*self.code.get(0, ()), *self.code.get(pid, ())])

    def by_image(self, logs: Sequence[LogFacts]) -> dict[int, list[PcSampleBlock]]:
        """The samples by number of the log of the process image that ran then; those of processes that were not recorded are left out."""
        images: dict[int, list[LogFacts]] = {}
        for facts in sorted(logs, key=lambda facts: facts.start_ns):
            images.setdefault(facts.log.origin.pid, []).append(facts)
        found: dict[int, list[PcSampleBlock]] = {}
        for pid in self.blocks.keys() & images.keys():
            for block in self.blocks[pid]:
                found.setdefault(_at(images[pid], block.time + self.facts.log.shift_ns).number, []).append(block)
        return found

    def unreported(self) -> Waits:
        """The samples alone, for all but one of the readers of the log: how it went is told once."""
        facts = replace(self.facts, size_bytes=0, clock=None, points=[], drops={}, messages={})
        return replace(self, facts=facts)

    @property
    def told(self) -> tuple[str, ...]:
        """How it was done and how it went, as texts of the form name=value (model.Recording.waits)."""
        clock, counts = self.facts.clock, {subject: count for (_, _, subject), count in self.facts.messages.items() if subject}
        way = {"way": clock.clock, "period_ns": clock.period_ns, "detail": clock.detail} if clock else {}
        return tuple(f"{name}={value}" for name, value in {**way, **counts}.items() if value)


def _at(images: Sequence[LogFacts], time_ns: int) -> LogFacts:
    """The image of that time; what was before the first one's first word is its own."""
    return next((facts for facts in reversed(images) if facts.start_ns <= time_ns), images[0])


def after_last_look(thread: model.Thread, blocks: Iterable[PcSampleBlock], shift_ns: int) -> PcSampleBlock | None:
    """What a thread waited between its last look and its end, which its own log tells: a record with that time, of no stack.

    `blocks`: its samples, on a clock that is `shift_ns` behind the thread's. None if there is no such time, or nobody saw the thread's end.
    """
    if thread.end_ns is None or thread.user_ns is None:
        return None
    seen_ns, until_ns = 0, thread.start_ns
    for block in blocks:
        seen_ns += sum(ns for name, ns in block.figures.items() if name == "runnable" or name.startswith("blocked"))
        until_ns = max(until_ns, block.last_time + shift_ns)
    missing_ns = min(thread.end_ns - thread.start_ns - thread.cpu_ns - seen_ns, thread.end_ns - until_ns)
    if missing_ns < _LEAST_NS:
        return None
    return one_sample(thread, (missing_ns, 0), (StackEnd.COMPLETE, (WAIT_UNSEEN,)), BEYOND_LOOKS, shift_ns)


def read_waits(log: LogFile) -> Waits:
    """Read the log. ExperimentError if it cannot be read at all."""
    return waits_of(log, iter_records(log))


def waits_of(log: LogFile, records: Iterable[AnyRecord]) -> Waits:
    """The same of its records."""
    growing, pids = GrowingFacts(log), dict[int, int]()
    waits = Waits(growing.facts)
    for record in records:
        if isinstance(record, PcSampleBlock):
            waits.blocks.setdefault(pids.get(record.source, 0), []).append(record)
        elif isinstance(record, MappingChange):
            waits.code.setdefault(record.thread, []).append(record)
            continue
        elif isinstance(record, PmcAttach):
            pids[record.source or 0] = record.pid or 0
        growing.add(_shifted(record, log.shift_ns) if log.shift_ns else record)
    waits.facts = growing.so_far()
    waits.is_by_looks = waits.facts.clock is not None and waits.facts.clock.clock == "looks"
    return waits


def _shifted(record: AnyRecord, shift_ns: int) -> AnyRecord:
    if isinstance(record, PcSampleBlock):
        return replace(record, time=record.time + shift_ns)
    return next(with_shift((record,), shift_ns))
