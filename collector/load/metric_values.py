"""metric_values -- from rows of readings and the definitions in the log to series of readings"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from operator import attrgetter

from collector.experiment.events import PmcAllocate
from collector.experiment.records import MetricRecord
from collector.load.log_facts import LogFacts
from collector.profile.metric_series import MetricSeries, PluginMetric

_WORDS = ("colour", "group", "group_title", "description", "integral", "file")


def series_of(experiment: int, process: int | None, facts: LogFacts, launch: LogFacts | None) -> Iterator[MetricSeries]:
    """The series of one process image, or of the launcher, in the order of the metrics' ids in its log; without those that gave nothing.

    How they are to be shown is in the launcher's log, once for all processes.
    """
    if not facts.rows:
        return
    attributes, integrals = _definitions(facts, launch)
    readings = _by_source(facts.rows)
    for source, event in sorted(facts.metrics.items()):
        if source in readings:
            times, intervals, values = zip(*readings[source])
            yield MetricSeries(
                _metric_of(event, attributes[source], integrals),
                process,
                times,
                intervals,
                values,
                experiment,
                (facts.initialize.host or "") if facts.initialize else "",
            )


def kinds_of(facts: LogFacts, launch: LogFacts | None) -> dict[int, str]:
    """The kind of each metric in a log, by its id: that of `PluginMetric`."""
    attributes, integrals = _definitions(facts, launch)
    return {source: _metric_of(event, attributes[source], integrals).kind for source, event in facts.metrics.items()}


def _definitions(facts: LogFacts, launch: LogFacts | None) -> tuple[dict[int, dict[str, str]], set[str]]:
    """The attributes of each metric in a log, and the metrics that others name as their integrals."""
    looks = {event.name: _attributes_of(event) for event in launch.metrics.values()} if launch else {}
    attributes = {source: looks.get(event.name, {}) | _attributes_of(event) for source, event in facts.metrics.items()}
    integrals = {values["integral"] for values in (*looks.values(), *attributes.values()) if "integral" in values}
    return attributes, integrals


def _by_source(rows: Iterable[MetricRecord]) -> dict[int, list[tuple[int, int, float | int]]]:
    """The time, the interval and the value of each reading, in the order of time."""
    readings: dict[int, list[tuple[int, int, float | int]]] = {}
    for row in sorted(rows, key=attrgetter("time")):
        time_ns, interval_ns = row.time, row.interval_ns or 0
        for source, value in enumerate(row.values, row.source or 0):
            if value is not None:
                readings.setdefault(source, []).append((time_ns, interval_ns, value or 0))
    return readings


def _attributes_of(event: PmcAllocate) -> dict[str, str]:
    return _pairs_of(event.attributes or ())


@lru_cache(maxsize=1024)  # thousands of processes define the same metrics
def _pairs_of(attributes: tuple[str, ...]) -> dict[str, str]:
    return dict(text.partition("=")[::2] for text in attributes)


def _metric_of(event: PmcAllocate, attributes: dict[str, str], integrals: set[str]) -> PluginMetric:
    name = event.name or ""
    return PluginMetric(
        id=name,
        title=attributes.get("title") or name,
        units=event.unit or "",
        kind="rate" if attributes.get("divided") == "1" else "total" if name in integrals else "level",
        category=attributes.get("category") or "other",
        per_node=attributes.get("per_node") == "1",
        **{word: attributes.get(word, "") for word in _WORDS},
    )
