"""test_reduction -- reduced experiments show what they show when they are loaded, whatever the shards and whoever ran the tasks"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from both_ways import is_close, shown
from small_experiment import BASE, PID, S, T0, begin, clock, close, mapping, samples, thread_end, write_log
from writer import record

from collector.cli.main import main
from collector.cli.reporting.pages import PageOptions, make_page
from collector.errors import CollectorError, ExperimentError, UsageError
from collector.format import Kind, MapAction, MapKind, SampleCause
from collector.load import load, reduction, shards
from collector.load.engines import Call, Engine, open_engine, run_calls
from collector.load.reduction import Options, reduce
from collector.load.serial import read_profile
from collector.profile import place_sums
from collector.profile.model import Profile
from collector.profile.over_ranks import spreads

JIT = 0x7000_0000_0000


def stacks_of(chance: random.Random) -> list[tuple[list[int], int]]:
    """Stacks in two modules, leaf first."""
    return [([BASE + 0x8100 * chance.randrange(1, 40) for _ in range(chance.randrange(1, 6))], 1) for _ in range(6)]


def write_process(directory: Path, pid: int, chance: random.Random, *more: bytes, end_ns: int = T0 + S, **fields: Any) -> None:
    """The log of a process with thirty samples."""
    indexes = [chance.randrange(6) for _ in range(30)]
    write_log(
        directory, f"{pid}.0.log", begin(pid, **fields), *more, clock(), mapping(), mapping("/lib/other.so", BASE + 0x100000),
        samples(stacks_of(chance), indexes, thread=pid, user_us=[chance.randrange(500, 1500) for _ in indexes]),
        thread_end(pid, at_ns=end_ns, user_ns=0), close(end_ns, reason=0, sample_count=30, user_ns=30_000_000, system_ns=0),
    )  # fmt: skip


def write_job(target: Path, rank_count: int, seed: int = 1, clocks_ns: int = 0, statuses: Sequence[int | None] = ()) -> Path:
    """The experiment of a parallel job with four ranks on each node, whose wall clocks are so far apart at the same monotonic time. Launchers saw the first
    ranks end with these wait statuses, the later ones' earlier.
    """
    chance = random.Random(seed)
    target.mkdir()
    (target / "ranks").touch()
    for rank in range(rank_count):
        node = target / f"node{rank // 4}"
        node.mkdir(exist_ok=True)
        directory = node / f"rank.{rank}"
        end_ns = T0 + S + 1000 * rank
        wall_ns = 1_700_000_000 * S + clocks_ns * (rank // 4)
        write_process(directory, PID + rank % 4, chance, rank=rank, local_rank=rank % 4, host=node.name, wall_ns=wall_ns, at_ns=T0 + rank, end_ns=end_ns)
        status = statuses[rank] if rank < len(statuses) else None
        ends = [record(Kind.PROCEXIT, end_ns - 2000 * rank, 0, pid=PID + rank % 4, status=status)] if status is not None else []
        write_log(directory, "launch.log", begin(50, T0, rank=rank, host=node.name, wall_ns=wall_ns, cpu_count=2, options=["job_size=12"]), *(_point(PID + rank % 4, T0 + 1 + n) for n in range(5)),
                  *ends, close(end_ns, reason=0, user_ns=31_000_000, system_ns=0))  # fmt: skip
    return target


def _point(pid: int, time_ns: int) -> bytes:
    readings = dict.fromkeys(("user_ns", "system_ns"), time_ns - T0)
    return record(Kind.SAMPLE, time_ns, 0, **{"label": None, "cause": int(SampleCause.PERIODIC), "pid": pid, **readings})


def write_launch(target: Path, count: int) -> Path:
    """What one launcher recorded of so many processes. The last was forked by the first, and runs code that this one had made; it has its rank, too."""
    chance = random.Random(2)
    dynamic = dict(start=JIT, end=JIT + 64, bias=JIT, name="made", action=int(MapAction.INSERT), map_kind=int(MapKind.DYNAMIC_FUNCTION), path=None)
    for number in range(count):
        code = [record(Kind.MAPPINGCHANGE, T0, 0, **dynamic)] if number == 0 else []
        write_process(target, PID + number, chance, *code, ppid=60, at_ns=T0 + number, rank=3 if number == 0 else None)
    child = PID + count
    fork = record(Kind.PROCFORK, T0 + 1000, 0, parent_pid=PID, child_pid=child)
    write_log(
        target, f"{child}.0.log", begin(child, T0 + 1000, ppid=PID), fork, clock(), mapping(at_ns=T0 + 1000),
        samples([([JIT + 8], 1), ([BASE + 0x200], 1)], [0, 1, 0], thread=child, at_ns=T0 + 2000), close(T0 + S, reason=0),
    )  # fmt: skip
    write_log(
        target, "launch.log", begin(50, T0, cpu_count=2), *(_point(PID + number % count, T0 + 5 + number) for number in range(40)),
        record(Kind.PROCEXIT, T0 + S, 0, pid=PID + 1, status=256), close(T0 + 2 * S, reason=0, user_ns=S, system_ns=0),
    )  # fmt: skip
    return target


def reduced(*paths: Path, jobs: int = 1) -> bytes:
    with open_engine(jobs, environment={}) as engine:
        return reduce([os.fspath(path) for path in paths], engine)


def tables(profile: Profile) -> dict[str, Any]:
    """What is not a sum. The reader's own numbers of code are not in a file."""
    named = ("recordings", "processes", "threads", "pauses", "unrecorded", "losses")
    points = sorted(profile.points, key=lambda point: (point.time_ns, point.pid))
    return {**{name: getattr(profile, name) for name in named}, "points": points, "messages": {message.text for message in profile.messages}}


