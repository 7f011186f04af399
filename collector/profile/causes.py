"""causes -- why a stack ends early, why data is missing, how a process ended: the words for it.

The keys are the names of `StackEnd` and `DropCause` in lower case; a test holds them together.
"""

from __future__ import annotations

from typing import Final

COMPLETE: Final = "complete"
GUESSED: Final = "guessed"
NOT_SAMPLED: Final = "not_sampled"

STACK_ENDS: Final[dict[str, str]] = {
    COMPLETE: "complete",
    "depth_limit": "deeper than the limit",
    "no_unwind_info": "no unwind information",
    GUESSED: "complete, through code without unwind information",
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
    "unsafe_thread": "thread with foreign storage or too small a stack",
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


def describe_ending(wait_status: int) -> str:
    """A wait status in words: `exited with status 1`, `killed by signal 9 (SIGKILL)`."""
    number = exit_status(wait_status) or 0
    if number >= 0:
        return f"exited with status {number}"
    name = signal_name(-number)
    return f"killed by signal {-number}" + (f" ({name})" if name else "")


def signal_name(number: int) -> str:
    """`SIGKILL` for 9; empty for a signal without a name of its own, as real-time signals are."""
    import signal  # late: it makes enumerations of all signals, and few reports tell of one

    try:
        return signal.Signals(number).name
    except ValueError:
        return ""


def is_finished(end: str) -> bool:
    """Whether a stack with this end reaches the start of its thread."""
    return end in (COMPLETE, GUESSED, NOT_SAMPLED)
