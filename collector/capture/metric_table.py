"""metric_table -- the chosen metrics as a table for the library, one line each, and as definitions for the launcher's log

The other side is libcollector_c/src/sample/metric_table.c. Words are separated by tabs; tabs, line ends and backslashes
in them are escaped, so that nothing a definition file holds can break the table.

What a metric's values mean is written by each process into its own log, so the library is told it. How a metric is to be
shown takes more room than a second of its values, and is the same in all processes: the launcher writes it, once.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from collector.capture.metric_choice import MetricSet, Offer
from collector.named_tuple import NamedTuple
from collector.regular_file import create_private

FILE_NAME = "metrics.tsv"
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\0": ""})
_MOST_DESCRIPTION = 1000
_FIRST_SOURCE = 2  # the clock is 1: as the library numbers them


class Definition(NamedTuple):
    """A metric as the log defines it (PMCALLOCATE): `source` is its id there, `detail` the library, `attributes` are `name=value`."""

    source: int
    name: str
    unit: str
    detail: str
    attributes: list[str]


def write_table(directory: str, choice: MetricSet, interval_ns: int) -> str:
    """Write the table into an experiment's directory and give its path. OSError if that cannot be done."""
    path = os.path.join(directory, FILE_NAME)
    with open(create_private(path), "w", encoding="utf-8", errors="surrogateescape") as file:
        file.writelines("\t".join(map(_encode, line)) + "\n" for line in iter_lines(choice, interval_ns))
    return path


def iter_lines(choice: MetricSet, interval_ns: int) -> Iterator[list[str]]:
    """The table's lines as words; a plugin's metrics name it by its place."""
    yield ["interval", str(interval_ns)]
    for plugin in choice.plugins:
        source = plugin.source
        yield ["plugin", source.id, plugin.library, source.start, source.stop, *(["built-in"] if plugin.is_built_in else [])]
    for place, plugin in enumerate(choice.plugins):
        for offer in plugin.offers:
            yield _metric_line(place, offer)


def definitions(choice: MetricSet) -> list[Definition]:
    """The chosen metrics in the order of the table, with all that is to be known of them."""
    chosen = [(plugin, offer) for plugin in choice.plugins for offer in plugin.offers]
    return [
        Definition(source, offer.metric.id, offer.metric.units, plugin.library, [*_meaning(offer), *_looks(offer)])
        for source, (plugin, offer) in enumerate(chosen, _FIRST_SOURCE)
    ]


def _metric_line(place: int, offer: Offer) -> list[str]:
    metric = offer.metric
    flags = "".join(letter for letter, is_set in zip("dnb", (metric.divided, metric.per_node, metric.backfill)) if is_set)
    words = ["metric", str(place), metric.id, metric.function, metric.data_type, flags or "-", metric.units, metric.custom_data]
    return words + _meaning(offer)


def _meaning(offer: Offer) -> list[str]:
    metric = offer.metric
    return _attributes(
        type=metric.data_type,
        divided="1" if metric.divided else "",
        per_node="1" if metric.per_node else "",
        backfill="1" if metric.backfill else "",
        integral=metric.integral,
    )


def _looks(offer: Offer) -> list[str]:
    metric = offer.metric
    return _attributes(
        title=metric.title,
        description=metric.description[:_MOST_DESCRIPTION],
        category=metric.category,
        colour=metric.colour,
        group=offer.group_id,
        group_title=offer.group,
        file=metric.file,
    )


def _attributes(**values: str) -> list[str]:
    return [f"{name}={value}" for name, value in values.items() if value]


def _encode(word: str) -> str:
    return word.translate(_ESCAPES)
