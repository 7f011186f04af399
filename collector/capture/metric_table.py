"""metric_table -- the chosen metrics as a table for the library, one line each

The other side is libcollector_c/src/sample/metric_table.c. Words are separated by tabs; tabs, line ends and backslashes
in them are escaped, so that nothing a definition file holds can break the table.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator

from collector.capture.metric_choice import Choice, Offer, Plugin

FILE_NAME = "metrics.tsv"
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\0": ""})
_MOST_DESCRIPTION = 1000


def write_table(directory: str, choice: Choice, interval_ns: int) -> str:
    """Write the table into an experiment's directory and give its path. OSError if that cannot be done."""
    path = os.path.join(directory, FILE_NAME)
    with open(path, "x", encoding="utf-8", errors="surrogateescape") as file:
        file.writelines("\t".join(map(_encode, line)) + "\n" for line in iter_lines(choice, interval_ns, node_lock(directory)))
    return path


def iter_lines(choice: Choice, interval_ns: int, lock: str) -> Iterator[list[str]]:
    """The table's lines as words; a plugin's metrics name it by its place."""
    yield ["interval", str(interval_ns)]
    yield ["node", lock]
    for plugin in choice.plugins:
        source = plugin.source
        yield ["plugin", source.id, plugin.library, source.start, source.stop, str(int(plugin.is_per_node))]
    for place, plugin in enumerate(choice.plugins):
        for offer in plugin.offers:
            yield _metric_line(place, plugin, offer)


def node_lock(experiment: str) -> str:
    """Where the lock of this user's and experiment's only process on a node lies: in memory of the node, or its /tmp."""
    directory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else "/tmp"
    name = os.fsencode(os.path.abspath(experiment))
    return f"{directory}/collector-{os.getuid()}-{zlib.crc32(name):08x}{zlib.adler32(name):08x}"


def remove_node_lock(experiment: str) -> None:
    """Take the lock's file of this node away, if a killed process has left it."""
    try:
        os.unlink(f"{node_lock(experiment)}-{os.uname().nodename}")
    except OSError:
        pass


def _metric_line(place: int, plugin: Plugin, offer: Offer) -> list[str]:
    metric = offer.metric
    flags = "".join(letter for letter, is_set in zip("dnb", (metric.divided, metric.per_node, metric.backfill)) if is_set)
    attributes = {
        "type": metric.data_type,
        "divided": "1" if metric.divided else "",
        "per_node": "1" if metric.per_node else "",
        "backfill": "1" if metric.backfill else "",
        "title": metric.title,
        "description": metric.description[:_MOST_DESCRIPTION],
        "category": metric.category,
        "colour": metric.colour,
        "group": offer.group_id,
        "group_title": offer.group,
        "integral": metric.integral,
        "file": metric.file,
        "plugin": plugin.source.id,
    }
    words = ["metric", str(place), metric.id, metric.function, metric.data_type, flags or "-", metric.units, metric.custom_data]
    return words + [f"{name}={value}" for name, value in attributes.items() if value]


def _encode(word: str) -> str:
    return word.translate(_ESCAPES)
