"""units -- numbers as people read them: seconds, percent, counts, bytes, rates."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Final

NS_PER_S: Final = 1_000_000_000


def seconds(ns: int | float) -> float:
    """Nanoseconds as seconds."""
    return ns / NS_PER_S


_DIGITS: Final = 9
"""The decimals of figures that are looked at: what the order of a sum leaves behind them shall not decide how half a unit is rounded."""


def format_seconds(value: float) -> str:
    """Seconds with three decimals and no unit: `12.345`. Never `-0.000`."""
    text = f"{round(value, _DIGITS):.3f}"
    return "0.000" if text == "-0.000" else text


def format_amount(value: float, unit: str) -> str:
    """A figure of a metric: seconds, a part of a whole in percent, one thing per another, or a whole number."""
    if unit == "s":
        return format_seconds(value)
    return f"{100 * value:.1f}" if unit == "%" else f"{value:.2f}" if "/" in unit else format_count(round(value))


def format_amounts(values: Sequence[float], unit: str) -> list[str]:
    """The same of many values, as a long table has them."""
    if unit == "s":
        texts = [f"{round(value, _DIGITS):.3f}" for value in values]
        return list(map(format_seconds, values)) if "-0.000" in texts else texts
    if unit == "":
        return [f"{round(value):,}" for value in values]
    return [format_amount(value, unit) for value in values]


def format_percent(part: float, whole: float) -> str:
    """`part` of `whole` in percent with one decimal and no sign: `66.0`; `-` where there is no whole."""
    if whole <= 0:
        return "-"
    return f"{round(100 * part / whole, _DIGITS):.1f}"


def format_percents(parts: Sequence[float], whole: float) -> list[str]:
    """The same of many parts of one whole."""
    return [f"{round(100 * part / whole, _DIGITS):.1f}" for part in parts] if whole > 0 else ["-"] * len(parts)


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
    """A period as the rate it stands for: 1,062,699 ns is `941 Hz`; `-` for no period."""
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


def listed(words: Sequence[str]) -> str:
    """`a`, `a or b`, `a, b or c`."""
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def format_units(value: int | float | None, units: str) -> str:
    """A value of a metric with its units, rescaled where they are known: `17.3 MiB/s`, `1.25 ms`, `98.1 %`, `2.4 kW`."""
    if value is None:
        return ""
    if not isfinite(value) or abs(value) >= _BEYOND_PREFIXES:
        return f"{value:.3g} {units}".rstrip()
    if units in ("B", "B/s"):
        return format_bytes(value) + units[1:]
    if units == "%":
        return f"{value:.1f} %"
    if units in _SI_UNITS:
        factor, word = _SI_UNITS[units]
        return " ".join(_scale(value * factor, _PREFIXES, word))
    if units == "" or units.endswith("/s"):
        # Counts: thousands of what is counted have a prefix, parts of it have not.
        return " ".join(_scale(value, _PREFIXES[:5], units)).rstrip()
    return f"{value:,.6g} {units}"


_BEYOND_PREFIXES: Final = 1e18  # a plugin may give any number: written out it has up to 309 digits
_SI_UNITS: Final = {"ns": (1e-9, "s"), "s": (1.0, "s"), "J": (1.0, "J"), "W": (1.0, "W")}
_PREFIXES: Final = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"))


def _scale(value: float, prefixes: tuple[tuple[float, str], ...], word: str) -> tuple[str, str]:
    """Three digits that count, and the word with the prefix that goes with them."""
    size = abs(value)
    factor, prefix = next((pair for pair in prefixes if size >= pair[0] * 0.9995), prefixes[-1] if size else (1.0, ""))
    return f"{value / factor:.3g}" if size / factor < 999.5 else f"{value / factor:.0f}", prefix + word
