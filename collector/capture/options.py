"""options -- what is asked of the recorder: from words of the command line to the text that libcollector parses

The other side of `RecorderOptions.encode` is libcollector_c/src/control/options.c.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Sequence

from collector.capture.rank import RankPeriods, parse_ranks
from collector.errors import UsageError
from collector.named_tuple import NamedTuple

CLOCKS = ("auto", "sigtrap", "task-clock", "cpu-timer")
DEFAULT_PERIOD_NS = 1_062_699
_NAMED_PERIODS_NS = {"on": DEFAULT_PERIOD_NS, "hi": 100_271, "lo": 10_309_279}
_SHORTEST_PERIOD_NS = 50_000
_LONGEST_PERIOD_NS = 10_000_000_000
_SAME_OFFSET_NS = 1_000_000  # as the recorder sees it (SAME_OFFSET_NS of control/introduction.c)


class RecorderOptions(NamedTuple):
    """COLLECTOR_OPTIONS, typed. Times are ns of CLOCK_MONOTONIC; None leaves a word out.

    Names are the words of the text, so that the two cannot differ.
    """

    clock: str = "auto"
    period: int = DEFAULT_PERIOD_NS
    sample_signal: int | None = None
    pause_signal: int | None = None
    paused: bool | None = None
    start: int | None = None
    end: int | None = None
    events: str | None = None
    counted: str | None = None
    faults: bool | None = None
    switches: bool | None = None
    waits: bool | None = None
    root: int | None = None
    ranks: str | None = None
    rank_periods: str | None = None
    monotonic_ahead: int | None = None
    boottime_ahead: int | None = None
    wall_offset: int | None = None
    boottime_offset: int | None = None

    def encode(self) -> str:
        """Give the text that libcollector parses: `name=value` joined by commas, true as 1."""
        values = zip(self._fields, self)
        return ",".join(f"{name}={value if isinstance(value, str) else int(value)}" for name, value in values if value is not None)


def read_clocks_ahead() -> tuple[int | None, int | None]:
    """By how much CLOCK_MONOTONIC and CLOCK_BOOTTIME are ahead of the machine's here, in ns; None if they are not. time_namespaces(7)."""
    try:
        with open("/proc/self/timens_offsets", encoding="utf-8") as file:
            rows = [line.split() for line in file]
    except OSError:
        return None, None
    ahead = {name: int(seconds) * 1_000_000_000 + int(ns) for name, seconds, ns in rows}
    return ahead.get("monotonic") or None, ahead.get("boottime") or None


def read_clock_offsets() -> tuple[int, int | None]:
    """By how much CLOCK_REALTIME and CLOCK_BOOTTIME are ahead of CLOCK_MONOTONIC here, in ns; None for one that is not."""
    before_ns = time.monotonic_ns()
    wall_ns, boottime_ns = time.time_ns(), time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    now_ns = (before_ns + time.monotonic_ns()) // 2
    boottime_offset = boottime_ns - now_ns
    return wall_ns - now_ns, boottime_offset if abs(boottime_offset) > _SAME_OFFSET_NS // 2 else None


class Window(NamedTuple):
    """The part of a run to record, in ns after its start; end_ns None: to the end of the run."""

    start_ns: int = 0
    end_ns: int | None = None


def parse_period(text: str, option: str = "-p") -> int | None:
    """Give the clock's period in ns for the -p of collect(1); None for off.

    on, hi and lo are 941, 9973 and 97 Hz: primes, so that nothing periodic keeps step with them.
    A bare number and `m` are milliseconds, `u` microseconds. UsageError for anything else.
    """
    if text == "off":
        return None
    if text in _NAMED_PERIODS_NS:
        return _NAMED_PERIODS_NS[text]
    number = text[:-1] if text.endswith(("u", "m")) else text
    if not _is_number(number):
        raise UsageError(f"{option} takes on, off, hi, lo or a period such as 2, 2m (milliseconds) or 500u (microseconds), not {text!r}")
    period_ns = round(float(number) * (1_000 if text.endswith("u") else 1_000_000))
    if not _SHORTEST_PERIOD_NS <= period_ns <= _LONGEST_PERIOD_NS:
        raise UsageError(f"{option} takes periods from 50u to 10000m, not {text!r}")
    return period_ns


