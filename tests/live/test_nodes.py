"""test_nodes -- ranks on several nodes, which here are namespaces with names and clocks of their own, under the variables that srun sets"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from recorded import Outcome, Recorded, clean_environment, collector_command, judge

from collector.profile.filters import select as chosen
from collector.profile.over_ranks import total_spread

RANKS = 4
SPLIT = ("ten", "twenty", "thirty", "forty")
AHEAD_S = 100_000
"""So much later CLOCK_MONOTONIC is on each node than on the one before."""


@pytest.fixture
def on_node() -> Callable[[int], list[str]]:
    """on_node(number) is what to put in front of a command that runs on a node."""
    words = ["unshare", "--uts", "--time", "--fork"]
    tried = subprocess.run([*words, "--monotonic", "5", "true"], capture_output=True) if shutil.which("unshare") else None
    if tried is None or tried.returncode:
        pytest.skip("this system has no time namespaces for us")
    return lambda number: [*words, "--monotonic", str(number * AHEAD_S), "sh", "-c", f'hostname node{number} && exec "$@"', "sh"]


def test_two_nodes_of_srun(recorder: Path, compiled: Callable[..., Path], on_node: Callable[[int], list[str]], tmp_path: Path) -> None:
    program = compiled("split_cpu.c")
    jobs = []
    for rank in range(RANKS):
        slurm = {"SLURM_JOB_ID": 17, "SLURM_STEP_ID": 0, "SLURM_PROCID": rank, "SLURM_LOCALID": rank % 2, "SLURM_STEP_NUM_TASKS": RANKS}
        environment = clean_environment({name: str(number) for name, number in slurm.items()})
        command = [os.fspath(word) if isinstance(word, Path) else str(word) for word in [*on_node(rank // 2), *collector_command("record", program, 100)]]
        jobs.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, cwd=tmp_path))
    outcomes = [Outcome(job.wait(), *told) for job in jobs for told in [job.communicate(timeout=120)]]
    assert [outcome.status for outcome in outcomes] == [0] * RANKS, [outcome.stderr for outcome in outcomes]
    assert [bool(outcome.stderr) for outcome in outcomes] == [True, False, False, False], [outcome.stderr for outcome in outcomes]

    recorded = Recorded(outcomes[0], tmp_path / "split_cpu.17.0.expt")
    profile = recorded.profile
    assert sorted((process.rank, process.local_rank, process.node) for process in profile.processes) == [
        (0, 0, "node0"), (1, 1, "node0"), (2, 0, "node1"), (3, 1, "node1"),
    ]  # fmt: skip
    (recording,) = profile.recordings
    assert recording.end_ns - recording.start_ns < AHEAD_S * 1e9 / 2  # they ran beside each other
    assert recording.clock_moved_ns is not None
    at_least, at_most = (sum(outcome.truth[name] for outcome in outcomes for name in names) for names in (SPLIT, ("process",)))
    judge(0.98 * at_least <= recorded.total_ns <= 1.02 * at_most, f"{recorded.total_ns / 1e6:.1f} ms, {at_least / 1e6:.1f} to {at_most / 1e6:.1f} true")
    whole = chosen(profile, start_ns=recording.start_ns, end_ns=recording.end_ns + 1)
    judge(abs(total_spread(whole, "node").mean - recorded.total_ns / 2e9) < 0.001 * recorded.total_ns / 1e9, "all samples are within the recording's time")
    assert [point.time_ns for point in profile.points if not recording.start_ns <= point.time_ns <= recording.end_ns] == []
