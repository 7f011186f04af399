"""shards -- experiments divided into parts that can be read one without the others: some ranks of a parallel job, or some processes of a launcher

Which these are follows from the names and sizes of the logs alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Final

from collector.analysis import open_analysis
from collector.errors import ExperimentError
from collector.experiment.directory import ExperimentDirectory, LogFile, open_directory
from collector.experiment.events import CloseLog, Initialize, Sample
from collector.experiment.node_clocks import align
from collector.load.log_facts import LogFacts, read_facts
from collector.load.ranks import with_ranks
from collector.load.recording import PartFacts, telling_ends
from collector.load.thinning import thin_points
from collector.load.waits import Waits
from collector.profile.model import Process

SHARD_BYTES: Final = 16 << 20
SHARD_LOGS: Final = 64


@dataclass(frozen=True, slots=True)
class Piece:
    """What one launcher recorded, or, if it `is_divided`, some processes of it with all their images; the launcher's log then comes with the rest.

    waits.log is of all processes: each piece has it, and the one that `is_first` tells how it went.
    """

    directory: ExperimentDirectory
    is_divided: bool = False
    is_first: bool = True


Shard = tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Rest:
    """What a piece of a divided part has to be told: of the launcher's log what is about its processes, and their parents who give them a rank."""

    launch: LogFacts | None = None
    relatives: tuple[Process, ...] = ()


@dataclass(slots=True)
class DividedExperiment:
    """An experiment in shards. `launches` are the launchers' logs of divided parts, by the path of the part, `failures` those that cannot be read."""

    path: str
    directory: ExperimentDirectory
    shards: list[Shard]
    failures: list[str]
    launches: dict[str, LogFacts] = field(default_factory=dict)

    def rests(self, processes: Mapping[int, Sequence[Process]], most_points: int) -> list[tuple[Rest, ...]]:
        """Of each shard the rest of its pieces. `processes` are those of shards, by number; of each there are at most so many periodic points."""
        rests = [tuple(Rest() for _ in shard) for shard in self.shards]
        for _, numbers in groupby(
            (number for number, shard in enumerate(self.shards) if shard and shard[0].is_divided), key=lambda number: self.shards[number][0].directory.path
        ):
            places = list(numbers)
            pieces = [self.shards[place][0] for place in places]
            launch = self.launches.get(pieces[0].directory.path)
            parts = _divided_launch(launch, pieces, most_points) if launch else [None] * len(pieces)
            for place, part, relatives in zip(places, parts, _relatives([processes.get(place, ()) for place in places])):
                rests[place] = (Rest(part, relatives),)
        return rests


def divide(path: str) -> DividedExperiment:
    """An experiment in shards. ExperimentNotFoundError or ExperimentError if there is nothing to be read."""
    directory = align(open_directory(os.path.abspath(path)))
    divided = DividedExperiment(path, directory, [], [])
    shard: list[Piece] = []
    log_count = size_bytes = 0
    for part in directory.parts or (directory,):
        part_bytes = sum(_size_of(log) for log in part.all_logs)
        is_large = part_bytes > SHARD_BYTES or len(part.logs) > SHARD_LOGS
        if shard and (is_large or size_bytes + part_bytes > SHARD_BYTES or log_count + len(part.logs) > SHARD_LOGS):
            divided.shards.append(tuple(shard))
            shard, log_count, size_bytes = [], 0, 0
        if is_large:
            divided.shards += [(piece,) for piece in _pieces(part)]
            _read_launch(divided, part)
        else:
            shard.append(Piece(part))
            log_count, size_bytes = log_count + len(part.logs), size_bytes + part_bytes
    if shard:
        divided.shards.append(tuple(shard))
    return divided


def _pieces(part: ExperimentDirectory) -> Iterator[Piece]:
    """Processes in groups of about the same size; the first has the readings of the node as well."""
    node_log = part.node_log
    is_first = True
    logs: list[LogFile] = []
    size_bytes = 0
    for _, images in groupby(part.logs, key=lambda log: log.origin.pid):
        process = list(images)
        process_bytes = sum(map(_size_of, process))
        if logs and (size_bytes + process_bytes > SHARD_BYTES or len(logs) + len(process) > SHARD_LOGS):
            yield Piece(part._replace(logs=tuple(logs), launch_log=None, node_log=node_log), is_divided=True, is_first=is_first)
            node_log, is_first, logs, size_bytes = None, False, [], 0
        logs += process
        size_bytes += process_bytes
    yield Piece(part._replace(logs=tuple(logs), launch_log=None, node_log=node_log), is_divided=True, is_first=is_first)


