"""reduction -- experiments of thousands of processes as one profile, by tasks that any executor may run

    survey    which addresses the samples of some processes have            a task for each shard
    look_up   what these are called                                         a task for each module
    sum_up    the profile of some processes, as bytes (serial.py)           a task for each shard
    join      several of these as one                                       a tree of tasks

What a shard is, and which profiles are joined, follows from the logs alone: the same bytes come out whoever ran the tasks, and in which order.
"""

from __future__ import annotations

import gc
import os
import pickle
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, BinaryIO, Final, NamedTuple

from collector.analysis import open_analysis
from collector.analysis.seam import Analysis
from collector.errors import ExperimentError
from collector.experiment.directory import LogFile, open_directory
from collector.experiment.origin import LAUNCHER
from collector.format import Kind
from collector.load.engines import Call, Engine, run_calls
from collector.load.given_names import GivenNames, ModuleFile, ModuleNames, NamingOptions, Wanted, WantedNames, look_up
from collector.load.loader import Loader, ReadPiece, describe
from collector.load.log_facts import LogFacts, parents_of, read_facts
from collector.load.metric_values import kinds_of
from collector.load.recording import PartFacts
from collector.load.serial import answers_of, pack, pack_whole, read_profile
from collector.load.shards import DividedExperiment, Piece, Rest, Shard, abridged, divide
from collector.load.thinning import thin_points, thin_rows
from collector.profile.kept_samples import Answers
from collector.profile.merge import merge
from collector.profile.model import Process, Profile, Recording
from collector.profile.place_sums import PlaceFigures, cut_piece, groupings, join_pieces, threads_by_place

Progress = Callable[[int, int, str], None]

_MOST_READINGS: Final = 1 << 18
_MOST_POINTS: Final = 1 << 16
"""In all; of each process as many as it comes to, but never fewer than _LEAST."""
_LEAST: Final = 4
_OVER_TIME: Final = frozenset({Kind.METRIC, Kind.SAMPLE})
_JOINED: Final = 4
"""So many profiles are joined by one task."""
_ROOTS: Final = 8
"""So many are joined at the end, in the first process."""
_WAITING: Final = 4 * _JOINED
"""With fewer of them, leaves come first: joins, which are short, are left for workers that would have nothing to do at the end."""

_NOBODY: Final = Recording("", "")


@dataclass(frozen=True, slots=True)
class Options:
    """What is shown, and how it is named; `most_readings` and `most_points` are for a metric of a process, and for a process."""

    has_interpreter_frames: bool = False
    most_readings: int = _MOST_READINGS
    most_points: int = _MOST_POINTS
    naming: NamingOptions = NamingOptions()


@dataclass(frozen=True, slots=True)
class Survey:
    """What a shard wants named, and what it says of its experiment."""

    modules: dict[ModuleFile, Wanted]
    parts: list[PartFacts]
    processes: tuple[Process, ...]
    log_count: int
    metric_count: int
    failure: str


def reduce(paths: Sequence[str], engine: Engine, options: Options = Options(), progress: Progress | None = None) -> bytes:
    """The profile of experiments, and of files that have one, as the bytes of a file.

    ExperimentNotFoundError or ExperimentError if one of them cannot be read; CollectorError if workers were lost again and again.
    """
    tell = progress or (lambda done, total, text: None)
    experiments = [divide(path) for path in paths if not os.path.isfile(path)]
    shards = [shard for experiment in experiments for shard in experiment.shards]
    names = _Names()
    surveys: dict[int, Survey] = {}

    def surveyed(number: int, survey: Survey) -> None:
        surveys[number] = replace(survey, modules={})
        names.want(number, survey.modules)

    run_calls(engine, (Call(_task, (_survey, shard, options)) for shard in shards), surveyed, lambda done: tell(done, len(shards), "reading logs"))
    naming = replace(options.naming, experiments=tuple(os.path.abspath(experiment.path) for experiment in experiments))
    wanted = names.wanted()
    calls = (Call(_task, (_look_up, module, each, naming)) for module, each in wanted)
    run_calls(engine, calls, names.take, lambda done: tell(done, len(wanted), "naming functions"))
    options = _limited(options, list(surveys.values()))
    heads = _heads(experiments, [surveys[number] for number in range(len(shards))], options)
    files = [os.path.abspath(path) for path in paths if os.path.isfile(path)]
    leaves = [Call(_task, (_read, path)) for path in files]
    leaves += [Call(_task, (_sum_up, shard, head, names.of(number), options)) for number, (shard, head) in enumerate(zip(shards, heads))]
    tree = _Tree(leaves)
    with tempfile.TemporaryFile() as file:
        pieces = _Pieces(file)

        def take(number: int, part: Part) -> None:
            tree.take(number, pieces.take(number, part))

        run_calls(engine, tree.calls(), take, lambda done: tell(done, tree.task_count, "adding up"))
        result: bytes = _task(_finish, tree.roots, None if files else pieces)
        return result


