"""metrics -- the options of `collector record` that choose metrics, and the list of those there are"""

from __future__ import annotations

import os
from collections.abc import Sequence

from collector.capture.installation import Installation
from collector.capture.metric_choice import MetricSelection, MetricSet, choose_metrics
from collector.errors import UsageError
from collector.named_tuple import NamedTuple
from collector.printable import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

DEFAULT_INTERVAL_NS = 20_000_000
_SHORTEST_INTERVAL_NS = 1_000_000
_LONGEST_INTERVAL_NS = 3_600_000_000_000


class MetricPlan(NamedTuple):
    """Which metrics are to be recorded, and how often at first."""

    choice: MetricSet = MetricSet()
    interval_ns: int = DEFAULT_INTERVAL_NS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    add("--metrics", metavar="FILE|DIR", action="append", default=[],
        help="a metric definition file, or a directory of them, to record beside the built-in ones; may be repeated")
    add("--enable-metrics", metavar="ID,...", action="append", default=[], help="metrics to record that are not by default")
    add("--disable-metrics", metavar="ID,...", action="append", default=[], help="metrics not to record that are by default")
    add("--metric-interval", metavar="MS|off", default="20",
        help="how often metrics are read, in milliseconds; doubled after each 1000 readings; off: no metrics at all")
    add("--list-metrics", action="store_true", help="list the metrics there are, and run nothing")


def plan_metrics(args: argparse.Namespace, installation: Installation) -> MetricPlan:
    """Find and choose. UsageError if an option makes no sense; what is wrong with files is in the choice's problems."""
    interval_ns = parse_metric_interval(args.metric_interval)
    if interval_ns is None:
        return MetricPlan()
    selection = MetricSelection(tuple(args.metrics), _ids(args.enable_metrics), _ids(args.disable_metrics))
    return MetricPlan(choose_metrics(selection, os.environ, installation.metrics_dir, installation.recorder), interval_ns)


def parse_metric_interval(text: str) -> int | None:
    """The interval in ns; None for off."""
    if text == "off":
        return None
    whole, _, part = text.partition(".")
    is_number = text.isascii() and (whole + part).isdigit() and len(whole) <= 9
    interval_ns = round(float(text) * 1e6) if is_number else 0
    if not _SHORTEST_INTERVAL_NS <= interval_ns <= _LONGEST_INTERVAL_NS:
        raise UsageError(f"--metric-interval takes milliseconds from 1 to 3600000, or off, not {text!r}")
    return interval_ns


def list_metrics(choice: MetricSet) -> list[str]:
    """A table of all metrics that were found, as lines."""
    rows = [("ID", "NAME", "UNITS", "GROUP", "STATE", "FILE")]
    for offer in choice.offers:
        metric = offer.metric
        state = offer.state if offer.state in ("hidden", "broken") else f"{offer.state} ({metric.enabled})"
        rows.append((metric.id, metric.title, metric.units or "-", offer.group or "-", state, metric.file))
    shown = [tuple(map(printable, row)) for row in rows]
    widths = [max(len(row[column]) for row in shown) for column in range(len(shown[0]))]
    return ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths)).rstrip() for row in shown]


def _ids(lists: Sequence[str]) -> tuple[str, ...]:
    return tuple(word for text in lists for word in text.split(",") if word)
