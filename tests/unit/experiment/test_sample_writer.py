"""test_sample_writer -- what is written from Python is read back, sample by sample"""

from __future__ import annotations

import random

import pytest
from writer import leb128

from collector.experiment.log_reader import EventReader
from collector.experiment.log_source import PathSource
from collector.experiment.log_writer import LogWriter
from collector.experiment.sample_writer import pack_stacks, sample_records
from collector.experiment.samples import PcSampleBlock
from collector.experiment.stacks import MAX_DEPTH, decode_stacks
from collector.format import FRAMES_LEFT_OUT, StackEnd

_HIGH = (1 << 64) - 1


@pytest.mark.parametrize(
    "stacks",
    [
        [()],
        [(1,), (), (1, 2)],
        [(1, 2, 3), (1, 2, 4), (1, 2, 3), (5, 2, 3)],
        [(_HIGH, 0, _HIGH, 1 << 63, 0), ((1 << 63) - 1, _HIGH)],
        [(7, 7, 7, 7), (7, 7), (7, 8, 7, 8, 7)],
        [(1, number) for number in (2, 3, 4, 5, 6, 7, 8, 9, 10, 8, 10, 8, 2, 0, 0, 3)],  # more children than are kept
    ],
)
def test_stacks_are_read_back(stacks):
    table = decode_stacks(pack_stacks([(StackEnd.COMPLETE, stack) for stack in stacks]), len(stacks))
    assert [table.stack(number).addresses[::-1] for number in range(len(stacks))] == stacks


def test_children_in_their_order():
    """Worked by hand from the document: of eight children of 0x1000 seven are kept, and those that are asked for move up."""
    first = b"\0\2" + 2 * leb128(0x1000 << 3 | 1)
    others = [leb128(number << 3 | 3) for number in range(1, 8)]  # 0x2001 to 0x2007, which takes the place of 0x2006
    asked = [leb128(place << 1) for place in (6, 5, 5, 1, 0, 0)]
    no_such_place = leb128(7 << 1)
    table = decode_stacks(first + b"".join(b"\x08\1" + token for token in (*others, *asked, no_such_place)), 20)
    assert [table.stack(number).leaf for number in range(len(table))] == [*range(0x2000, 0x2008), 0x2007, 0x2007, 0x2004, 0x2001, 0x2001, 0x2001]


def test_any_stacks_are_read_back():
    numbers = random.Random(7)
    stacks = [
        (numbers.choice((StackEnd.COMPLETE, StackEnd.NO_UNWIND_INFO)), tuple(numbers.choice((3, 5, 1 << 56, numbers.getrandbits(64))) for _ in range(numbers.randrange(12))))
        for _ in range(500)
    ]
    table = decode_stacks(pack_stacks(stacks), len(stacks))
    assert [(table.stack(number).end, table.stack(number).addresses[::-1]) for number in range(len(stacks))] == stacks


def test_of_an_endless_stack_both_ends_are_kept():
    (stack,) = [decode_stacks(pack_stacks([(0, tuple(range(2, 200_002)))]), 1).stack(0)]
    assert len(stack) == MAX_DEPTH
    assert stack.addresses[0] == 200_001 and stack.addresses[-1] == 2
    assert stack.addresses.count(FRAMES_LEFT_OUT) == 1


def test_samples_are_read_back_from_a_log(tmp_path):
    numbers = random.Random(3)
    count = 16_000
    table = [(StackEnd.COMPLETE, tuple(numbers.getrandbits(60) for _ in range(30))) for _ in range(2_000)]  # more than a record can define
    times = sorted(numbers.getrandbits(40) for _ in range(count))
    user, system = [numbers.getrandbits(40) for _ in range(count)], [numbers.getrandbits(7) for _ in range(count)]
    stacks = [numbers.randrange(len(table)) for _ in range(count)]
    log = LogWriter(str(tmp_path / "1.0.log"))
    log.append_all(sample_records(42, 1, times, (user, system), stacks, table))
    log.close(times[-1], None, None, count)
    assert log.error is None
    blocks = [record for record in EventReader(PathSource(str(tmp_path / "1.0.log"))).records() if isinstance(record, PcSampleBlock)]
    found = [sample for block in blocks for sample in block.iter_samples()]
    assert {sample.thread for sample in found} == {42}
    assert [(sample.time, sample.user_ns, sample.system_ns) for sample in found] == list(zip(times, user, system))
    assert [sample.stack.addresses[::-1] for sample in found] == [table[number][1] for number in stacks]
