"""rank -- which rank of a parallel job this process is, as its launcher told it; the other side is libcollector_c/src/control/rank.c"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

# The nearest launcher first: an mpirun may run below srun.
_OF_JOB = ("PMIX_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMI_ID", "MV2_COMM_WORLD_RANK", "MPI_RANKID", "PALS_RANKID")
_OF_NODE = ("PMIX_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "MV2_COMM_WORLD_LOCAL_RANK", "PALS_LOCAL_RANKID")
_MOST_DIGITS = 9


class Rank(NamedTuple):
    """None: it is no rank, or its launcher does not say."""

    rank: int | None
    local_rank: int | None


def read_rank(environment: Mapping[str, str]) -> Rank:
    """Which rank a process with this environment is."""
    # A SLURM batch script has the variables of rank 0, but is no step of the job.
    slurm = _first(environment, ("SLURM_PROCID",)) if "SLURM_STEP_ID" in environment else None
    of_job = _first(environment, _OF_JOB)
    rank = slurm if of_job is None else of_job
    if rank is None:
        return Rank(None, None)
    return Rank(rank, _first(environment, (*_OF_NODE, "SLURM_LOCALID") if rank == slurm else _OF_NODE))


def _first(environment: Mapping[str, str], names: tuple[str, ...]) -> int | None:
    texts = (environment.get(name, "") for name in names)
    return next((int(text) for text in texts if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS), None)
