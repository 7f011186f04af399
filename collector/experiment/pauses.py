"""pauses -- when a process was not recorded: the pauses that its log tells, and what lies outside the window of `record -t`"""

from __future__ import annotations

from collections.abc import Iterable

Pause = tuple[str, int, int | None]
"""Cause (PauseCause in lower case), start and end in ns of CLOCK_MONOTONIC; no end if recording never went on."""


def merge_pauses(pauses: Iterable[Pause], options: Iterable[str], begin_ns: int, last_ns: int, shift_ns: int = 0) -> list[Pause]:
    """All spans of a log, from `begin_ns` to `last_ns`, in which nothing was recorded, in order and without overlaps.

    `options` are those of INITIALIZE: a window is not told by events, but known from the start; all other times are so much later than its clock.
    """
    merged: list[Pause] = []
    for cause, start_ns, end_ns in sorted([*pauses, *_outside_window(options, begin_ns, last_ns, shift_ns)], key=lambda span: span[1]):
        before_end_ns = merged[-1][2] if merged else -1
        if before_end_ns is not None and start_ns > before_end_ns:
            merged.append((cause, start_ns, end_ns))
        elif before_end_ns is not None and (end_ns is None or end_ns > before_end_ns):
            merged[-1] = (*merged[-1][:2], end_ns)
    return merged


def paused_ns(pauses: Iterable[Pause], last_ns: int) -> int:
    """The time of merged pauses up to `last_ns`."""
    return sum(max(0, min(last_ns if end_ns is None else end_ns, last_ns) - start_ns) for _, start_ns, end_ns in pauses)


def _outside_window(options: Iterable[str], begin_ns: int, last_ns: int, shift_ns: int) -> list[Pause]:
    values = dict(option.partition("=")[::2] for option in options)
    start_ns, end_ns = (int(text) + shift_ns if text.isdecimal() else None for text in (values.get("start", ""), values.get("end", "")))
    spans: list[Pause] = []
    if start_ns is not None and start_ns > begin_ns:
        spans.append(("time", begin_ns, start_ns if start_ns < last_ns else None))
    if end_ns is not None and end_ns < last_ns:
        spans.append(("time", max(begin_ns, end_ns), None))
    return spans
