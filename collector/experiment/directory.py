"""directory -- the files of an experiment: which logs there are, and whether this is an experiment at all"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from collector.errors import ExperimentError, ExperimentNotFoundError
from collector.experiment.origin import LAUNCHER, NODE, WAITS, Origin, parse_log_name
from collector.regular_file import describe_irregular

_OBJECTS = "objects"
_RANK = r"rank\.([0-9]{1,9})"


class LogFile(NamedTuple):
    """One event log of an experiment, and the process image it belongs to. By `shift_ns` its times are to be later, so that all nodes have one clock."""

    path: str
    origin: Origin
    shift_ns: int = 0


class ClockError(NamedTuple):
    """How wrong the times of different nodes may be against each other (ns): by how much a wall clock moved while one node's ranks began, and
    what the time services of the worst two nodes vouch for, None if one of them has none.
    """

    moved_ns: int
    service_ns: int | None


class ExperimentDirectory(NamedTuple):
    """An experiment's files. `logs` are those of recorded processes, by process id and image; the launcher's are apart.

    `complaints` are sentences about what has the name of a log, or of the directory of copies, and is something else; `empty_logs` have not begun.
    The experiment of a parallel job has no logs of its own, but `parts`, one a rank, by node; `node` and `rank` are what a part's directories are named after.
    """

    path: str
    logs: tuple[LogFile, ...]
    launch_log: LogFile | None
    node_log: LogFile | None = None
    waits_log: LogFile | None = None
    complaints: tuple[str, ...] = ()
    empty_logs: tuple[LogFile, ...] = ()
    parts: tuple[ExperimentDirectory, ...] = ()
    node: str = ""
    rank: int | None = None
    clock_error: ClockError | None = None

    @property
    def all_logs(self) -> tuple[LogFile, ...]:
        """The launcher's logs, if there are any, and those of the processes."""
        own = (*(log for log in (self.launch_log, self.node_log, self.waits_log) if log), *self.logs)
        return (*own, *(log for part in self.parts for log in part.all_logs))

    @property
    def objects_path(self) -> str | None:
        """The directory of copied code, which need not exist; None if something else has its name."""
        path = os.path.join(self.path, _OBJECTS)
        return None if os.path.lexists(path) and not _is_directory(path) else path


def open_directory(path: str | os.PathLike[str]) -> ExperimentDirectory:
    """The experiment at `path`.

    ExperimentNotFoundError if there is nothing, or no experiment; ExperimentError if it cannot be read.
    """
    path = os.fspath(path)
    try:
        names = os.listdir(path)
    except FileNotFoundError as error:
        raise ExperimentNotFoundError(f"there is no experiment at {path or repr(path)}") from error
    except NotADirectoryError as error:
        raise ExperimentNotFoundError(f"{path} is not an experiment: it is a file, not a directory") from error
    except (OSError, ValueError) as error:
        raise ExperimentError(f"the experiment {path} cannot be read: {getattr(error, 'strerror', error)}") from error
    found = ((name, parse_log_name(name)) for name in names)
    named = sorted((LogFile(os.path.join(path, name), origin) for name, origin in found if origin), key=lambda log: log.origin)
    looks = {log: _look_at(log.path) for log in named}
    logs = [log for log in named if not looks[log].irregular]
    complaints = [f"{log.path} is left out: it is {looks[log].irregular}, not a log" for log in named if looks[log].irregular]
    if not logs and any(map(_is_mark, names)):
        return _open_parts(path)
    if not logs:
        raise ExperimentNotFoundError(complaints[0] if complaints else f"{path} is not an experiment: there is no log in it")
    objects = os.path.join(path, _OBJECTS)
    if _OBJECTS in names and not _is_directory(objects):
        complaints.append(f"{objects} is left out: it is not a directory")
    launchers = {log.origin: log for log in logs if not log.origin.is_process}
    processes = tuple(log for log in logs if log.origin.is_process)
    empty = tuple(log for log in processes if looks[log].is_empty)
    return ExperimentDirectory(path, processes, launchers.get(LAUNCHER), launchers.get(NODE), launchers.get(WAITS), tuple(complaints), empty)


def _is_mark(name: str) -> bool:
    return name == "ranks" or name.startswith("ranks.")


def part_paths(path: str) -> Iterator[str]:
    """The directories with the logs of an experiment: its own, and of a parallel job those of its ranks, by node. OSError if it cannot be read."""
    yield path
    names = os.listdir(path)
    for node in sorted(names) if any(map(_is_mark, names)) else ():
        try:
            ranks = [match for name in os.listdir(os.path.join(path, node)) if (match := re.fullmatch(_RANK, name))]
        except OSError:
            continue  # it is a file
        yield from (os.path.join(path, node, match[0]) for match in sorted(ranks, key=lambda match: int(match[1])))


def _open_parts(path: str) -> ExperimentDirectory:
    """The experiment of a parallel job. A rank without a log is told; ExperimentNotFoundError if no rank has one."""
    complaints: list[str] = []
    parts: list[ExperimentDirectory] = []
    for own in islice(part_paths(path), 1, None):
        node, rank = own.split(os.sep)[-2:]
        try:
            parts.append(open_directory(own)._replace(node=node, rank=int(rank.partition(".")[2])))
        except ExperimentError as error:
            complaints.append(f"{rank.replace('.', ' ')} on {node} is missing: {error}")
    if not parts:
        raise ExperimentNotFoundError(complaints[0] if complaints else f"{path} has no ranks: none got so far as to record anything")
    complaints += [complaint for part in parts for complaint in part.complaints]
    empty = tuple(log for part in parts for log in part.empty_logs)
    return ExperimentDirectory(path, (), None, complaints=tuple(complaints), empty_logs=empty, parts=tuple(parts))


class _Look(NamedTuple):
    """What stands under the name of a log: what it is instead, if it is no regular file, and whether there is nothing in it."""

    irregular: str | None = None
    is_empty: bool = False


def _look_at(path: str) -> _Look:
    """One that went a moment ago is left to whoever opens it."""
    try:
        status = os.lstat(path)
    except OSError:
        return _Look()
    return _Look(describe_irregular(status.st_mode), status.st_size == 0)


def _is_directory(path: str) -> bool:
    """Whether it is a directory of its own, and no link to one."""
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False
