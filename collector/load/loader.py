"""loader -- reads the logs of experiments one after the other and joins them into one profile"""

from __future__ import annotations

import os
from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import repeat

from collector.errors import ExperimentError
from collector.experiment.directory import ExperimentDirectory, LogFile, open_directory
from collector.experiment.log_records import iter_records
from collector.experiment.samples import PcSampleBlock
from collector.load.call_paths import PathBuilder
from collector.load.image_places import ImagePlaces
from collector.load.jit_sources import add_jit_sources
from collector.load.log_facts import LogFacts, read_facts, word_of
from collector.load.metric_values import series_of
from collector.load.naming import PlaceTable
from collector.load.recording import process_of, recording_of
from collector.load.stack_workers import StackWorkers
from collector.load.stacks import StackTranslator
from collector.load.threads import ThreadLives, balanced, thread_of, unsampled_ns
from collector.profile import model
from collector.profile.metric_series import MetricSeries
from collector.profile.samples import sum_blocks
from collector.symbols.symbolizer import Symbolizer

Progress = Callable[[int, int, str], None]


class Loader:
    """`add` every experiment, then `finish`."""

    def __init__(self, symbolizer: Symbolizer, progress: Progress | None = None, workers: StackWorkers | None = None) -> None:
        self._symbolizer = symbolizer
        self._workers = workers
        self._progress = progress
        self._places = PlaceTable(symbolizer)
        self._paths = PathBuilder()
        self._recordings: list[model.Recording] = []
        self._processes: list[model.Process] = []
        self._threads: list[model.Thread] = []
        self._blocks: list[model.SampleBlock] = []
        self._points: list[model.SamplePoint] = []
        self._losses: list[model.Loss] = []
        self._messages: list[model.Message] = []
        self._pauses: list[model.Pause] = []
        self._unrecorded: list[model.Unrecorded] = []
        self._series: list[MetricSeries] = []

    def add(self, path: str) -> None:
        """Read an experiment. ExperimentNotFoundError or ExperimentError if there is nothing to be read."""
        directory = open_directory(path)
        experiment = len(self._recordings)
        launch, logs = self._read_facts(directory, experiment)
        self._recordings.append(recording_of(path, launch, logs))
        for text in add_jit_sources(directory.objects_path, logs):
            self._messages.append(model.Message(experiment, 1, text))
        ended: dict[int, LogFacts] = {}
        done_bytes, all_bytes = 0, sum(facts.size_bytes for facts in logs)
        for facts in logs:
            process = process_of(experiment, facts, ended.get(facts.log.origin.pid), launch)
            ended[facts.log.origin.pid] = facts
            self._series += series_of(len(self._processes), facts, launch)
            self._add_process(directory, facts, process, partial(self._tell, facts, done_bytes, all_bytes))
            done_bytes += facts.size_bytes
        for facts in [launch, *logs] if launch else logs:
            self._add_points(experiment, facts)
            self._add_losses(experiment, facts)

    def finish(self) -> model.Profile:
        """Name all places, add up all samples."""
        modules, functions, frames = self._places.name_all(self._progress)
        warnings = tuple(model.Message(0, 1, text) for text in self._symbolizer.warnings)
        return model.Profile(
            recordings=tuple(self._recordings),
            modules=modules,
            functions=functions,
            frames=frames,
            paths=self._paths.finish(),
            processes=tuple(self._processes),
            threads=tuple(self._threads),
            blocks=tuple(self._blocks),
            cells=sum_blocks(self._blocks, self._threads),
            points=tuple(self._points),
            losses=tuple(self._losses),
            messages=(*self._messages, *warnings),
            pauses=tuple(self._pauses),
            codes=tuple(self._places.codes),
            unrecorded=tuple(self._unrecorded),
            series=tuple(self._series),
        )

    def _tell(self, facts: LogFacts, done_bytes: int, all_bytes: int, offset: int) -> None:
        if self._progress is not None:
            done = min(done_bytes + offset, all_bytes)
            self._progress(done, all_bytes, f"reading {os.path.basename(facts.log.path)}")

    def _read_facts(self, directory: ExperimentDirectory, experiment: int) -> tuple[LogFacts | None, list[LogFacts]]:
        launch = None
        logs = []
        failures: list[tuple[LogFile, ExperimentError]] = []
        for log in directory.all_logs:
            try:
                facts = read_facts(log)
            except ExperimentError as error:
                failures.append((log, error))
                continue
            if log is directory.launch_log:
                launch = facts
            else:
                logs.append(facts)
        if failures and not logs:
            raise failures[0][1]
        for log, failure in failures:
            self._messages.append(model.Message(experiment, 2, str(failure), subject=os.path.basename(log.path)))
        return launch, logs

    def _add_process(
        self, directory: ExperimentDirectory, facts: LogFacts, process: model.Process, tell: Callable[[int], None]
    ) -> None:
        index = len(self._processes)
        self._processes.append(process)
        for cause, start_ns, end_ns in facts.pauses:
            self._pauses.append(model.Pause(index, cause, start_ns, end_ns))
        first_thread = len(self._threads)
        lives = ThreadLives(facts.threads, first_thread)
        self._threads += [thread_of(index, thread, process) for thread in facts.threads]
        places = ImagePlaces(self._places, facts.space, directory.objects_path)
        translator = StackTranslator(self._paths, self._places, places)
        sampled: Counter[int] = Counter()
        blocks = _iter_blocks(facts.log)
        read_blocks = self._workers.read(blocks, facts.size_bytes) if self._workers else zip(blocks, repeat(None))
        for block, read in read_blocks:
            tell(block.log_offset)
            thread = lives.at(block.thread, block.time)
            stacks = translator.translate(block, read)
            sampled[thread] += block.user_ns + block.system_ns
            self._blocks.append(
                model.SampleBlock(thread, block.time, block.unit_ns, block.times, stacks, (block.user, block.system))
            )
        for position, thread in enumerate(facts.threads, first_thread):
            self._threads[position] = balanced(self._threads[position], process, sampled[position], facts.has_gaps)
            if not sampled[position] and not facts.has_gaps:
                self._add_unsampled(position, process, thread.start_address or facts.entry_address, translator)

    def _add_unsampled(self, position: int, process: model.Process, address: int | None, translator: StackTranslator) -> None:
        """Give a thread that ended before its first tick a sample that stands for its CPU time."""
        thread = self._threads[position]
        values = unsampled_ns(thread, process)
        if values is None:
            return
        time_ns = thread.end_ns or thread.start_ns
        stack = translator.start_only(address, time_ns)
        columns = tuple(array("Q", [value]) for value in values)
        self._blocks.append(model.SampleBlock(position, time_ns, 1, array("Q", [0]), array("I", [stack]), columns))
        self._threads[position] = replace(thread, unattributed_ns=0)

    def _add_points(self, experiment: int, facts: LogFacts) -> None:
        by_pid = {p.pid: index for index, p in enumerate(self._processes) if p.experiment == experiment}
        for event in facts.points:
            pid = event.pid if event.pid is not None else facts.log.origin.pid
            self._points.append(
                model.SamplePoint(
                    by_pid.get(pid),
                    experiment,
                    pid,
                    event.time,
                    event.label or "",
                    word_of(event.cause),
                    event.user_ns,
                    event.system_ns,
                    event.minor_faults,
                    event.major_faults,
                    event.voluntary_switches,
                    event.involuntary_switches,
                    event.resident_bytes,
                    event.read_bytes,
                    event.written_bytes,
                )
            )

    def _add_losses(self, experiment: int, facts: LogFacts) -> None:
        where = os.path.basename(facts.log.path)
        counts: Counter[str] = Counter()
        for (_, cause, _), count in facts.drops.items():
            counts[cause] += count
        self._losses += [model.Loss(experiment, cause, count, where) for cause, count in counts.items() if count]
        for key, count in facts.messages.items():
            severity, text, subject = key
            self._messages.append(model.Message(experiment, severity, text, count, subject, facts.message_times[key]))
        for event in facts.unrecorded:
            self._unrecorded.append(
                model.Unrecorded(experiment, event.pid or 0, event.time, event.status, event.path or "", event.reason or "")
            )


def _iter_blocks(log: LogFile) -> Iterator[PcSampleBlock]:
    return (record for record in iter_records(log) if isinstance(record, PcSampleBlock))
