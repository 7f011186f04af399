"""test_metric_interval -- what --metric-interval takes"""

from __future__ import annotations

import pytest

from collector.cli.recording.metrics import parse_metric_interval
from collector.errors import UsageError


@pytest.mark.parametrize(("text", "interval_ns"), [("off", None), ("1", 1_000_000), ("2.5", 2_500_000), ("10.", 10_000_000), ("3600000", 3_600_000_000_000)])
def test_it_is_a_number_of_milliseconds(text: str, interval_ns: int | None) -> None:
    assert parse_metric_interval(text) == interval_ns


@pytest.mark.parametrize("text", ["", ".", "0", ".5", "-1", "+5", "1e3", "1.2.3", " 5", "5\n", "1_000", "inf", "nan", "0x10", "३", "²", "3600001", "9" * 400])
def test_what_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="takes milliseconds"):
        parse_metric_interval(text)
