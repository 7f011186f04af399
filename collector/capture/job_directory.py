"""job_directory -- one experiment of all ranks of a parallel job: NAME.expt/NODE/rank.N, each an experiment of its own

Ranks on many nodes make it together and never wait for each other. What this rests on is what network file systems give too: that mkdir, and
open with O_EXCL, succeed once at most. Nothing is locked, renamed or written by two. A mkdir that finds the directory may have made it itself,
when the answer of the server was lost: so it is launch.log, made with O_EXCL, that a rank has to itself.
"""

from __future__ import annotations

import errno
import os

from collector.capture.rank import Rank, as_part_of_name
from collector.errors import ExperimentExistsError, NoSpaceError, RecordError, UsageError
from collector.regular_file import create_private, make_private_directory

MARK = "ranks"
"""Begins the name of the empty file that tells a job's experiment from all else, behind which is the job's own name."""

_NODE_READER = "node.reader"
_TAKEN = frozenset(("objects", "archive"))  # names of other things in an experiment


def joins(rank: Rank | None) -> bool:
    """Whether there are other ranks to share an experiment with."""
    return rank is not None and rank.size != 1


def name_of_job(name: str | None, program: str, rank: Rank) -> str:
    """The experiment that all ranks of a job name alike. UsageError if nobody gave it a name, nor the job."""
    if name is None and not rank.job:
        raise UsageError("the ranks of a job need one name for their experiment, which their launcher does not give: -o NAME.expt")
    return name or f"{os.path.basename(program)}.{rank.job}.expt"


def claim_rank(name: str, rank: Rank, node: str) -> str:
    """Make the directory of a rank in the experiment of its job, and give its absolute path.

    ExperimentExistsError if there is an experiment of somebody else, or another job; RecordError if nothing can be written there.
    """
    path = os.path.abspath(name)
    taken = ExperimentExistsError(f"{name} is there already, and not of this job; choose another name, or remove it")
    mark = f"{MARK}.{rank.job}" if rank.job else MARK
    try:
        _make(path)
        if not os.path.lexists(os.path.join(path, mark)):
            present = os.listdir(path)
            if present and mark not in present:  # it came meanwhile
                raise taken
            os.close(os.open(os.path.join(path, mark), os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))
        if any(is_mark(other) and other != mark for other in os.listdir(path)):
            raise taken
        of_node = os.path.join(path, node_name(node))
        own = os.path.join(of_node, f"rank.{rank.rank}")
        _make(of_node)
        _make(own)
    except OSError as error:
        raise cannot_make(name, error) from None
    if os.path.lexists(os.path.join(own, "launch.log")):
        raise ExperimentExistsError(f"{name} has a rank {rank.rank} already; choose another name, or remove it")
    return own


def cannot_make(name: str, error: OSError, what: str = "made") -> RecordError:
    """An error of the system as one of ours."""
    kind = NoSpaceError if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) else RecordError
    return kind(f"{name} cannot be {what}: {why_not(error.errno) if error.errno else error}")


def why_not(number: int) -> str:
    """What an errno says to whoever cannot make or write a file."""
    return "the size of its files is limited (ulimit -f)" if number == errno.EFBIG else os.strerror(number).lower()


def is_mark(name: str) -> bool:
    """Whether a file of this name says that an experiment is of all ranks of a job."""
    return name == MARK or name.startswith(f"{MARK}.")


def node_name(host: str) -> str:
    """The name of a node's directory."""
    name = as_part_of_name(host).lstrip(".") or "node"
    return f"{name}.node" if name in _TAKEN or is_mark(name) else name


def claim_node(experiment: str) -> bool:
    """Whether this rank, of all on its node, is the one that reads the metrics of the machine."""
    try:
        os.close(create_private(os.path.join(os.path.dirname(experiment), _NODE_READER)))
    except OSError:
        return False
    return True


def is_node_directory(path: str) -> bool:
    """Whether there are ranks in a directory, and nothing else."""
    names = os.listdir(path)
    return bool(names) and all(name == _NODE_READER or (name.startswith("rank.") and name.removeprefix("rank.").isdecimal()) for name in names)


def _make(path: str) -> None:
    try:
        make_private_directory(path)
    except FileExistsError:
        if not os.path.isdir(path):
            raise
