"""missing_logs -- logs that an experiment must have had: other logs tell of their processes

Who is born by fork is recorded only if its parent is, images of a process are counted from 0 without gaps, and the launcher
tells of its command that nothing was recorded in it, if that is so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import islice

from collector.experiment.log_outline import RawRecord, iter_frames_of
from collector.experiment.origin import Origin
from collector.format import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collector.experiment.directory import ExperimentDirectory

NOT_MADE = "no log could be made"
DELETED = "its log was deleted"
"""Reasons, or how they begin, why nothing is recorded of a process that the recorder was in."""

_TOLD = 3
_FIRST_FIELD = 3  # of PROCFORK, PROCEXIT and SYSEXIT a process: the one that forked, and the one that ended
_ALL_KINDS = frozenset(Kind)


def is_log_missing(reason: str) -> bool:
    """Whether a process that is not recorded for this reason should have been, and lost what it had to say."""
    return reason.startswith((NOT_MADE, DELETED))


def find_missing(origins: Iterable[Origin], parents: Mapping[int, str]) -> dict[int, str]:
    """Processes of which a log is missing, by number, each with its program, "" if that is unknown; `parents` are those that forked one of the others."""
    images: dict[int, set[int]] = {}
    for pid, image in origins:
        images.setdefault(pid, set()).add(image)
    with_gaps = {pid: parents.get(pid, "") for pid, found in images.items() if len(found) <= max(found)}
    return with_gaps | {pid: path for pid, path in parents.items() if pid not in images}


def tell_missing(directory: ExperimentDirectory, parents: Sequence[Collection[int]] | None = None) -> list[str]:
    """A sentence on the logs that are missing and that the launcher did not miss, as those that were deleted since; nothing if there are none.

    `parents` are the processes that forked others, of each part; who does not know them has them read.
    """
    parts = directory.parts or (directory,)
    pids = sorted(pid for part, forked in zip(parts, parents or map(_read_parents, parts)) for pid in _missing_of(part, forked))
    if not pids:
        return []
    if len(pids) == 1:
        return [f"a log of process {pids[0]} is missing: other logs tell of it"]
    more = f" and {len(pids) - _TOLD:,} more" if len(pids) > _TOLD else ""
    return [f"logs of {len(pids):,} processes are missing ({', '.join(map(str, pids[:_TOLD]))}{more}): other logs tell of them"]


def _missing_of(part: ExperimentDirectory, parents: Iterable[int]) -> set[int]:
    own = {log.origin.pid for log in part.logs}
    words = _read_words(part.launch_log.path) if part.launch_log else []
    commands = {_number(record) for record in words if record[0] == Kind.PROCEXIT}
    told = {_number(record) for record in words if record[0] == Kind.SYSEXIT}
    return (find_missing((log.origin for log in part.logs), dict.fromkeys(parents, "")).keys() | commands - own) - told - {0}


def _read_parents(part: ExperimentDirectory) -> set[int]:
    return {parent for log in part.logs if (parent := _read_parent(log.path))}


def _read_parent(path: str) -> int:
    """Who forked the process of a log, as its second record says; 0 if it was not born so."""
    with suppress(OSError):
        for record in islice(iter_frames_of(path, _ALL_KINDS), 2):
            if record[0] == Kind.PROCFORK:
                return _number(record)
    return 0


def _read_words(path: str) -> list[RawRecord]:
    """What the launcher says of processes that ended."""
    with suppress(OSError):
        return list(iter_frames_of(path, (Kind.PROCEXIT, Kind.SYSEXIT)))
    return []


def _number(record: RawRecord) -> int:
    value = record[_FIRST_FIELD] if len(record) > _FIRST_FIELD else None
    return value if isinstance(value, int) else 0
