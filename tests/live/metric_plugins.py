"""metric_plugins -- plugins compiled from tests/targets, definition files written for them, and what came of a recording with them"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import pytest
from recorded import ROOT, TARGETS, Recorded

from collector.experiment.events import Message, Metric, PmcAllocate
from collector.experiment.merge import events
from collector.profile.metric_series import MetricSeries


@dataclass(frozen=True)
class Define:
    """One metric of a definition file; `function` is its id if not given."""

    id: str
    function: str = ""
    type: str = "uint64_t"
    units: str = ""
    divided: bool = False
    per_node: bool = False
    backfill: bool = False
    custom: str = ""
    enabled: str = ""
    display: str = ""


@dataclass(frozen=True)
class Source:
    """The source of a definition file."""

    library: str
    start: str = ""
    stop: str = ""
    preloads: tuple[str, ...] = field(default=())


def definition_text(metrics: Iterable[Define], source: Source) -> str:
    """A definition file."""
    lines = ['<metricdefinitions version="1">']
    for metric in metrics:
        attributes = f"ref='src' functionName={quoteattr(metric.function or metric.id)}"
        attributes += ' divideBySampleTime="true"' * metric.divided + (f" customData={quoteattr(metric.custom)}" if metric.custom else "")
        lines += [
            f"<metric id={quoteattr(metric.id)}>", f"<enabled>{metric.enabled}</enabled>" if metric.enabled else "",
            f"<units>{escape(metric.units)}</units>", f"<dataType>{metric.type}</dataType>", "<domain>time</domain>",
            "<onePerNode>true</onePerNode>" * metric.per_node, "<backfill>true</backfill>" * metric.backfill,
            f"<source {attributes}/>", f"<display>{metric.display}</display>" if metric.display else "", "</metric>",
        ]
    functions = "".join(f"<{name}>{value}</{name}>" for name, value in (("start", source.start), ("stop", source.stop)) if value)
    lines += [f"<source id='src'><sharedLibrary>{source.library}</sharedLibrary>"]
    lines += [f"<preload>{name}</preload>" for name in source.preloads]
    return "\n".join([*lines, f"<functions>{functions}</functions></source></metricdefinitions>"])


def compile_plugin(source: Path, output: Path, *flags: str, compiler: str = "gcc") -> Path:
    """Compile a plugin against our headers alone; it links with nothing of ours."""
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    done = subprocess.run(
        [compiler, "-shared", "-fPIC", "-O1", *flags, f"-I{ROOT}/libcollector_c/include", source, "-o", output], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return output


class MetricRun:
    """A recording with a plugin: its metrics' readings, and what was said."""

    def __init__(self, recorded: Recorded) -> None:
        self.recorded = recorded
        self.stdout = recorded.outcome.stdout
        self.stderr = recorded.outcome.stderr
        found = list(events(recorded.path))
        self.definitions = {(e.origin, e.source): e for e in found if isinstance(e, PmcAllocate) and e.clock == "plugin"}
        self.messages = [e for e in found if isinstance(e, Message)]
        self._metrics = [e for e in found if isinstance(e, Metric)]

    def readings(self, identifier: str) -> list[Metric]:
        """The METRIC events of one metric, in the order of time."""
        return [e for e in self._metrics if self.definitions[e.origin, e.source].name == identifier]

    def values(self, identifier: str) -> list[int | float]:
        """Its readings' values."""
        return [e.value for e in self.readings(identifier)]  # type: ignore[misc]

    def texts(self) -> list[str]:
        """What was said, each sentence once, with its subject before it; but for what is said of the clock where other processes take the processor all the time."""
        said = [e for e in self.messages if "threads were switched" not in str(e.text)]
        return list(dict.fromkeys(f"{e.subject}: {e.text}" if e.subject else str(e.text) for e in said))

    def series(self, identifier: str) -> list[MetricSeries]:
        """The series of one metric in the profile."""
        return [series for series in self.recorded.profile.series if series.metric.id == identifier]


@pytest.fixture
def run_with(record: Callable[..., Recorded], compiled: Callable[..., Path], tmp_path: Path) -> Callable[..., MetricRun]:
    """run_with("metric_x.c", [Define(...)]) compiles a plugin, writes its definition file, and records metric_load with it."""

    def run(
        plugin: str,
        metrics: Iterable[Define],
        *flags: str,
        command: tuple[object, ...] = (),
        options: tuple[object, ...] = (),
        start: str = "",
        stop: str = "",
        **how: object,
    ) -> MetricRun:
        library = compile_plugin(TARGETS / plugin, tmp_path / "plugin.so", *flags)
        (tmp_path / "plugin.xml").write_text(definition_text(metrics, Source(library.name, start, stop)))
        words = ["--metrics", tmp_path / "plugin.xml", *options]
        return MetricRun(record([*(command or (compiled("metric_load.c"), 300))], words, **how))

    return run
