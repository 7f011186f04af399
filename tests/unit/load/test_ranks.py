"""test_ranks -- which process belongs to which rank of a parallel job"""

from __future__ import annotations

from collector.load.ranks import with_ranks
from collector.profile.model import Process


def _process(pid: int, parent: int, start: int, rank: int | None = None, image: int = 0, first_image: int = 0) -> Process:
    return Process(0, pid, image, first_image, parent, start_ns=start, rank=rank, local_rank=rank)


def test_what_a_rank_runs_belongs_to_it():
    mpirun, before, rank = _process(1, 0, 1), _process(2, 1, 2), _process(2, 1, 3, rank=5, image=1)
    child, grandchild, cleared = _process(3, 2, 4), _process(4, 3, 5), _process(4, 3, 6, image=1)
    found = with_ranks([mpirun, before, rank, child, grandchild, cleared])
    assert [process.rank for process in found] == [None, None, 5, 5, 5, 5]
    assert [process.local_rank for process in found] == [None, None, 5, 5, 5, 5]


def test_a_number_that_is_used_again_is_another_process():
    found = with_ranks([_process(2, 1, 1, rank=5), _process(2, 1, 9, image=1, first_image=1)])
    assert [process.rank for process in found] == [5, None]


def test_a_rank_of_its_own_counts_more_than_its_parents():
    assert [process.rank for process in with_ranks([_process(1, 0, 1, rank=0), _process(2, 1, 2, rank=7)])] == [0, 7]
