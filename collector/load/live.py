"""live -- an experiment while it is being written: at each look the profile of what came since the last

All that logs say of processes, threads and memory is kept from look to look. Samples are not: a look costs as much as what is new.
"""

from __future__ import annotations

import os
from collections import defaultdict
from dataclasses import replace

from collector.analysis import open_analysis
from collector.analysis.seam import Analysis
from collector.experiment.directory import LogFile
from collector.experiment.follow import FollowedExperiment
from collector.experiment.samples import PcSampleBlock
from collector.load.loader import Loader
from collector.load.log_facts import GrowingFacts, LogFacts
from collector.load.waits import Waits
from collector.profile.model import Profile
from collector.symbols.symbolizer import Symbolizer
from collector.target.process import LoggedProcess


class LiveExperiment:
    """An experiment that is watched. ExperimentNotFoundError or ExperimentError by `look` if there is nothing to be read."""

    def __init__(self, path: str | os.PathLike[str], symbolizer: Symbolizer) -> None:
        self._path = os.fspath(path)
        self._symbolizer = symbolizer
        self._followed = FollowedExperiment(path)
        self._logs: dict[str, GrowingFacts] = {}
        self._blocks: dict[str, list[PcSampleBlock]] = {}

    @property
    def is_over(self) -> bool:
        """Whether every process has ended, and all that it wrote was seen."""
        return self._followed.is_over

    def look(self) -> Profile:
        """The samples since the last look; processes, threads, losses and metrics from the beginning on. No sample is scaled to the kernel's account."""
        self._blocks = defaultdict(list)
        for log, record in self._followed.poll():
            if log is None:
                continue
            growing = self._logs.setdefault(log.path, GrowingFacts(log))
            growing.facts.points.clear()  # nobody asks for them, and there are more every second
            growing.add(record)
            if isinstance(record, PcSampleBlock):
                self._blocks[log.path].append(record)
        loader = Loader(self._symbolizer, open_analysis(), read=self._read, read_waits=self._read_waits)
        loader.add(self._path)
        return loader.finish()

    def _read_waits(self, log: LogFile) -> Waits:
        """Without the samples: they are those of the time since a thread was last asked for, not of that since the last look."""
        return Waits(self._logs.setdefault(log.path, GrowingFacts(log)).so_far())

    def _read(self, log: LogFile, analysis: Analysis) -> LogFacts:
        facts = self._logs.setdefault(log.path, GrowingFacts(log)).so_far()
        number = analysis.begin(log)
        heads = [analysis.add_block(number, block) for block in self._blocks.get(log.path, ())]
        return replace(facts, number=number, heads=heads, process=facts.process and _without_accounts(facts.process))


def _without_accounts(process: LoggedProcess) -> LoggedProcess:
    """Of a thread that has ended the kernel's account is known, but here are only its last samples."""
    threads = [thread._replace(user_ns=None, system_ns=None) for thread in process.threads]
    return process._replace(threads=tuple(threads))
