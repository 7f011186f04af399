"""test_ranks -- the ranks of a parallel job in one experiment: right for each of them, and kept whatever happens to one"""

from __future__ import annotations

import json
import os
import re
import select
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from math import sqrt
from pathlib import Path

import pytest
from recorded import IS_THOROUGH, Outcome, Recorded, clean_environment, collector_command, execute, judge

from collector.profile import aggregate
from collector.profile.filters import select as chosen
from collector.profile.over_ranks import spreads

LAUNCHERS = {"openmpi": ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"], "mpich": ["mpirun.mpich", "-launcher", "fork"]}
PERIOD_NS = 1_062_699
LOOKS_NS = 10e6
NODE = os.uname().nodename

FOUND = [mpi for mpi in LAUNCHERS if shutil.which(f"mpirun.{mpi}") and shutil.which(f"mpicc.{mpi}")]

with_each = pytest.mark.parametrize("mpi", LAUNCHERS)
with_first, with_last = (pytest.mark.parametrize("mpi", LAUNCHERS if IS_THOROUGH or not FOUND else one) for one in (FOUND[:1], FOUND[-1:]))
"""For what is the recorder's own, and not the launcher's: with one of them; a thorough run does with each."""


@pytest.fixture
def program(compiled: Callable[..., Path], mpi: str) -> Path:
    if not all(map(shutil.which, (f"mpirun.{mpi}", f"mpicc.{mpi}"))):
        pytest.skip(f"this system has no mpirun.{mpi} and mpicc.{mpi}")
    return compiled("ranks.c", "-O1", compiler=f"mpicc.{mpi}")


@pytest.fixture
def run(recorder: Path, mpi: str) -> Callable[..., Recorded]:
    """run(count, experiment, command, options=...) is `mpirun -n count collector record -o experiment command`."""

    def start(count: int, experiment: Path, *command: object, options: tuple[object, ...] = ()) -> Recorded:
        recording = collector_command("record", "-o", experiment, *options, *command)
        return Recorded(execute([*LAUNCHERS[mpi], "-n", count, *recording]), experiment)

    return start


def sentences(outcome: Outcome) -> list[str]:
    """What the recorders said."""
    return [line for line in outcome.stderr.splitlines() if line.startswith("collector:")]


def judge_rank(recorded: Recorded, rank: int, truth: dict[str, int]) -> None:
    """Assert that the two functions of a rank have the time that it says it spent in them."""
    rows = {row.function.name: row.inclusive[0] * 1e9 for row in aggregate.functions(chosen(recorded.profile, ranks={rank}))}
    for name in ("even", "uneven"):
        true_ns = truth[f"{rank}.{name}"]
        allowed_ns = 4 * sqrt(true_ns * PERIOD_NS) + 0.01 * true_ns + 2e6
        judge(abs(rows.get(name, 0) - true_ns) <= allowed_ns, f"rank {rank}: {name} {rows.get(name, 0) / 1e6:.1f} ms, {true_ns / 1e6:.1f} true")


def ranks_of(recorded: Recorded) -> list[int | None]:
    return sorted({process.rank for process in recorded.profile.processes}, key=lambda rank: -1 if rank is None else rank)


@with_each
def test_all_ranks_are_one_experiment(run: Callable[..., Recorded], program: Path, tmp_path: Path, mpi: str) -> None:
    """Eight ranks of one launcher, four of the others; eight of each in a thorough run."""
    count = 8 if IS_THOROUGH or mpi == FOUND[0] else 4
    recorded = run(count, tmp_path / "run.expt", program, 10)
    truth = recorded.outcome.truth
    assert recorded.outcome.status == 0, recorded.outcome.stderr
    assert len(list(recorded.path.glob("*/rank.*/node.log"))) == 1  # the metrics of the machine
    (said,) = sentences(recorded.outcome)
    assert "run.expt: rank 0: " in said and said.endswith("nothing lost")
    assert ranks_of(recorded) == list(range(count)) and not recorded.profile.losses
    assert {process.node for process in recorded.profile.processes} == {NODE}
    assert sorted(process.local_rank for process in recorded.profile.processes) == list(range(count))  # Open MPI 6 may count them in an order of its own
    for rank in range(count):
        judge_rank(recorded, rank, truth)
    true_ns = [truth[f"{rank}.uneven"] for rank in range(count)]
    (row,) = [row for row in spreads(recorded.profile, "rank") if row.function.name == "uneven"]
    spread, mean_ns = row.inclusive, sum(true_ns) / count
    judge(spread.max_at == count - 1, f"rank {spread.max_at} is not the one that works longest")
    judge(abs(spread.mean * 1e9 - mean_ns) <= 4 * sqrt(mean_ns * PERIOD_NS / count) + 2e6, f"{spread.mean:.4f} s on average, {mean_ns / 1e9:.4f} true")
    judge(abs(spread.max * 1e9 - true_ns[-1]) <= 4 * sqrt(true_ns[-1] * PERIOD_NS) + 3e6, f"{spread.max:.4f} s at most, {true_ns[-1] / 1e9:.4f} true")
    accounted_ns = sum((process.user_ns or 0) + (process.system_ns or 0) for process in recorded.profile.processes)
    judge(abs(recorded.total_ns - accounted_ns) <= 0.01 * accounted_ns + 8e6, f"{recorded.total_ns / 1e9:.3f} s of {accounted_ns / 1e9:.3f} accounted")
    assert accounted_ns >= sum(truth[f"{rank}.uneven"] + truth[f"{rank}.even"] for rank in range(count))

    again = run(2, tmp_path / "run.expt", program, 1)
    assert again.outcome.status and not again.outcome.truth
    assert all("is there already" in line or "has a rank" in line for line in sentences(again.outcome))
    view = execute(collector_command("report", recorded.path, "threads", "--json", "--sort", "rank"))
    assert {(row["rank"], row["local_rank"], row["node"]) for row in json.loads(view.stdout)["rows"]} == {
        (process.rank, process.local_rank, process.node) for process in recorded.profile.processes
    }


@with_each
def test_waiting_at_a_barrier_by_rank(run: Callable[..., Recorded], program: Path, tmp_path: Path) -> None:
    """Ranks spin there, or sleep; what the scheduler took from them meanwhile is known of the thread, but not where it was."""
    recorded = run(3, tmp_path / "run.expt", program, 20, "meet", options=("--wall",))
    truth, names = recorded.outcome.truth, [metric.name for metric in recorded.profile.metrics]
    for rank in range(3):
        profile = chosen(recorded.profile, ranks={rank}, category="MPI")
        rows = {row.function.name: row.inclusive for row in aggregate.functions(profile)}
        calls = [values for name, values in rows.items() if name in ("MPI_Barrier", "PMPI_Barrier")]
        found_ns = 1e9 * sum(values[names.index("wall")] for values in calls)
        main = max((row for row in aggregate.threads(chosen(recorded.profile, ranks={rank})) if row.thread.name != "async"), key=lambda row: row.values[0])
        ready_ns, true_ns = 1e9 * main.values[names.index("runnable")], truth[f"{rank}.barrier"]
        allowed_ns = 0.02 * true_ns + 4 * sqrt(true_ns * LOOKS_NS) + 5e6
        judge(found_ns - allowed_ns <= true_ns <= found_ns + ready_ns + allowed_ns, f"rank {rank}: {found_ns / 1e6:.1f} ms, {ready_ns / 1e6:.1f} ready, {true_ns / 1e6:.1f} true")


@with_each
def test_ranks_below_a_recorded_mpirun_are_named(record: Callable[..., Recorded], program: Path, mpi: str) -> None:
    recorded = record([*LAUNCHERS[mpi], "-n", 2, program, 10])
    assert recorded.outcome.status == 0, recorded.outcome.stderr
    assert ranks_of(recorded) == [None, 0, 1]
    for rank in range(2):
        judge_rank(recorded, rank, recorded.outcome.truth)


@with_first
def test_chosen_ranks_alone_are_recorded(run: Callable[..., Recorded], program: Path, tmp_path: Path) -> None:
    recorded = run(4, tmp_path / "run.expt", program, 2, options=("--ranks", "1-/2"))
    assert recorded.outcome.status == 0, recorded.outcome.stderr
    assert {f"{rank}.even" for rank in range(4)} <= recorded.outcome.truth.keys()
    assert ranks_of(recorded) == [1, 3]
    (said,) = sentences(recorded.outcome)
    assert "run.expt: rank 1: " in said


@with_first
def test_ranks_at_rates_of_their_own(run: Callable[..., Recorded], record: Callable[..., Recorded], program: Path, tmp_path: Path, mpi: str) -> None:
    rates = ("-p", "off", "--rank-frequency", "1-=lo", "--rank-frequency", "2=on")
    for recorded in (run(3, tmp_path / "run.expt", program, 10, options=rates), record([*LAUNCHERS[mpi], "-n", 3, program, 10], options=rates)):
        assert recorded.outcome.status == 0, recorded.outcome.stderr
        clocks = {process.rank: process.clock for process in recorded.profile.processes if process.rank is not None}
        assert [(clocks[rank].name == "off", clocks[rank].period_ns) for rank in range(3)] == [(True, 0), (False, 10_309_279), (False, PERIOD_NS)]
        judge_rank(recorded, 2, recorded.outcome.truth)


@with_last
def test_chosen_ranks_below_a_recorded_mpirun(record: Callable[..., Recorded], program: Path, mpi: str) -> None:
    recorded = record([*LAUNCHERS[mpi], "-n", 3, program, 2], options=("--ranks", "0,2"))
    assert ranks_of(recorded) == [None, 0, 2]
    assert {f"{rank}.even" for rank in range(3)} <= recorded.outcome.truth.keys()
    assert ["one of --ranks 0,2" in one.reason for one in recorded.profile.unrecorded if one.program.endswith("ranks")] == [True]


@with_each
def test_a_killed_rank_keeps_its_samples_and_those_of_all_others(run: Callable[..., Recorded], program: Path, tmp_path: Path) -> None:
    recorded = run(4, tmp_path / "run.expt", program, 10, "die", 2)
    assert recorded.outcome.status != 0
    assert ranks_of(recorded) == list(range(4))
    truth = recorded.outcome.truth
    for rank in range(4):
        if f"{rank}.uneven" in truth:  # the others may not have come so far
            judge_rank(recorded, rank, truth)
    assert "2.uneven" in truth
    (killed,) = [process for process in recorded.profile.processes if process.rank == 2]
    assert not killed.is_closed


@pytest.fixture
def told(tmp_path: Path) -> Path:
    directory = tmp_path / "told"
    directory.mkdir()
    return directory


@with_each
def test_a_killed_mpirun_leaves_all_ranks(recorder: Path, program: Path, tmp_path: Path, told: Path, mpi: str) -> None:
    """Whoever is left of the job is killed as well, as a batch system does: the readers find everything where it was."""
    recording = collector_command("record", "-o", tmp_path / "run.expt", program, 10, "wait", told)
    command = [str(word) for word in [*LAUNCHERS[mpi], "-n", 4, *recording]]
    output = tmp_path / "output"
    with output.open("w") as file:
        job = subprocess.Popen(command, stdout=file, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, env=clean_environment(), start_new_session=True)
    try:
        pids = _wait_for_ranks(job, told, 4)
        launchers = [int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]) for pid in pids]
    finally:
        job.kill()
        job.wait()
    for pid in launchers + pids:
        _end(pid)
    recorded = Recorded(Outcome(-signal.SIGKILL, output.read_text(), ""), tmp_path / "run.expt")
    assert ranks_of(recorded) == list(range(4))
    assert all(not process.is_closed and not process.is_running for process in recorded.profile.processes)
    assert not [loss for loss in recorded.profile.losses if loss.count]
    expected = {name: (2 if name == "uneven" else 4) * 10e6 for name in ("even", "uneven")}  # what mpirun was told to print may have gone with it
    truth = {f"{rank}.{name}": int(ns if (rank, name) != (3, "uneven") else 80e6) for rank in range(4) for name, ns in expected.items()}
    for rank in range(4):
        judge_rank(recorded, rank, {**truth, **recorded.outcome.truth})


