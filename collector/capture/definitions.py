"""definitions -- what a metric definition file says, as values; problems are sentences beside them"""

from __future__ import annotations

from collector.named_tuple import NamedTuple


class MetricDefinition(NamedTuple):
    """One <metric>. `divided` is divideBySampleTime; `integral` the id of the metric that is its integral, or empty."""

    id: str
    file: str
    line: int
    source: str
    function: str
    data_type: str
    units: str = ""
    enabled: str = "default_yes"
    per_node: bool = False
    backfill: bool = False
    divided: bool = False
    custom_data: str = ""
    title: str = ""
    description: str = ""
    category: str = "other"
    colour: str = ""
    integral: str = ""


class MetricGroupDefinition(NamedTuple):
    """One <metricGroup>: metrics that are shown together."""

    id: str
    title: str
    description: str
    metrics: tuple[str, ...]


class SourceDefinition(NamedTuple):
    """One <source>: a library by its name, libraries to preload, and optional functions (empty: none)."""

    id: str
    file: str
    line: int
    library: str
    preloads: tuple[str, ...] = ()
    start: str = ""
    stop: str = ""


class DefinitionFile(NamedTuple):
    """What is good of a file, and a sentence (file:line: reason) for each thing that is not."""

    path: str
    metrics: tuple[MetricDefinition, ...] = ()
    groups: tuple[MetricGroupDefinition, ...] = ()
    sources: tuple[SourceDefinition, ...] = ()
    problems: tuple[str, ...] = ()