def _limited(options: Options, surveys: Sequence[Survey]) -> Options:
    """The same with numbers for each process instead of all together."""
    metric_count, process_count = sum(survey.metric_count for survey in surveys), sum(len(survey.processes) for survey in surveys)
    return replace(
        options,
        most_readings=max(_LEAST, options.most_readings // max(1, metric_count)),
        most_points=max(_LEAST, options.most_points // max(1, process_count)),
    )


def _heads(experiments: Sequence[DividedExperiment], surveys: Sequence[Survey], options: Options) -> Iterator[ShardHead]:
    """What is said of an experiment as a whole, for each of its shards; complaints for the first. ExperimentError if no log can be read."""
    first = 0
    for experiment in experiments:
        own = surveys[first : first + len(experiment.shards)]
        first += len(experiment.shards)
        if not any(survey.log_count for survey in own) and any(survey.failure for survey in own):
            raise ExperimentError(next(survey.failure for survey in own if survey.failure))
        launches = [PartFacts(launch, None, []) for launch in experiment.launches.values()]
        parts = [*launches, *(part for survey in own for part in survey.parts)]
        recording, complaints = describe(experiment.path, experiment.directory, parts)
        recording = recording._replace(log_count=len(launches) + sum(survey.log_count for survey in own))
        rests = experiment.rests({number: survey.processes for number, survey in enumerate(own)}, options.most_points)
        for number, rest in enumerate(rests):
            yield ShardHead(recording, () if number else (*complaints, *experiment.failures), rest)


@dataclass(frozen=True, slots=True)
class ShardHead:
    """What a shard has to be told of its experiment, and of each of its pieces."""

    recording: Recording
    complaints: tuple[str, ...]
    rests: tuple[Rest, ...]


class Part(NamedTuple):
    """A profile as bytes; of a shard also what its ranks and nodes took, which is wanted again when all profiles are one."""

    profile: bytes
    pieces: tuple[bytes, ...] = ()


class _Pieces:
    """What ranks and nodes took, in a file: all of it is more than memory should hold."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._places: dict[tuple[int, int], tuple[int, int]] = {}

    def take(self, number: int, part: Part) -> bytes:
        """Put the pieces of a profile away, one for each grouping."""
        for grouping, piece in enumerate(part.pieces):
            self._places[grouping, number] = self._file.tell(), len(piece)
            self._file.write(piece)
        return part.profile

    def add_to(self, profile: Profile, answers: Answers) -> None:
        """Put what of them there is room for to the answers of a profile, if that says more than the profile itself."""
        if len(threads_by_place(profile)) >= _FEWEST_PLACES:
            for number, grouping in enumerate(groupings(profile)):
                answers["place_sums", grouping.name] = join_pieces(profile, grouping, self._iter(number))

    def _iter(self, number: int) -> Iterator[PlaceFigures]:
        for (grouping, _), (offset, length) in sorted(self._places.items()):
            if grouping == number:
                self._file.seek(offset)
                piece: PlaceFigures = pickle.loads(zlib.decompress(self._file.read(length)))
                yield piece


_FEWEST_PLACES: Final = 2


class _Names:
    """What shards want named, and the names of each module as bytes."""

    def __init__(self) -> None:
        self._wanted: dict[ModuleFile, Wanted] = {}
        self._by_shard: dict[int, list[ModuleFile]] = {}
        self._modules: list[ModuleFile] = []
        self._found: dict[ModuleFile, bytes] = {}

    def want(self, shard: int, modules: Mapping[ModuleFile, Wanted]) -> None:
        """Note what a shard wants."""
        self._by_shard[shard] = list(modules)
        for module, wanted in modules.items():
            self._wanted.setdefault(module, Wanted()).add(wanted)

    def wanted(self) -> list[tuple[ModuleFile, Wanted]]:
        """All that is wanted, the most first: the last tasks are short then."""
        found = sorted(self._wanted.items(), key=lambda pair: (-len(pair[1].addresses), pair[0].path))
        self._modules = [module for module, _ in found]
        self._wanted = {}
        return found

    def take(self, number: int, names: bytes) -> None:
        """The names of one of the modules that `wanted` gave."""
        self._found[self._modules[number]] = names

    def of(self, shard: int) -> tuple[tuple[ModuleFile, bytes], ...]:
        """The modules of a shard with their names."""
        return tuple((module, self._found[module]) for module in self._by_shard.get(shard, ()))


class _Tree:
    """Leaves, and the joining of what came of them until few are left: always the same neighbours."""

    def __init__(self, leaves: Sequence[Call]) -> None:
        self._leaves = leaves
        self._widths = [len(leaves)]
        while self._widths[-1] > _ROOTS:
            self._widths.append(-(-self._widths[-1] // _JOINED))
        self.task_count = sum(self._widths)
        self._there: list[dict[int, bytes]] = [{} for _ in self._widths]
        self._places: list[tuple[int, int]] = []

    @property
    def roots(self) -> list[bytes]:
        """What everything became."""
        return [data for _, data in sorted(self._there[-1].items())]

    def calls(self) -> Iterator[Call | None]:
        """What can be done next; None while it has to be waited for something."""
        started = 0
        while len(self._places) < self.task_count:
            is_early = started < self._widths[0] and sum(map(len, self._there)) < _WAITING
            join = None if is_early else self._next_join()
            if join is not None:
                yield join
            elif started < self._widths[0]:
                self._places.append((0, started))
                yield self._leaves[started]
                started += 1
            else:
                yield None

    def _next_join(self) -> Call | None:
        for level in range(len(self._widths) - 2, -1, -1):
            there, width = self._there[level], self._widths[level]
            for group in sorted({place // _JOINED for place in there}):
                members = range(group * _JOINED, min((group + 1) * _JOINED, width))
                if all(place in there for place in members):
                    self._places.append((level + 1, group))
                    return Call(_task, (_join, [there.pop(place) for place in members],))
        return None

    def take(self, number: int, result: bytes) -> None:
        """What the call of this number gave."""
        level, place = self._places[number]
        self._there[level][place] = result


def _task(function: Callable[..., Any], *arguments: Any) -> Any:
    """Run a task. All that it makes stays until it ends, and is collected then, without a look at what was there before."""
    was_enabled = gc.isenabled()
    gc.disable()
    gc.freeze()
    try:
        return function(*arguments)
    finally:
        gc.collect()
        gc.unfreeze()
        if was_enabled:
            gc.enable()


def _survey(shard: Shard, options: Options) -> Survey:
    names = WantedNames()
    loader = Loader(names, open_analysis(skipped=_OVER_TIME), has_interpreter_frames=options.has_interpreter_frames)
    parts = [_read_piece(loader, piece) for piece in shard]
    failure = str(loader.failures[0][1]) if loader.failures else ""
    loader.add_pieces(_NOBODY, (), [ReadPiece(piece.directory.objects_path, part, _ancestors(piece, part)) for piece, part in zip(shard, parts)])
    loader.expand()
    logs = [facts for part in parts for facts in (part.launch, part.node, *part.logs) if facts]
    log_count = len(logs) + sum(part.waits is not None and piece.is_first for piece, part in zip(shard, parts))
    return Survey(names.modules, abridged(parts), tuple(loader.processes), log_count, sum(len(facts.metrics) for facts in logs), failure)


def _read_piece(loader: Loader, piece: Piece) -> PartFacts:
    part = loader.read_part(piece.directory)
    return part._replace(waits=part.waits.unreported()) if part.waits and not piece.is_first else part


def _ancestors(piece: Piece, part: PartFacts) -> list[LogFacts]:
    """The facts of processes in other pieces that forked some of this one, and of those that forked them."""
    found: list[LogFacts] = []
    known = {facts.log.origin.pid for facts in part.logs}
    missing = parents_of(part.logs) - known if piece.is_divided else set()
    while missing:
        known |= missing
        shift_ns = piece.directory.logs[0].shift_ns
        others = [log._replace(shift_ns=shift_ns) for log in open_directory(piece.directory.path).logs if log.origin.pid in missing]
        parents = [read_facts(log, open_analysis(skipped=_OVER_TIME)) for log in others]
        found += parents
        missing = parents_of(parents) - known
    return found


def _look_up(module: ModuleFile, wanted: Wanted, options: NamingOptions) -> bytes:
    return zlib.compress(pickle.dumps(look_up(module, wanted, options), pickle.HIGHEST_PROTOCOL), 1)


@lru_cache(maxsize=64)
def _module_names(packed: bytes) -> ModuleNames:
    names: ModuleNames = pickle.loads(zlib.decompress(packed))
    return names


def _sum_up(shard: Shard, head: ShardHead, names: Sequence[tuple[ModuleFile, bytes]], options: Options) -> Part:
    given = GivenNames({module: _module_names(packed) for module, packed in names}, options.naming.has_inlines)
    launch: LogFacts | None = None

    def read(log: LogFile, analysis: Analysis) -> LogFacts:
        nonlocal launch
        facts = read_facts(log, analysis)
        launch = facts if log.origin == LAUNCHER else launch
        facts.rows = thin_rows(facts.rows, kinds_of(facts, launch), options.most_readings)
        facts.points = thin_points(facts.points, options.most_points)
        return facts

    loader = Loader(given, open_analysis(), has_interpreter_frames=options.has_interpreter_frames, read=read)
    parts = []
    for piece, rest in zip(shard, head.rests):
        launch = rest.launch
        part = _read_piece(loader, piece)
        parts.append(part._replace(launch=rest.launch) if piece.is_divided else part)
    pieces = [
        ReadPiece(piece.directory.objects_path, part, _ancestors(piece, part), rest.relatives)
        for piece, part, rest in zip(shard, parts, head.rests)
    ]
    loader.add_pieces(head.recording, head.complaints, pieces)
    profile = loader.finish()
    # Of code that was made at run time there is no listing without samples, and so it can be the same in all processes.
    frames = tuple(frame._replace(code=-1) for frame in profile.frames)
    profile = profile._replace(frames=frames)
    figures = [pickle.dumps(cut_piece(profile, grouping), pickle.HIGHEST_PROTOCOL) for grouping in groupings(profile)]
    return Part(b"".join(pack_whole(profile)), tuple(zlib.compress(each, 1) for each in figures))


def _read(path: str) -> Part:
    return Part(b"".join(pack_whole(read_profile(path))))


def _join(parts: Sequence[bytes]) -> Part:
    return Part(parts[0] if len(parts) == 1 else b"".join(pack_whole(_merged(parts))))


def _merged(parts: Sequence[bytes]) -> Profile:
    profiles = [read_profile(part) for part in parts]
    return profiles[0] if len(profiles) == 1 else merge(profiles, of_same=True)


def _finish(parts: Sequence[bytes], pieces: _Pieces | None) -> bytes:
    """The last join, in the first process: nobody could do anything beside it, and what it makes need not travel."""
    if pieces is None and len(parts) == 1:
        return parts[0]
    profile = _merged(parts)
    answers = answers_of(profile)
    if pieces is not None:
        pieces.add_to(profile, answers)
    return b"".join(pack(profile, answers))
