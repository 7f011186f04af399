"""test_origin -- which file names are those of logs, and whose"""

from __future__ import annotations

import pytest

from collector.experiment.origin import LAUNCHER, Origin, parse_log_name


@pytest.mark.parametrize(("name", "origin"), [("4711.0.log", Origin(4711, 0)), ("1.12.log", Origin(1, 12)), ("launch.log", LAUNCHER)])
def test_names_of_logs(name: str, origin: Origin) -> None:
    assert parse_log_name(name) == origin and f"{origin}.log" == name


@pytest.mark.parametrize("name", [
    "", ".log", "1.log", ".1.log", "1..log", "1.0", "1.0.log.log", "1.0.0.log", "-1.0.log", "1.+0.log", "1_0.0.log", " 1.0.log", "1.0.log\n",
    "a.0.log", "\u0661.0.log", "1.\u00b2.log", "4.no-log.27", "1.0.tsv", f"1.{40 * '1'}.log",
])  # fmt: skip
def test_other_names(name: str) -> None:
    assert parse_log_name(name) is None
