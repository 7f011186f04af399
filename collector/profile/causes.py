"""causes -- why a stack ends early, why data is missing, how a process ended: the words for it.

The keys are the names of `StackEnd` and `DropCause` in lower case; a test holds them together.
"""

from __future__ import annotations

from typing import Final

COMPLETE: Final = "complete"
NOT_SAMPLED: Final = "not_sampled"

STACK_ENDS: Final[dict[str, str]] = {
    COMPLETE: "complete",
    "depth_limit": "deeper than the limit",
    "no_unwind_info": "no unwind information",
    "bad_stack_pointer": "stack pointer outside the stack",
    "unreadable": "memory not readable",
    "bad_pc": "return address not in code",
    "bad_frame": "frame makes no sense",
    NOT_SAMPLED: "thread ended before its first tick",
}

DROP_CAUSES: Final[dict[str, str]] = {
    "busy": "recorder busy",
    "no_space": "no space on the disk",
    "no_memory": "no memory",
    "log_full": "log full",
    "bad_argument": "bad argument of a call",
    "damage": "log damaged",
    "missing_frames": "frames missing from the log",
    "truncated": "log cut off",
    "unknown_kind": "records of an unknown kind",
}


def exit_status(wait_status: int | None) -> int | None:
    """The exit status, or -n if signal n ended the process (as in subprocess); None if nobody saw it."""
    if wait_status is None:
        return None
    signal = wait_status & 0x7F
    return -signal if signal else wait_status >> 8 & 0xFF


def is_finished(end: str) -> bool:
    """Whether a stack with this end reaches the start of its thread."""
    return end in (COMPLETE, NOT_SAMPLED)
