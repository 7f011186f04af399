"""stand_ins -- what stands for a thread that ended before its first tick: no sample, but its CPU time under the function that it was started with"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from collector.experiment.columns import IntegerColumn
from collector.experiment.sample_writer import pack_stacks
from collector.experiment.samples import CPU_VALUES, PcSampleBlock, SourceValues
from collector.format import StackEnd
from collector.load.log_facts import LogFacts
from collector.profile import model
from collector.profile.metrics import STAND_INS

STAND_IN_VALUES: Final = replace(CPU_VALUES, counted_as=STAND_INS)


def may_have_stand_ins(logs: Iterable[LogFacts]) -> bool:
    """Whether there may be threads without a sample: more than the numbers that occur at samples."""
    return any(len(facts.threads) > len({head.thread for head in facts.heads}) for facts in logs)


def stand_in(thread: model.Thread, address: int | None, values: tuple[int, ...], shift_ns: int = 0) -> PcSampleBlock:
    """A record with one sample of these values in nanoseconds, on a clock that is so much behind the thread's. Without an address its stack is empty."""
    return one_sample(thread, values, (StackEnd.NOT_SAMPLED, (address,) if address else ()), STAND_IN_VALUES, shift_ns)


def one_sample(
    thread: model.Thread, values: Iterable[int], stack: tuple[StackEnd, tuple[int, ...]], declared: SourceValues, shift_ns: int
) -> PcSampleBlock:
    """A record that no log has, with one sample at the thread's end, on a clock that is `shift_ns` behind the thread's; times in nanoseconds."""
    columns = tuple(IntegerColumn(value, None, 1) for value in values)
    nothing = IntegerColumn(0, None, 1)
    time_ns = (thread.end_ns or thread.start_ns) - shift_ns
    return PcSampleBlock(time_ns, thread.tid, 0, 0, None, 0, 1, 1, nothing, columns, nothing, 1, pack_stacks([stack]), declared)
