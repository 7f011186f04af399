"""test_ranks -- which process belongs to which rank of a parallel job"""

from __future__ import annotations

from pathlib import Path

import pytest
from both_ways import load_both_ways
from small_experiment import BASE, PID, S, T0, ArithmeticSymbolizer, begin, clock, close, mapping, samples, thread_end, write_log
from writer import record

from collector.errors import ExperimentNotFoundError
from collector.experiment.follow import follow_events
from collector.experiment.merge import events
from collector.format import Kind, MapAction
from collector.load.ranks import with_ranks
from collector.profile import aggregate
from collector.profile.filters import select
from collector.profile.model import Process, Profile


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


AHEAD = 7_000 * S
"""So much later the clock of the second node is, for the same moment."""


def _write_rank(job: Path, node: str, rank: int, ahead_ns: int, *, moved_ns: int = 0, options: tuple[str, ...] = ()) -> None:
    """One process: a module that takes another's place after half a second, two samples before and one after; and a thread without any."""
    start, own = T0 + ahead_ns, job / node / f"rank.{rank}"
    own.parent.mkdir(parents=True, exist_ok=True)
    (job / "ranks").touch()
    write_log(
        own, f"{PID}.0.log",
        begin(at_ns=start, wall_ns=1_700_000_000 * S + moved_ns, rank=rank, local_rank=0, host=node, options=list(options)),
        clock(), mapping("/bin/old", at_ns=start), samples([((BASE + 0x1007,), 0)], [0, 0], at_ns=start),
        mapping("/bin/old", at_ns=start + S // 2, action=MapAction.DELETE), mapping("/bin/new", at_ns=start + S // 2),
        samples([((BASE + 0x2007,), 0)], [0], at_ns=start + S // 2 + rank * S // 10),
        record(Kind.THR_CREATE, start + S // 4, PID + 1, name="brief", start_address=BASE + 0x3000),
        thread_end(PID + 1, user_ns=500_000, at_ns=start + S // 4),
        thread_end(user_ns=3_000_000, at_ns=start + S), close(start + S, user_ns=3_500_000, system_ns=0),
    )  # fmt: skip


def _load(path: Path) -> Profile:
    return load_both_ways(path, symbolizer=ArithmeticSymbolizer())


def _functions(profile: Profile) -> dict[str, float]:
    return {f"{row.module.name}:{row.function.name}": round(row.exclusive[0] * 1e3, 6) for row in aggregate.functions(profile)}


def test_ranks_of_one_node_are_one_experiment(tmp_path: Path) -> None:
    _write_rank(tmp_path / "run.expt", "n0", 0, 0)
    _write_rank(tmp_path / "run.expt", "n0", 1, 0)
    profile = _load(tmp_path / "run.expt")
    (recording,) = profile.recordings
    assert (recording.name, recording.host, recording.log_count, recording.clock_moved_ns) == ("run.expt", "n0", 2, None)
    assert [(process.rank, process.node, process.pid) for process in profile.processes] == [(0, "n0", PID), (1, "n0", PID)]
    assert _functions(profile) == {"old:f1": 4, "new:f2": 2, "old:f3": 1}


def test_nodes_have_one_clock_in_the_end(tmp_path: Path) -> None:
    """The second node's times are the first's, by the wall clock: of processes, samples, modules that come and go, windows, and stand-ins."""
    _write_rank(tmp_path / "run.expt", "n0", 0, 0)
    _write_rank(tmp_path / "run.expt", "n1", 1, AHEAD, moved_ns=0, options=(f"start={AHEAD + T0 + S // 8}",))
    profile = _load(tmp_path / "run.expt")
    (recording,) = profile.recordings
    assert (recording.start_ns, recording.end_ns, recording.host) == (T0, T0 + S, "n0 and 1 other node")
    assert (recording.clock_moved_ns, recording.clock_error_ns) == (0, None)
    assert [process.start_ns for process in profile.processes] == [T0, T0]
    assert [(pause.start_ns, pause.end_ns) for pause in profile.pauses] == [(T0, T0 + S // 8)]
    assert _functions(profile) == {"old:f1": 4, "new:f2": 2, "old:f3": 0.5}  # of what was not recorded all the time, no sample stands for the whole
    early, late = (select(profile, start_ns=T0 + start, end_ns=T0 + end) for start, end in ((0, S // 2 + 1), (S // 2 + 5_000_000, S)))
    assert _functions(early) == {"old:f1": 4, "old:f3": 0.5} and _functions(late) == {"new:f2": 1}


@pytest.mark.parametrize("error, expected", [(("clock_error=2000 ns",), 4000), ((), None)])
def test_how_wrong_the_clocks_may_be(tmp_path: Path, error: tuple[str, ...], expected: int | None) -> None:
    _write_rank(tmp_path / "run.expt", "n0", 0, 0, options=("clock_error=2000 ns",))
    for rank, moved_ns in ((1, 0), (2, 50), (3, 30)):
        _write_rank(tmp_path / "run.expt", "n1", rank, AHEAD, moved_ns=moved_ns, options=error)
    (recording,) = _load(tmp_path / "run.expt").recordings
    assert (recording.clock_moved_ns, recording.clock_error_ns) == (50, expected)


def test_clocks_that_nearly_agree_are_one(tmp_path: Path) -> None:
    _write_rank(tmp_path / "run.expt", "n0", 0, 0)
    _write_rank(tmp_path / "run.expt", "n1", 1, 0, moved_ns=999_000)
    profile = _load(tmp_path / "run.expt")
    assert profile.recordings[0].clock_moved_ns is None and [process.start_ns for process in profile.processes] == [T0, T0]


def test_ranks_that_left_nothing_are_named(tmp_path: Path) -> None:
    _write_rank(tmp_path / "run.expt", "n0", 0, 0, options=("job_size=4",))
    (tmp_path / "run.expt/n0/rank.2").mkdir()
    texts = [message.text for message in _load(tmp_path / "run.expt").messages]
    assert any(text.startswith("rank 2 on n0 is missing: ") for text in texts)
    assert "3 of the job's 4 ranks left nothing here: 1, 2, 3." in texts
    (tmp_path / "other.expt").mkdir()
    (tmp_path / "other.expt/ranks.7").touch()
    with pytest.raises(ExperimentNotFoundError, match="has no ranks"):
        _load(tmp_path / "other.expt")


def test_events_of_all_ranks(tmp_path: Path) -> None:
    _write_rank(tmp_path / "run.expt", "n0", 0, 0)
    _write_rank(tmp_path / "run.expt", "n1", 1, AHEAD)
    assert sum(event.kind is Kind.INITIALIZE for event in events(tmp_path / "run.expt")) == 2
    assert sum(event.kind is Kind.INITIALIZE for event in follow_events(tmp_path / "run.expt", lambda _: None)) == 2


def test_a_process_that_left_nothing_is_of_its_directory() -> None:
    found = with_ranks([_process(3, 1, 1), _process(4, 1, 1, rank=2)], 5, "east")
    assert [(process.rank, process.node) for process in found] == [(5, "east"), (2, "")]
