"""test_words -- every cause of the format has its words in reports"""

from __future__ import annotations

from collector.format import DropCause, StackEnd
from collector.profile.causes import DROP_CAUSES, STACK_ENDS, exit_status


def test_every_cause_has_its_words() -> None:
    assert set(STACK_ENDS) == {end.name.lower() for end in StackEnd}
    assert set(DROP_CAUSES) == {cause.name.lower() for cause in DropCause}


def test_wait_statuses_read_as_exit_statuses() -> None:
    assert [exit_status(status) for status in (0, 256, 9, 0x8B, None)] == [0, 1, -9, -11, None]
