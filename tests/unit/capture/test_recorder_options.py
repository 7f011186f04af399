"""test_recorder_options -- words of the command line become what the recorder is told"""

from __future__ import annotations

import signal
import time

import pytest

from collector.capture import options
from collector.errors import UsageError


@pytest.mark.parametrize(
    ("text", "period_ns"),
    [
        ("on", 1_062_699),
        ("hi", 100_271),
        ("lo", 10_309_279),
        ("off", None),
        ("2", 2_000_000),
        ("2m", 2_000_000),
        ("1.5", 1_500_000),
        (".5m", 500_000),
        ("500u", 500_000),
        ("50u", 50_000),
        ("10000", 10_000_000_000),
    ],
)
def test_period(text: str, period_ns: int | None) -> None:
    assert options.parse_period(text) == period_ns


@pytest.mark.parametrize("rate", ["on", "hi", "lo"])
def test_named_rates_are_primes_in_hertz(rate: str) -> None:
    """A prime rate keeps step with nothing that beats in whole milliseconds."""
    hertz = round(1e9 / (options.parse_period(rate) or 0))
    assert all(hertz % divisor for divisor in range(2, hertz))


@pytest.mark.parametrize("cycle_ms", [1, 2, 3, 4, 5, 6, 8, 10, 20])
def test_the_usual_rate_comes_at_all_points_of_a_cycle(cycle_ms: int) -> None:
    """A tenth of a cycle gets a tenth of the samples, within one in ten, when the cycle has come 34 times: a beat would need a thousand."""
    period_ns = options.parse_period("on") or 0
    points = sorted(cycle_ms * 1_000_000 * number % period_ns / period_ns for number in range(34))
    assert max(max((i + 1) / 34 - point, point - i / 34) for i, point in enumerate(points)) < 0.11


@pytest.mark.parametrize("text", ["", "x", "-1", "0", "49u", "10001", "1s", "1e3", "nan", "on,", "٣"])
def test_bad_period(text: str) -> None:
    with pytest.raises(UsageError, match="-p takes"):
        options.parse_period(text)


@pytest.mark.parametrize(
    ("texts", "periods_ns", "encoded"),
    [
        (["1-=lo"], [1, 10_309_279, 10_309_279], "1-:10309279"),
        (["0-=2m", "0,2=off"], [None, 2_000_000, None], "0-:2000000;0+2:0"),
        (["2=off", "0-=hi"], [100_271] * 3, "2:0;0-:100271"),
        ([], [1, 1, 1], ""),
    ],
)
def test_periods_of_ranks(texts: list[str], periods_ns: list[int | None], encoded: str) -> None:
    """The last one that names a rank counts; 1 stands for what -p says."""
    periods = options.parse_rank_periods(texts)
    assert [periods.of(rank, 1) for rank in range(3)] == periods_ns
    assert periods.encode() == encoded


@pytest.mark.parametrize("text", ["", "lo", "0-", "0-=", "=lo", "x=lo", "0=1s"])
def test_bad_periods_of_ranks(text: str) -> None:
    with pytest.raises(UsageError, match="--rank-frequency takes"):
        options.parse_rank_periods([text])


@pytest.mark.parametrize(("text", "interval_ns"), [("on", 10**9), ("off", None), ("3", 3 * 10**9), ("0.25", 250_000_000)])
def test_interval(text: str, interval_ns: int | None) -> None:
    assert options.parse_interval(text) == interval_ns


@pytest.mark.parametrize("text", ["", "often", "-1", "0", "0.0001"])
def test_bad_interval(text: str) -> None:
    with pytest.raises(UsageError, match="-S takes"):
        options.parse_interval(text)


@pytest.mark.parametrize(
    ("text", "start_s", "end_s"),
    [("5", 0, 5), ("5s", 0, 5), ("2m", 0, 120), ("1-3", 1, 3), ("30s-1m", 30, 60), ("0.5-1.5", 0.5, 1.5), ("3-0", 3, None)],
)
def test_window(text: str, start_s: float, end_s: float | None) -> None:
    window = options.parse_window(text)
    assert window.start_ns == start_s * 1e9
    assert window.end_ns == (None if end_s is None else end_s * 1e9)


@pytest.mark.parametrize("text", ["", "x", "-5", "5-", "3-2", "3-3", "0", "1h", "1-2-3"])
def test_bad_window(text: str) -> None:
    with pytest.raises(UsageError, match="-t"):
        options.parse_window(text)


@pytest.mark.parametrize(
    ("text", "number"),
    [("USR1", signal.SIGUSR1), ("SIGUSR2", signal.SIGUSR2), ("usr1", signal.SIGUSR1), ("10", 10), ("RTMIN+3", signal.SIGRTMIN + 3)],
)
def test_signal(text: str, number: int) -> None:
    assert options.parse_signal(text, "-l") == number


@pytest.mark.parametrize("text", ["", "NOSUCH", "0", "65", "SIG_DFL", "_IGN", "RTMIN+99", "KILL", "9", "STOP", "-1"])
def test_bad_signal(text: str) -> None:
    with pytest.raises(UsageError, match="^-l"):
        options.parse_signal(text, "-l")


def test_pause_signal_says_how_to_begin() -> None:
    assert options.parse_pause_signal("USR1") == (signal.SIGUSR1, True)
    assert options.parse_pause_signal("USR1,r") == (signal.SIGUSR1, False)
    with pytest.raises(UsageError):
        options.parse_pause_signal("USR1,x")


@pytest.mark.parametrize("text", ["on", "off", "=cc1.*", "=^(a|b)$"])
def test_follow(text: str) -> None:
    assert options.parse_follow(text) == text


@pytest.mark.parametrize("text", ["", "=", "yes", "=(", "cc1"])
def test_bad_follow(text: str) -> None:
    with pytest.raises(UsageError, match="-F"):
        options.parse_follow(text)



def test_encode_leaves_out_what_was_not_asked() -> None:
    assert options.RecorderOptions().encode() == "clock=auto,period=1062699"


def test_encode_all() -> None:
    everything = options.RecorderOptions("sigtrap", 500_000, 10, 12, True, 5, 7, "1.2.101.page-faults", "0.0.0.cycles", True, True, True, 42)
    assert everything.encode() == (
        "clock=sigtrap,period=500000,sample_signal=10,pause_signal=12,paused=1,start=5,end=7,events=1.2.101.page-faults,counted=0.0.0.cycles,faults=1,switches=1,waits=1,root=42"
    )


def test_encode_clocks_that_are_ahead_or_behind() -> None:
    assert options.RecorderOptions(monotonic_ahead=-5, boottime_ahead=7).encode().endswith(",monotonic_ahead=-5,boottime_ahead=7")


def test_clock_offsets() -> None:
    wall_offset, boottime_offset = options.read_clock_offsets()
    assert abs(time.time_ns() - time.monotonic_ns() - wall_offset) < 100_000_000
    assert abs(time.clock_gettime_ns(time.CLOCK_BOOTTIME) - time.monotonic_ns() - (boottime_offset or 0)) < 100_000_000


def test_every_word_is_known_to_the_recorder(repository) -> None:  # type: ignore[no-untyped-def]
    """The other side parses the same words."""
    parser = "".join(path.read_text() for path in (repository / "libcollector_c/src").glob("*/*.c"))
    for name in options.RecorderOptions._fields:
        assert f'"{name}"' in parser
    for clock in options.CLOCKS:
        assert f'"{clock}"' in parser