def _size_of(log: LogFile) -> int:
    try:
        return os.stat(log.path).st_size
    except OSError:
        return 0


def _read_launch(divided: DividedExperiment, part: ExperimentDirectory) -> None:
    if part.launch_log is None:
        return
    try:
        divided.launches[part.path] = read_facts(part.launch_log, open_analysis())
    except ExperimentError as error:
        divided.failures.append(str(error))


def _divided_launch(launch: LogFacts, pieces: Sequence[Piece], most_points: int) -> list[LogFacts]:
    """What the launcher's log says of the processes of each piece; its first part says all the rest."""
    piece_of = {log.origin.pid: number for number, piece in enumerate(pieces) for log in piece.directory.logs}
    parts = [LogFacts(launch.log, metrics=launch.metrics) for _ in pieces]
    parts[0] = replace(launch, points=[], ends=[])
    points: dict[int, list[Sample]] = {}
    for event in launch.points:
        points.setdefault(event.pid or 0, []).append(event)
    for pid, events in points.items():
        parts[piece_of.get(pid, 0)].points += thin_points(events, most_points)
    for end in launch.ends:
        parts[piece_of.get(end.pid or 0, 0)].ends.append(end)
    return parts


def _relatives(pieces: Sequence[Sequence[Process]]) -> Iterator[tuple[Process, ...]]:
    """Of each piece the parents in other pieces that give their rank to a process of it."""
    ranked = {process.pid: process for process in with_ranks([process for piece in pieces for process in piece]) if process.rank is not None}
    for piece in pieces:
        missing = {process.parent_pid for process in piece if process.rank is None} - {process.pid for process in piece}
        yield tuple(ranked[pid] for pid in sorted(missing & ranked.keys()))


def abridged(parts: Sequence[PartFacts]) -> list[PartFacts]:
    """What parts say of their experiment as a whole (`recording_of`), in as few words as that takes."""
    launches = [part.launch for part in parts if part.launch]
    logs = sorted((facts for part in parts for facts in part.logs), key=lambda facts: (facts.start_ns, facts.log.origin))
    launch, node, log = map(_together, (launches, [part.node for part in parts if part.node], logs))
    if launch is not None:
        launch.ends[:] = telling_ends(launches)
        closed = [facts.close for facts in launches]
        if all(closed):
            user_ns = sum((one.user_ns or 0) + (one.system_ns or 0) for one in closed if one)
            launch.close = replace(closed[0] or CloseLog(0, 0), user_ns=user_ns, system_ns=0)
    found = [PartFacts(launch, node, [log] if log else [])]
    for part in parts:
        if part.waits is not None and part.waits.facts.size_bytes:
            waits = replace(part.waits.facts, heads=[], process=None, rows=[])
            found.append(PartFacts(None, None, [], Waits(waits)))
    hosts = {launch.initialize.host} if launch and launch.initialize else set()
    for facts in (*launches, *logs):
        begun = facts.initialize
        if begun is not None and begun.host not in hosts:
            hosts.add(begun.host)
            named = LogFacts(facts.log, initialize=Initialize(begun.time, 0, host=begun.host, cpu_count=begun.cpu_count), first_ns=facts.first_ns)
            named.close = facts.close and CloseLog(0, 0)
            found.append(PartFacts(None, None, [named]) if facts.log.origin.is_process else PartFacts(named, None, []))
    return found


def _together(logs: Sequence[LogFacts]) -> LogFacts | None:
    """The words of the first log, with the times and bytes of all."""
    if not logs:
        return None
    first = logs[0]
    return LogFacts(
        first.log,
        size_bytes=sum(facts.size_bytes for facts in logs),
        process=first.process and first.process._replace(threads=()),
        initialize=first.initialize,
        first_ns=min((facts.first_ns for facts in logs if facts.first_ns is not None), default=None),
        last_ns=max(facts.last_ns for facts in logs),
    )
