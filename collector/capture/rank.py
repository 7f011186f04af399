"""rank -- which rank of a parallel job this process is, as its launcher told it; the other side is libcollector_c/src/control/rank.c"""

from __future__ import annotations

from collections.abc import Mapping

from collector.errors import UsageError
from collector.named_tuple import NamedTuple

# The nearest launcher first: an mpirun may run below srun.
_OF_JOB = ("PMIX_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMI_ID", "MV2_COMM_WORLD_RANK", "MPI_RANKID", "PALS_RANKID")
_OF_NODE = ("PMIX_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "MV2_COMM_WORLD_LOCAL_RANK", "PALS_LOCAL_RANKID")
_SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "MPI_NRANKS", "PALS_SIZE")
_JOBS = ("PMIX_NAMESPACE", "PMI_JOBID", "PALS_APID")
_MOST_DIGITS = 9


class Rank(NamedTuple):
    """A rank of a job. `size` is how many it has, `job` what no other job of its launcher is called; None, or "": the launcher does not say."""

    rank: int
    local_rank: int | None = None
    size: int | None = None
    job: str = ""


def read_rank(environment: Mapping[str, str]) -> Rank | None:
    """Which rank a process with this environment is; None if it is none."""
    # A SLURM batch script has the variables of rank 0, but is no step of the job.
    slurm = _first(environment, ("SLURM_PROCID",)) if "SLURM_STEP_ID" in environment else None
    of_job = _first(environment, _OF_JOB)
    rank = slurm if of_job is None else of_job
    if rank is None:
        return None
    is_step = rank == slurm
    step = f"{environment.get('SLURM_JOB_ID', '')}.{environment['SLURM_STEP_ID']}" if is_step else ""
    return Rank(
        rank,
        _first(environment, (*_OF_NODE, "SLURM_LOCALID") if is_step else _OF_NODE),
        _first(environment, (*_SIZES, "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS") if is_step else _SIZES),
        as_part_of_name(step or next(filter(None, map(environment.get, _JOBS)), "")),
    )


def as_part_of_name(text: str) -> str:
    """The text as names of files can have it, with underlines for everything unusual."""
    return "".join(character if character.isalnum() or character in "_.-" else "_" for character in text)


def _first(environment: Mapping[str, str], names: tuple[str, ...]) -> int | None:
    texts = (environment.get(name, "") for name in names)
    return next((int(text) for text in texts if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS), None)


class RankRange:
    """Every `step`-th rank from `first` to `last`; None: to the end."""

    __slots__ = ("first", "last", "step")

    def __init__(self, first: int, last: int | None, step: int = 1) -> None:
        self.first = first
        self.last = last
        self.step = step

    def __contains__(self, rank: object) -> bool:
        if not isinstance(rank, int) or rank < self.first or (self.last is not None and rank > self.last):
            return False
        return (rank - self.first) % self.step == 0

    def __str__(self) -> str:
        if self.first == self.last:
            return str(self.first)
        return f"{self.first}-{'' if self.last is None else self.last}{'' if self.step == 1 else f'/{self.step}'}"


class Ranks:
    """Those in any of some ranges."""

    __slots__ = ("ranges",)

    def __init__(self, ranges: tuple[RankRange, ...]) -> None:
        self.ranges = ranges

    def __contains__(self, rank: object) -> bool:
        return any(rank in one for one in self.ranges)

    def __str__(self) -> str:
        return ",".join(map(str, self.ranges))


class RankPeriods(NamedTuple):
    """Periods of the clock in ns, None where it is off, by rank: the last list with a rank counts."""

    lists: tuple[tuple[Ranks, int | None], ...]

    def of(self, rank: int, otherwise: int | None) -> int | None:
        """The period of a rank."""
        return next((period for ranks, period in reversed(self.lists) if rank in ranks), otherwise)

    def encode(self) -> str:
        """The text that libcollector parses."""
        return ";".join(f"{ranks}:{period or 0}" for ranks, period in self.lists).replace(",", "+")


def parse_ranks(text: str, option: str = "--ranks") -> Ranks:
    """The ranks that a list such as `0,8-15,16-/4` means. UsageError if it means none."""
    import re  # seldom asked for

    found = []
    for word in text.split(","):
        match = re.fullmatch(r"([0-9]{1,9})(?:(-)([0-9]{1,9})?(?:/([0-9]{1,9}))?)?", word.strip())
        if match is None:
            raise UsageError(f"{option} takes ranks such as 0,8-15 or 0-/4 (every fourth), not {text!r}")
        first, step = int(match[1]), int(match[4] or 1)
        last = (int(match[3]) if match[3] else None) if match[2] else first
        if step == 0 or (last is not None and last < first):
            raise UsageError(f"{option} {text}: {word} means no rank")
        found.append(RankRange(first, last, step))
    return Ranks(tuple(found))
