"""loader -- reads the logs of experiments one after the other and joins them into one profile"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from collector.analysis.placed_values import values_declared
from collector.analysis.seam import NOBODY, Analysis
from collector.errors import ExperimentError, SymbolError
from collector.experiment.directory import ExperimentDirectory, LogFile, open_directory
from collector.experiment.log_outline import tell_empty
from collector.experiment.missing_logs import is_log_missing, tell_missing
from collector.experiment.node_clocks import align
from collector.experiment.origin import ProcessIdentities, ProcessIdentity
from collector.experiment.samples import PcSampleBlock
from collector.load.expansion import expand_entries
from collector.load.image_memory import ImageMemory
from collector.load.jit_sources import add_jit_sources
from collector.load.log_facts import LogFacts, parents_of, read_facts, word_of
from collector.load.metric_values import series_of
from collector.load.naming import Names, NameTable
from collector.load.python_code import is_closed_from_outside
from collector.load.ranks import missing_ranks, with_ranks
from collector.load.recording import PartFacts, launched_statuses, process_of, recording_of
from collector.load.stand_ins import STAND_IN_VALUES, may_have_stand_ins, stand_in
from collector.load.threads import ThreadLives, balanced, placed, thread_of, unsampled_ns
from collector.load.waits import BEYOND_LOOKS, Waits, after_last_look, read_waits
from collector.profile import model
from collector.profile.metric_series import MetricSeries
from collector.profile.metrics import CPU_VALUES, MISSING, SYSTEM, Value, metrics_of, ordered_values
from collector.profile.sample_point import SamplePoint
from collector.reading_fields import readings_of
from collector.target.process import LoggedThread

Progress = Callable[[int, int, str], None]

_NO_WAITS = "Python functions are not shown where they wait: that takes CPython 3.11."
_EVERY_VIEW = 3  # the severity of what every view has to say


class ReadPiece(NamedTuple):
    """What one launcher recorded, or some processes of it: of others `ancestors` left them code, and `relatives` a rank."""

    objects_path: str | None
    facts: PartFacts
    ancestors: Sequence[LogFacts] = ()
    relatives: Sequence[model.Process] = ()


def describe(
    path: str, directory: ExperimentDirectory, parts: Sequence[PartFacts], parents: Sequence[set[int]] | None = None
) -> tuple[model.Recording, list[str]]:
    """An experiment as a whole, and what is to be complained of. `parts` are what the launchers of all of it recorded, `parents` as of `tell_missing`."""
    recording, error = recording_of(path, parts), directory.clock_error
    if error is not None:
        recording = recording._replace(clock_moved_ns=error.moved_ns, clock_error_ns=error.service_ns)
    waits = tuple(text for part in parts if part.waits for text in part.waits.told)
    lost = [*tell_empty([log.path for log in directory.empty_logs]), *tell_missing(directory, parents)]
    return recording._replace(waits=waits), [*directory.complaints, *lost, *missing_ranks(directory.parts, recording.options)]


class Loader:
    """`add` every experiment, then `finish`. `read` gives what a log says, and has its samples in the analysis."""

    def __init__(
        self, symbolizer: Names, analysis: Analysis, progress: Progress | None = None, has_interpreter_frames: bool = False,
        read: Callable[[LogFile, Analysis], LogFacts] = read_facts, read_waits: Callable[[LogFile], Waits] = read_waits,
    ) -> None:
        self._symbolizer = symbolizer
        self._analysis = analysis
        self._progress = progress
        self._read = read
        self._read_waits = read_waits
        self._has_interpreter_frames = has_interpreter_frames
        self._names = NameTable(symbolizer)
        self._pieces: list[tuple[int, ReadPiece]] = []
        self._values: tuple[Value, ...] = ()
        self._logs: list[int] = []
        self._recordings: list[model.Recording] = []
        self.processes: list[model.Process] = []
        self._threads: list[model.Thread] = []
        self._points: list[SamplePoint] = []
        self._losses: list[model.Loss] = []
        self._messages: list[model.Message] = []
        self._pauses: list[model.Pause] = []
        self._unrecorded: dict[tuple[int, int], model.Unrecorded] = {}
        self._series: list[MetricSeries] = []
        self.failures: list[tuple[LogFile, ExperimentError]] = []

    def add(self, path: str) -> None:
        """Read an experiment. ExperimentNotFoundError or ExperimentError if there is nothing to be read."""
        directory = align(open_directory(path))
        parts = [(part, self.read_part(part)) for part in directory.parts or (directory,)]
        if not any(facts.logs for _, facts in parts) and self.failures:
            raise self.failures[0][1]
        recording, complaints = describe(path, directory, [facts for _, facts in parts], [parents_of(facts.logs) for _, facts in parts])
        self.add_pieces(recording, [*complaints, *self._add_archive(path)], [ReadPiece(part.objects_path, facts) for part, facts in parts])

    def add_pieces(self, recording: model.Recording, complaints: Iterable[str], pieces: Iterable[ReadPiece]) -> None:
        """Take in what `read_part` gave of an experiment, or of some of its processes."""
        experiment = len(self._recordings)
        self._recordings.append(recording)
        for log, failure in self.failures:
            self._messages.append(model.Message(experiment, 2, str(failure), subject=os.path.basename(log.path)))
        self.failures.clear()
        for text in complaints:
            self._messages.append(model.Message(experiment, 1, text))
        self._pieces += [(experiment, piece) for piece in pieces]

    def _add_piece(self, experiment: int, piece: ReadPiece) -> None:
        objects_path, (launch, node, logs, waits, rank, host) = piece.objects_path, piece.facts
        waits_of = waits.by_image(logs) if waits else {}
        for text in add_jit_sources(objects_path, [*piece.ancestors, *logs]):
            self._messages.append(model.Message(experiment, 1, text))
        first_process = len(self.processes)
        identities, ended = ProcessIdentities(), dict[ProcessIdentity, LogFacts]()
        statuses = launched_statuses(launch)
        progress = _Progress(self._progress, sum(facts.size_bytes for facts in logs))
        for facts in logs:
            identity = facts.identify(identities)
            process = process_of(experiment, identity, facts, ended.get(identity), statuses)
            ended[identity] = facts
            self._series += series_of(experiment, len(self.processes), facts, launch)
            progress.tell(facts)
            watched = waits.code_of(process.pid) if waits else None
            memory = ImageMemory(self._names, facts, objects_path, self._has_interpreter_frames, watched)
            self._add_process(facts, process, memory, waits_of.get(facts.number, ()), waits is not None and waits.is_by_looks)
        if any(is_closed_from_outside(facts.interpreter) for facts in logs if facts.number in waits_of):
            self._messages.append(model.Message(experiment, 1, _NO_WAITS, is_hint=True))
        ranked = with_ranks([*piece.relatives, *self.processes[first_process:]], rank, host)
        self.processes[first_process:] = ranked[len(piece.relatives) :]
        if node is not None:
            self._series += series_of(experiment, None, node, launch)
        images = _images_by_pid(self.processes, first_process)
        for facts in filter(None, (launch, node, *piece.facts.with_samples)):
            self._add_points(experiment, facts, images)
            self._add_losses(experiment, facts)
        found = [facts.interpreter for facts in reversed(logs) if facts.interpreter and facts.interpreter.detail]
        for (name, detail), time_ns in {(event.name, event.detail or ""): event.time for event in found}.items():
            text = f"{'Java methods' if name == 'HotSpot' else 'Python functions'} are not shown: {detail.rstrip('.')}."
            self._messages.append(model.Message(experiment, 1, text, time_ns=time_ns, is_hint=True))

    def _add_archive(self, path: str) -> list[str]:
        """Have names looked up in the experiment's archive; complaints about it."""
        try:
            self._symbolizer.add_archive(path)
        except SymbolError as error:
            return [str(error)]
        return []

    def expand(self) -> bool:
        """Put together all that was added, and name all addresses; see `expand_entries`."""
        declared = dict.fromkeys(values for _, piece in self._pieces for facts in piece.facts.with_samples for values in facts.declared)
        if any(may_have_stand_ins(piece.facts.logs) for _, piece in self._pieces):
            declared[STAND_IN_VALUES] = None
        if any(piece.facts.waits is not None and piece.facts.waits.is_by_looks for _, piece in self._pieces):
            declared[BEYOND_LOOKS] = None
        self._values = ordered_values(value for source in declared for value in values_declared(source))
        self._analysis.measure(self._values)
        for read in self._pieces:
            self._add_piece(*read)
        self._pieces.clear()
        return expand_entries(self._analysis, self._names, self._logs, self._progress)

    def finish(self) -> model.Profile:
        """The profile of all that was added."""
        has_all_cells = self.expand()
        nameless = self._symbolizer.nameless
        warnings = tuple(model.Message(0, 1, text, nameless=nameless.get(text, "")) for text in self._symbolizer.warnings)
        scales = [thread.scales for thread in self._threads]
        return model.Profile(
            recordings=tuple(self._recordings),
            modules=self._names.modules,
            functions=self._names.functions,
            frames=self._names.frames,
            processes=tuple(self.processes),
            threads=tuple(self._threads),
            samples=self._analysis.samples(scales, len(self._names.frames), has_all_cells),
            points=tuple(self._points),
            losses=tuple(self._losses),
            messages=(*self._messages, *warnings),
            pauses=tuple(self._pauses),
            codes=tuple(self._names.codes),
            unrecorded=tuple(self._unrecorded.values()),
            digests=tuple(model.SourceDigest(*pair) for pair in self._symbolizer.digests_of(self._names.source_paths).items()),
            series=tuple(self._series),
            metrics=metrics_of(self._values),
        )

    def read_part(self, directory: ExperimentDirectory) -> PartFacts:
        """What the logs of one launcher say; those that cannot be read are added to `failures`."""
        launch = node = waits = None
        logs = []
        for log in directory.all_logs:
            try:
                if log is directory.waits_log:
                    waits = self._read_waits(log)
                    continue
                facts = self._read(log, self._analysis)
            except ExperimentError as error:
                self.failures.append((log, error))
                continue
            if log is directory.launch_log:
                launch = facts
            elif log is directory.node_log:
                node = facts
            else:
                logs.append(facts)
        return PartFacts(launch, node, logs, waits, directory.rank, directory.node)

    def _add_process(self, facts: LogFacts, process: model.Process, memory: ImageMemory, waits: Sequence[PcSampleBlock], is_by_looks: bool) -> None:
        index, first_thread = len(self.processes), len(self._threads)
        self.processes.append(process)
        for cause, start_ns, end_ns in facts.all_pauses:
            self._pauses.append(model.Pause(index, cause, start_ns, end_ns))
        self._threads += [thread_of(index, thread, process) for thread in facts.threads]
        owners = self._attribute(facts, process, first_thread)
        owners += self._add_waits(facts, first_thread, waits, is_by_looks)
        self._analysis.attribute(facts.number, owners, memory.segments(), memory.own_space)
        self._analysis.collect(facts.number)
        self._logs.append(facts.number)

    def _attribute(self, facts: LogFacts, process: model.Process, first_thread: int) -> list[int]:
        """Whose each record of samples is. Threads are given what their samples leave open of the kernel's account."""
        lives = ThreadLives(facts.threads, first_thread)
        owners = [NOBODY if head.is_lost else lives.at(head.thread, head.time) for head in facts.heads]
        sampled, missing, system = Counter[int](), Counter[int](), Counter[int]()
        for owner, head in zip(owners, facts.heads):
            sampled[owner] += head.cpu_ns
            missing[owner] += head.sum_ns(MISSING.name)
            system[owner] += head.sum_ns(CPU_VALUES[SYSTEM].name)
        for position, thread in enumerate(facts.threads, first_thread):
            known = balanced(self._threads[position], process, sampled[position], facts.has_gaps, thread.pending_ns)
            self._threads[position] = placed(known, process, sampled[position], missing[position], system[position])
            if not sampled[position] and not facts.has_gaps and self._add_stand_in(facts, position, process, thread):
                owners.append(position)
        return owners

    def _add_waits(self, facts: LogFacts, first_thread: int, waits: Sequence[PcSampleBlock], is_by_looks: bool) -> list[int]:
        """Have the analysis take in where the threads waited; whose each record is."""
        if not waits:
            return []
        lives, shift_ns = ThreadLives(facts.threads, first_thread), facts.log.shift_ns
        owners = [lives.at(block.thread, block.time + shift_ns) if block.thread in lives else NOBODY for block in waits]
        for block in waits:
            self._analysis.add_block(facts.number, block)
        if is_by_looks and not facts.has_gaps:
            owners += self._add_ends_of_waits(facts, first_thread, list(zip(owners, waits)))
        return owners

    def _add_ends_of_waits(self, facts: LogFacts, first_thread: int, waits: Sequence[tuple[int, PcSampleBlock]]) -> list[int]:
        """The same of what threads waited after they were last looked at."""
        blocks_of: dict[int, list[PcSampleBlock]] = {}
        for owner, block in waits:
            blocks_of.setdefault(owner, []).append(block)
        owners = []
        for position in range(first_thread, len(self._threads)):
            rest = after_last_look(self._threads[position], blocks_of.get(position, ()), facts.log.shift_ns)
            if rest is not None:
                self._analysis.add_block(facts.number, rest)
                owners.append(position)
        return owners

    def _add_stand_in(self, facts: LogFacts, position: int, process: model.Process, recorded: LoggedThread) -> bool:
        """Give a thread that ended before its first tick a sample that stands for its CPU time, if it has any."""
        thread = self._threads[position]
        values = unsampled_ns(thread, process, recorded.pending_ns)
        if values is None:
            return False
        self._analysis.add_block(facts.number, stand_in(thread, recorded.start_address or facts.entry_address, values, facts.log.shift_ns))
        self._threads[position] = thread._replace(unattributed_ns=0)
        return True

    def _add_points(self, experiment: int, facts: LogFacts, images: _Images) -> None:
        for event in facts.points:
            pid = event.pid if event.pid is not None else facts.log.origin.pid
            process = _image_at(images.get(pid, []), event.time)
            self._points.append(
                SamplePoint(process, experiment, pid, event.time, event.label or "", word_of(event.cause), *readings_of(event))
            )

    def _add_losses(self, experiment: int, facts: LogFacts) -> None:
        if facts.drops:
            where = os.path.basename(facts.log.path)
            counts: Counter[str] = Counter()
            for (_, cause, _), count in facts.drops.items():
                counts[cause] += count
            self._losses += [model.Loss(experiment, cause, count, where) for cause, count in counts.items() if count]
        for key, count in facts.messages.items():
            severity, text, subject = key
            is_hint = severity == _EVERY_VIEW
            self._messages.append(model.Message(experiment, 1 if is_hint else severity, text, count, subject, facts.message_times[key], is_hint=is_hint))
        for event in facts.unrecorded:
            # What a process says of one that it began, the launcher may have seen as well, and how it ended.
            is_lost = is_log_missing(event.reason or "")
            self._unrecorded.setdefault(
                (experiment, event.pid or 0),
                model.Unrecorded(experiment, event.pid or 0, event.time, event.status, event.path or "", event.reason or "", is_lost),
            )


_Images = dict[int, list[tuple[int, int]]]
"""By process id, when its images began (ns), and their places in the table."""


def _images_by_pid(processes: list[model.Process], first: int) -> _Images:
    """Those of the processes from `first` on."""
    images: _Images = {}
    for index, process in enumerate(processes[first:], first):
        images.setdefault(process.pid, []).append((process.start_ns, index))
    return images


def _image_at(images: list[tuple[int, int]], time_ns: int) -> int | None:
    """The image that ran at that time."""
    return next((index for start_ns, index in reversed(images) if start_ns <= time_ns), images[0][1] if images else None)


class _Progress:
    """Tells how much of all logs is read."""

    def __init__(self, progress: Progress | None, all_bytes: int) -> None:
        self._progress = progress
        self._all_bytes = all_bytes
        self._done_bytes = 0

    def tell(self, facts: LogFacts) -> None:
        """Say which log comes now."""
        if self._progress is not None:
            self._progress(self._done_bytes, self._all_bytes, f"reading {os.path.basename(facts.log.path)}")
        self._done_bytes += facts.size_bytes
