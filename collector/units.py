"""units -- numbers as people read them: seconds, percent, counts, bytes, rates."""

from __future__ import annotations

from typing import Final

NS_PER_S: Final = 1_000_000_000
NS_PER_US: Final = 1_000


def seconds(ns: int | float) -> float:
    """Nanoseconds as seconds."""
    return ns / NS_PER_S


def format_seconds(value: float) -> str:
    """Seconds with three decimals and no unit: `12.345`. Never `-0.000`."""
    text = f"{value:.3f}"
    return "0.000" if text == "-0.000" else text


def format_percent(part: float, whole: float) -> str:
    """`part` of `whole` in percent with one decimal and no sign: `66.0`; `-` where there is no whole."""
    if whole <= 0:
        return "-"
    return f"{100 * part / whole:.1f}"


def format_count(value: int) -> str:
    """A count with its thousands set apart: `12,263`."""
    return f"{value:,}"


def format_bytes(value: int | float) -> str:
    """Bytes in the largest binary unit that leaves a number of at least 1: `17.3 MiB`."""
    if value < 0:
        return "-" + format_bytes(-value)
    if value < 1024:
        return f"{value:.0f} B"
    for unit in ("KiB", "MiB", "GiB", "TiB"):
        value /= 1024
        if value < 1023.95:
            break
    return f"{value:.1f} {unit}"


def format_rate(period_ns: int | float) -> str:
    """A period as the rate it stands for: 1,003,009 ns is `997 Hz`; `-` for no period."""
    if period_ns <= 0:
        return "-"
    rate = NS_PER_S / period_ns
    if rate < 10:
        return f"{rate:.3g} Hz"
    return f"{rate:,.0f} Hz"


def format_duration(value: float) -> str:
    """A span of time with its unit: `12.345 s`, `2 min 05 s`, `1 h 02 min`."""
    if value < 120:
        return f"{format_seconds(value)} s"
    whole = round(value)
    if whole < 7200:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600:,} h {whole % 3600 // 60:02d} min"


def plural(count: int, one: str, many: str | None = None) -> str:
    """`1 process`, `2 processes`: the count and the word that goes with it."""
    word = one if count == 1 else (many or one + "s")
    return f"{format_count(count)} {word}"