def parse_rank_periods(texts: Sequence[str]) -> RankPeriods:
    """Give the periods that LIST=RATE of --rank-frequency mean, each RATE what -p takes. UsageError if one means none."""
    found = []
    for text in texts:
        ranks, equals, rate = text.partition("=")
        if not equals:
            raise UsageError(f"--rank-frequency takes ranks and their rate, such as 1-=lo or 0,8-15=hi, not {text!r}")
        found.append((parse_ranks(ranks, "--rank-frequency"), parse_period(rate, "--rank-frequency")))
    return RankPeriods(tuple(found))


def parse_interval(text: str) -> int | None:
    """Give the interval of periodic samples in ns for the -S of collect(1); None for off."""
    if text in ("on", "off"):
        return 1_000_000_000 if text == "on" else None
    interval_ns = _seconds(text, "-S takes on, off or a number of seconds")
    if interval_ns < 1_000_000:
        raise UsageError(f"-S takes at least 0.001 seconds, not {text!r}")
    return interval_ns


def parse_window(text: str) -> Window:
    """Give the window for the -t of collect(1): DURATION or START-END, each with s (default) or m (minutes) behind it.

    An END of 0 stands for the end of the run.
    """
    sentence = "-t takes DURATION or START-END in seconds, or in minutes with an m behind"
    start, dash, end = text.rpartition("-")
    if not dash:
        window = Window(0, _duration(text, sentence))
        if window.end_ns == 0:
            raise UsageError(f"-t with a duration of nothing would record nothing: {text!r}")
        return window
    window = Window(_duration(start, sentence), _duration(end, sentence) or None)
    if window.end_ns is not None and window.end_ns <= window.start_ns:
        raise UsageError(f"-t {text}: it ends before it starts")
    return window


def parse_signal(text: str, option: str) -> int:
    """Give the number of a signal written as USR1, SIGUSR1 or 10. UsageError if it cannot be caught or is none."""
    name = text.upper().removeprefix("SIG")
    number = int(text) if _is_whole(text) else signal.Signals.__members__.get(f"SIG{name}")
    if name.startswith("RTMIN+") and _is_whole(name.removeprefix("RTMIN+")):
        number = signal.SIGRTMIN + int(name.removeprefix("RTMIN+"))
    if number is None or number not in signal.valid_signals():
        raise UsageError(f"{option}: {text!r} is not a signal; give a name such as USR1 or a number")
    if number in (signal.SIGKILL, signal.SIGSTOP):
        raise UsageError(f"{option}: no program can catch {signal.Signals(number).name}; choose another signal, such as USR1")
    return int(number)


def parse_pause_signal(text: str) -> tuple[int, bool]:
    """Give (signal, starts paused) for the -y of collect(1): SIGNAL starts paused, SIGNAL,r recording."""
    name, comma, how = text.partition(",")
    if comma and how != "r":
        raise UsageError(f"-y takes SIGNAL or SIGNAL,r, not {text!r}")
    return parse_signal(name, "-y"), not comma


def parse_follow(text: str) -> str:
    """Give COLLECTOR_FOLLOW for the -F of collect(1): on, off or =REGEX (matched with the name of a descendant's program)."""
    if text in ("on", "off"):
        return text
    if len(text) > 1 and text[0] == "=":
        import re  # takes longer to import than all of the options to parse

        try:
            re.compile(text[1:])
        except re.error as error:
            raise UsageError(f"-F {text}: that is no regular expression ({error})") from None
        return text
    raise UsageError(f"-F takes on, off or =REGEX, not {text!r}")


def _duration(text: str, sentence: str) -> int:
    factor = 60 if text.endswith("m") else 1
    return factor * _seconds(text[:-1] if text.endswith(("m", "s")) else text, sentence)


def _seconds(text: str, sentence: str) -> int:
    if not _is_number(text):
        raise UsageError(f"{sentence}, not {text!r}")
    return round(float(text) * 1_000_000_000)


def _is_number(text: str) -> bool:
    """Digits, and perhaps a point somewhere among them."""
    whole, _, part = text.partition(".")
    return _is_whole(whole + part)


def _is_whole(text: str) -> bool:
    return text.isascii() and text.isdigit()
