"""stand_ins -- the one sample of a thread that ended before its first tick: its stack is the function that it was started with"""

from __future__ import annotations

from collector.experiment.columns import IntegerColumn
from collector.experiment.samples import PcSampleBlock
from collector.format import StackEnd
from collector.profile import model


def stand_in(thread: model.Thread, address: int | None, values: tuple[int, ...], shift_ns: int = 0) -> PcSampleBlock:
    """A record with one sample of these values in nanoseconds, on a clock that is so much behind the thread's. Without an address its stack is empty."""
    columns = tuple(IntegerColumn.of([value]) for value in values)
    nothing = IntegerColumn.of([0])
    time_ns = (thread.end_ns or thread.start_ns) - shift_ns
    return PcSampleBlock(time_ns, thread.tid, 0, 0, None, 0, 1, 1, nothing, columns, nothing, 1, _definition(address))


def _definition(address: int | None) -> bytes:
    """One stack (docs/format.md, Stacks): nothing is taken off, and one frame put on, if it is known."""
    if not address:
        return bytes((StackEnd.NOT_SAMPLED, 0))
    difference = address if address < 1 << 63 else address - (1 << 64)
    token = (abs(difference) * 2 - (difference < 0)) << 1 | 1
    return bytes((StackEnd.NOT_SAMPLED, 1)) + _leb128(token)


def _leb128(number: int) -> bytes:
    groups = []
    while number > 0x7F:
        groups.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*groups, number))