def _wait_for_ranks(job: subprocess.Popen[bytes], told: Path, count: int) -> list[int]:
    """The process ids of the ranks, when all have told theirs."""
    while len(names := os.listdir(told)) < count:
        assert job.poll() is None, "mpirun has ended"
        with pytest.raises(subprocess.TimeoutExpired):  # sleeps no longer than mpirun lives
            job.wait(0.05)
    return [int(name.partition(".")[2]) for name in names]


def _end(pid: int) -> None:
    """Kill a process, if it is still there, and wait until it is gone."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        signal.pidfd_send_signal(handle, signal.SIGKILL)
        select.select([handle], [], [])
    except ProcessLookupError:
        pass
    finally:
        os.close(handle)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small file system to fill")
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=220k", "tmpfs", place], capture_output=True, text=True)
    if mounted.returncode:
        pytest.skip(f"this system does not let us mount: {mounted.stderr.strip()}")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


@with_last
def test_a_full_disk_is_told_and_harms_no_rank(run: Callable[..., Recorded], program: Path, small_disk: Path) -> None:
    """All ranks run to their end, each says what became of it, and what there was room for is read."""
    recorded = run(8, small_disk / "run.expt", program, 15, options=("-p", "hi"))
    assert recorded.outcome.status == 0 and {f"{rank}.uneven" for rank in range(8)} <= recorded.outcome.truth.keys()
    told = {int(match[1]): line for line in sentences(recorded.outcome) if (match := re.search(r"rank[ .](\d+)", line)) and "disk" in line}
    assert told, recorded.outcome.stderr
    assert set(ranks_of(recorded)) <= set(range(8))
    for rank in set(range(8)) - told.keys():
        judge_rank(recorded, rank, recorded.outcome.truth)


@with_first
def test_a_rank_whose_directory_cannot_be_made_runs_unrecorded(run: Callable[..., Recorded], program: Path, small_disk: Path) -> None:
    small_disk.joinpath("filler").write_bytes(bytes(216 << 10))
    recorded = run(3, small_disk / "run.expt", program, 1)
    assert recorded.outcome.status == 0 and {f"{rank}.uneven" for rank in range(3)} <= recorded.outcome.truth.keys()
    assert any(line.endswith("cannot be written: no space left on device: this rank runs unrecorded") for line in sentences(recorded.outcome))