def check_same(data: bytes, *paths: Path) -> None:
    found, expected = read_profile(data), load(list(paths))
    for name, table in tables(expected).items():
        assert is_close(tables(found)[name], table), name
    assert is_close(shown(found), shown(expected))


@pytest.mark.parametrize("shard_logs", [1, 3, 64])
def test_jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shard_logs: int) -> None:
    monkeypatch.setattr(shards, "SHARD_LOGS", shard_logs)
    monkeypatch.setattr(reduction, "_JOINED", 2)
    job = write_job(tmp_path / "job.expt", 9)
    check_same(reduced(job), job)


@pytest.mark.parametrize(
    ("statuses", "expected"), [((None, 0), 0), ((0, None, None, 256, 512), 512), ((None,), None), ((256, 0), 256), ((0, None, 9), 9)]
)
def test_ends_that_not_every_launcher_saw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, statuses: list[int | None], expected: int | None) -> None:
    monkeypatch.setattr(shards, "SHARD_LOGS", 1)
    monkeypatch.setattr(reduction, "_JOINED", 2)
    job = write_job(tmp_path / "job.expt", 6, statuses=statuses)
    assert load([job]).recordings[0].status == expected
    check_same(reduced(job), job)


def test_nodes_with_clocks_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "SHARD_LOGS", 3)
    job = write_job(tmp_path / "job.expt", 9, clocks_ns=7 * S)
    profile = read_profile(reduced(job))
    assert profile.recordings[0].clock_moved_ns is not None and len({process.start_ns // S for process in profile.processes}) == 3
    check_same(reduced(job), job)


@pytest.mark.parametrize("shard_logs", [1, 2, 64])
def test_processes_of_one_launcher(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shard_logs: int) -> None:
    """Among them code that another process had made, a rank that another one had, and what the launcher saw of each."""
    monkeypatch.setattr(shards, "SHARD_LOGS", shard_logs)
    expt = write_launch(tmp_path / "make.expt", 5)
    profile = read_profile(reduced(expt))
    assert "made" in {function.name for function in profile.functions}
    assert {process.pid: process.rank for process in profile.processes if process.rank is not None} == {PID: 3, PID + 5: 3}
    check_same(reduced(expt), expt)


def test_the_same_bytes_whoever_ran_the_tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "SHARD_LOGS", 2)
    monkeypatch.setattr(reduction, "_JOINED", 2)
    job, expt = write_job(tmp_path / "job.expt", 8), write_launch(tmp_path / "make.expt", 5)
    assert reduced(job, expt) == reduced(job, expt, jobs=2) == reduced(job, expt, jobs=3)


def test_reduced_files_are_reduced_again(tmp_path: Path) -> None:
    first, second = write_job(tmp_path / "a.expt", 3, seed=1), write_job(tmp_path / "b.expt", 3, seed=2)
    (tmp_path / "a.profile").write_bytes(reduced(first))
    check_same(reduced(tmp_path / "a.profile", second), first, second)


def test_a_log_that_cannot_be_read(tmp_path: Path) -> None:
    job = write_job(tmp_path / "job.expt", 3)
    log = job / "node0/rank.1" / f"{PID + 1}.0.log"
    log.write_bytes(log.read_bytes()[:40] + b"x" * 3000)
    check_same(reduced(job), job)


def test_nothing_can_be_read(tmp_path: Path) -> None:
    write_log(tmp_path / "a.expt", "7.0.log", begin(7, version_major=99))
    with pytest.raises(ExperimentError, match="a newer collector is needed"):
        reduced(tmp_path / "a.expt")


def test_ranks_without_samples_at_hand(tmp_path: Path) -> None:
    job = write_job(tmp_path / "job.expt", 9)
    profile, expected = read_profile(reduced(job)), load([job])
    for by in ("rank", "node"):
        for view in ("functions", "objects"):
            found, known = ({_key(row): row for row in spreads(one, by, view)} for one in (profile, expected))
            assert found.keys() == known.keys()
            for key, row in known.items():
                for kind in ("exclusive", "inclusive"):
                    one, other = getattr(found[key], kind), getattr(row, kind)
                    assert (one.mean, one.min, one.max, one.deviation) == pytest.approx((other.mean, other.min, other.max, other.deviation), rel=1e-6, abs=1e-9)
        assert make_page(profile, "overview", None, PageOptions("json", by=by)) == make_page(expected, "overview", None, PageOptions("json", by=by))


def _key(row: Any) -> tuple[str, str]:
    return row.function.name if row.function else "", row.module.name


def test_functions_for_which_there_is_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those with least time are one group of their module, and nothing is lost."""
    monkeypatch.setattr(place_sums, "_ROOM", 0)
    monkeypatch.setattr(place_sums, "_FEWEST", 4)
    job = write_job(tmp_path / "job.expt", 6)
    found, expected = spreads(read_profile(reduced(job)), "rank"), spreads(load([job]), "rank")
    named = [row for row in found if row.function and row.function.name != place_sums.OTHERS]
    assert len(named) == 4 < len(expected) and {row.module.name for row in found if row not in named} == {"prog", "other.so"}
    assert sum(row.exclusive.mean for row in found) == pytest.approx(sum(row.exclusive.mean for row in expected), rel=1e-6)


def test_many_readings_become_few(tmp_path: Path) -> None:
    job = write_job(tmp_path / "job.expt", 3)
    with open_engine(1, environment={}) as engine:
        profile = read_profile(reduce([os.fspath(job)], engine, replace(Options(), most_points=1)))
    times = sorted(point.time_ns for point in profile.points if point.process == 0)
    assert times[0] == T0 + 1 and times[-1] == T0 + 5


def die_once(marker: str, value: int) -> int:
    """Ends its process when it is run for the first time."""
    if not os.path.exists(marker):
        Path(marker).touch()
        os._exit(9)
    return value


def always_die() -> None:
    """Ends its process."""
    os._exit(9)


def test_what_a_lost_worker_did_is_done_again(tmp_path: Path) -> None:
    found: dict[int, int] = {}
    with open_engine(2, environment={}) as engine:
        run_calls(engine, [Call(die_once, (str(tmp_path / "died"), number)) for number in range(9)], found.__setitem__)
        assert found == {number: number for number in range(9)} and engine.lost_count == 1


class BreaksWhileIdle(Executor):
    """A pool that is found to be broken when the third task is given to it."""

    def __init__(self) -> None:
        self.count = 0

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        self.count += 1
        if self.count == 3:
            raise BrokenExecutor("a child process terminated abruptly")
        future: Future[Any] = Future()
        future.set_result(function(*arguments))
        return future


def test_a_worker_that_was_lost_before_the_next_task_is_given() -> None:
    pools: list[BreaksWhileIdle] = []

    def open_pool() -> Executor:
        pools.append(BreaksWhileIdle())
        pools[-1].count = 10 * (len(pools) > 1)
        return pools[-1]

    engine, found = Engine(open_pool, 2), {}
    run_calls(engine, [Call(abs, (-number,)) for number in range(9)], found.__setitem__)
    assert found == {number: number for number in range(9)} and engine.lost_count == 1


def test_workers_that_are_lost_again_and_again_are_told() -> None:
    with open_engine(2, environment={}) as engine, pytest.raises(CollectorError, match="workers were lost 4 times"):
        run_calls(engine, [Call(always_die, ())], lambda number, result: None)


def test_an_error_in_a_task_ends_all() -> None:
    with open_engine(2, environment={}) as engine, pytest.raises(ZeroDivisionError):
        run_calls(engine, [Call(divmod, (1, number % 2)) for number in range(20)], lambda number, result: None)


def test_no_more_tasks_wait_than_workers_can_soon_begin() -> None:
    begun: list[int] = []

    def calls() -> Any:
        for number in range(100):
            begun.append(number)
            yield Call(abs, (number,))

    ahead: list[int] = []
    with open_engine(2, environment={}) as engine:
        run_calls(engine, calls(), lambda number, result: ahead.append(len(begun)))
    assert all(count <= done + 2 * 2 for done, count in enumerate(ahead, 1))


def test_every_rank_would_do_everything() -> None:
    with pytest.raises(UsageError, match=r"mpi4py\.futures.*collector\[mpi\]"), open_engine(environment={"OMPI_COMM_WORLD_SIZE": "4"}):
        pass


def test_dask_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(CollectorError, match=r"collector\[dask\]"), open_engine(scheduler="tcp://127.0.0.1:1"):
        pass


@pytest.mark.parametrize("words", [("-j", "0", "-o", "a"), ("-o", "."), ()])
def test_command_lines_that_make_no_sense(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["reduce", "x.expt", *words]) == 2


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    write_job(tmp_path / "job.expt", 4)
    assert main(["reduce", "job.expt", "-j", "1", "-o", "job.profile"]) == 0
    assert capsys.readouterr().out.startswith("job.profile: ")
    assert [main(["report", name, "functions", "-o", f"{name}.txt"]) for name in ("job.expt", "job.profile")] == [0, 0]
    assert Path("job.expt.txt").read_text() == Path("job.profile.txt").read_text()
    assert main(["reduce", "none.expt", "-o", "job.profile"]) == 1 and Path("job.profile").stat().st_size > 1000
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache", "job.expt", "job.expt.txt", "job.profile", "job.profile.txt"]
