"""test_stack_workers -- what several processes read is what one process reads, whatever becomes of them"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from small_experiment import BASE, PID, S, T0, ArithmeticSymbolizer, begin, clock, close, mapping, samples, write_log

from collector.format import MapAction
from collector.load import load, stack_workers
from collector.profile.model import Profile

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="workers are forks")

BLOCKS = 60


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Logs of any size are worth it, with a few blocks a batch; workers forget what they know now and then."""
    monkeypatch.setattr(stack_workers, "WORTHWHILE_BYTES", 0)
    monkeypatch.setattr(stack_workers, "_BATCH_BYTES", 300)
    monkeypatch.setattr(stack_workers, "_MOST_CHAINS", 150)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1, 2, 3}, raising=False)


def random_log(directory: Path, seed: int, *changes: bytes) -> Path:
    """A log of stacks that have much in common; some are empty, some have frames of the recorder or of nobody."""
    rng = random.Random(seed)
    records = [begin(), clock(), mapping(), mapping("/lib/libcollector.so", 2 * BASE), *changes]
    stack: list[int] = []
    for block in range(BLOCKS):
        stacks = []
        for _ in range(rng.randrange(1, 8)):
            stack = stack[rng.randrange(len(stack) + 1) :] if rng.random() < 0.95 else []
            stack = [rng.choice((1, 1, 1, 2, 4)) * BASE + rng.randrange(1, 40) * 16 for _ in range(rng.randrange(5))] + stack
            stacks.append((tuple(stack), rng.randrange(7)))
        indexes = [rng.randrange(len(stacks) + (rng.random() < 0.1)) for _ in range(rng.randrange(1, 12))]
        records.append(samples(stacks, indexes, at_ns=T0 + block * S // 100))
    write_log(directory, f"{PID}.0.log", *records, close(at_ns=T0 + S))
    write_log(directory, f"{PID + 1}.0.log", begin(PID + 1), *records[1:], close(at_ns=T0 + S))
    return directory


def tables_of(path: Path, may_fork: bool) -> tuple[object, ...]:
    profile: Profile = load(path, symbolizer=ArithmeticSymbolizer(), may_fork=may_fork)
    blocks = [(block.thread, block.time_ns, list(block.stacks)) for block in profile.blocks]
    return profile.modules, profile.functions, profile.frames, profile.paths, profile.cells, blocks


@pytest.mark.parametrize("seed", range(3))
def test_the_profile_is_the_same(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = []
    read = stack_workers.StackWorkers.read
    monkeypatch.setattr(
        stack_workers.StackWorkers, "read", lambda *args: (taken.append(stacks) or (block, stacks) for block, stacks in read(*args))
    )
    path = random_log(tmp_path / "a.expt", seed)
    assert tables_of(path, may_fork=True) == tables_of(path, may_fork=False)
    assert len(taken) == 2 * BLOCKS and None not in taken
    assert len({stacks.worker for stacks in taken} - {os.getpid()}) > 0


def test_it_is_the_same_where_an_address_changes_its_meaning(tmp_path: Path) -> None:
    half = T0 + S // 3
    changes = (mapping(at_ns=half, action=MapAction.DELETE), mapping("/bin/other", at_ns=half + 1000))
    path = random_log(tmp_path / "a.expt", 4, *changes)
    assert tables_of(path, may_fork=True) == tables_of(path, may_fork=False)


def read_half_and_die(log: int, batch: list[tuple[bytes, int]]) -> list[stack_workers.BlockStacks]:
    """A worker that is killed at its third batch."""
    read_half_and_die.calls += 1  # type: ignore[attr-defined]
    if read_half_and_die.calls == 3:  # type: ignore[attr-defined]
        os.kill(os.getpid(), signal.SIGKILL)
    return [stack_workers._read_block(log, *block) for block in batch]


def test_workers_that_are_killed_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read_half_and_die.calls = 0  # type: ignore[attr-defined]
    monkeypatch.setattr(stack_workers, "_read_batch", read_half_and_die)
    path = random_log(tmp_path / "a.expt", 5)
    assert tables_of(path, may_fork=True) == tables_of(path, may_fork=False)


def test_without_a_spare_processor_there_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0}, raising=False)
    monkeypatch.setattr(stack_workers, "_read_batch", None)
    path = random_log(tmp_path / "a.expt", 6)
    assert tables_of(path, may_fork=True) == tables_of(path, may_fork=False)


def test_workers_end_with_their_parent(tmp_path: Path) -> None:
    """A reader that is killed leaves nobody behind who holds its pipes."""
    program = (
        "import os, signal\n"
        "from collector.load import stack_workers\n"
        "os.sched_getaffinity = lambda pid: {0, 1, 2}\n"
        "workers = stack_workers.StackWorkers()\n"
        "assert workers._are_there() and workers._executor.submit(os.getpid).result() != os.getpid()\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    reader = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    assert reader.stdout is not None and reader.stdout.read() == b""  # its end comes when the last of them has closed it
    assert reader.wait() == -signal.SIGKILL
