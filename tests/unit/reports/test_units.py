"""test_units -- numbers as people read them"""

from __future__ import annotations

import pytest

from collector import units


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (units.format_seconds(1.23456), "1.235"),
        (units.format_seconds(-0.0001), "0.000"),
        (units.format_percent(1, 3), "33.3"),
        (units.format_percent(1, 0), "-"),
        (units.format_count(12263), "12,263"),
        (units.format_bytes(0), "0 B"),
        (units.format_bytes(1023), "1023 B"),
        (units.format_bytes(1024), "1.0 KiB"),
        (units.format_bytes(1024 * 1024 - 1), "1.0 MiB"),
        (units.format_bytes(5 << 40), "5.0 TiB"),
        (units.format_bytes(5 << 50), "5120.0 TiB"),
        (units.format_bytes(-2048), "-2.0 KiB"),
        (units.format_rate(1_062_699), "941 Hz"),
        (units.format_rate(4_000_000), "250 Hz"),
        (units.format_rate(1_000_000_000), "1 Hz"),
        (units.format_rate(0), "-"),
        (units.format_duration(12.3456), "12.346 s"),
        (units.format_duration(125), "2 min 05 s"),
        (units.format_duration(3725 * 3), "3 h 06 min"),
        (units.plural(1, "process", "processes"), "1 process"),
        (units.plural(2000, "process", "processes"), "2,000 processes"),
        (units.plural(0, "sample"), "0 samples"),
    ],
)
def test_numbers_read_well(given: str, text: str) -> None:
    assert given == text


def test_words_of_which_one_is_meant() -> None:
    assert [units.listed(words) for words in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == ["", "a", "a or b", "a, b or c"]


@pytest.mark.parametrize("unit", ["s", "%", "bytes/s", "", "bytes"])
def test_many_figures_are_written_as_each_of_them(unit: str) -> None:
    values = [0.0, 0.0004, 1.0005, 2.5, 12345.678]
    for written in (values, [*values, -0.0001, -0.0]):
        assert units.format_amounts(written, unit) == [units.format_amount(value, unit) for value in written]


@pytest.mark.parametrize("whole", [3.0, 0.0, -1.0])
def test_many_shares_are_written_as_each_of_them(whole: float) -> None:
    parts = [0.0, 1.0, 2.5]
    assert units.format_percents(parts, whole) == [units.format_percent(part, whole) for part in parts]


def test_the_order_of_a_sum_does_not_show() -> None:
    ways = 1.3344999999999996, 1.3345, 1.3345000000000005
    assert len({units.format_seconds(way) for way in ways}) == len(set(units.format_amounts(ways, "s"))) == 1
    shares = 0.0005 - 1e-18, 0.0005, 0.0005 + 1e-18
    assert len({units.format_percent(share, 1) for share in shares}) == len(set(units.format_percents(shares, 1))) == 1


@pytest.mark.parametrize("unit", ["%", "B", "B/s", "ns", "J", "calls/s", "", "widgets"])
@pytest.mark.parametrize("value", [1e308, -1e308, float("inf"), 2**64 * 1000])
def test_any_number_of_a_plugin_is_short(value: float, unit: str) -> None:
    assert len(units.format_units(value, unit)) <= len("-1.23e+308 ") + len(unit)


def test_what_has_a_prefix_keeps_it() -> None:
    assert units.format_units(9.5e17, "W") == "950000 TW"
    assert units.format_units(2**59, "B") == "524288.0 TiB"
