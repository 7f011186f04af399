"""test_reduce -- recorded ranks are reduced to the same bytes by processes here, by the ranks of an MPI job and by Dask's workers"""

from __future__ import annotations

import importlib.util
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from recorded import Recorded, execute
from simulated_ranks import read_recorded, simulate

from collector.cli.reporting.metric_options import measured
from collector.cli.reporting.pages import PageOptions, make_page
from collector.load import load, shards
from collector.load.engines import open_engine
from collector.load.reduction import reduce
from collector.load.serial import read_profile
from collector.profile.over_ranks import spreads

RANKS = 12
SPLIT = ("ten", "twenty", "thirty", "forty")

# Shards and joins of a few ranks, so that there are several of each.
SMALL = """
import sys
from collector.cli.main import main
from collector.load import reduction, shards
shards.SHARD_LOGS = reduction._JOINED = 3
if __name__ == "__main__":
    sys.exit(main())
"""
DASK = """
import subprocess, sys
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        sys.exit(subprocess.run([sys.executable, *sys.argv[1:], "--dask", cluster.scheduler_address]).returncode)
"""


@pytest.fixture(scope="module")
def job(record: Callable[..., Recorded], compiled: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A job in its directory, beside the program that reduces it and what one process made of it."""
    recorded = record([compiled("split_cpu.c"), 300])
    directory = tmp_path_factory.mktemp("reduce")
    simulate([read_recorded(recorded.path)], directory / "job.expt", RANKS, 200)
    (directory / "small.py").write_text(SMALL)
    run(directory, sys.executable, "small.py", "reduce", "job.expt", "-j", "1", "-o", "one.profile")
    return directory


def run(directory: Path, *command: object) -> str:
    done = execute(command, directory=directory)
    assert done.status == 0, done.stderr
    return done.stdout


def test_every_view_of_the_file_is_that_of_the_experiment(job: Path) -> None:
    found, expected = read_profile(job / "one.profile"), load([job / "job.expt"])
    for view in ("overview", "functions", "lines", "objects", "calltree", "processes", "threads", "metrics"):
        pages = [make_page(profile, view, None, PageOptions("text", 0, threshold=0.0)) for profile in (found, expected)]
        assert pages[0] == pages[1], view


def test_waits_of_processes_in_several_shards(record: Callable[..., Recorded], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """waits.log is of all processes of a launcher: each shard takes its own, and how it went is told once."""
    path = record(["/bin/sh", "-c", "for i in 1 2 3; do /bin/sleep 0.2; done"], ["--wall"], experiment=tmp_path / "a.expt").path
    monkeypatch.setattr(shards, "SHARD_LOGS", 1)
    with open_engine(1, environment={}) as engine:
        found, expected = read_profile(reduce([str(path)], engine)), load([path])
    assert len(expected.processes) == 4 and sum(metric.name == "blocked" for metric in expected.metrics) == 1
    assert (found.recordings, found.losses, found.threads) == (expected.recordings, expected.losses, expected.threads)
    for view in ("overview", "functions", "threads"):
        pages = [make_page(measured(profile, "wall"), view, None, PageOptions("text")) for profile in (found, expected)]
        assert pages[0] == pages[1], view


def test_functions_by_rank(job: Path) -> None:
    ranks = {row.function.name: row for row in spreads(read_profile(job / "one.profile"), "rank") if row.function}
    for name in SPLIT:
        assert 0 <= ranks[name].exclusive.min <= ranks[name].exclusive.mean <= ranks[name].exclusive.max and ranks[name].inclusive.mean > 0


def test_two_processes(job: Path) -> None:
    run(job, sys.executable, "small.py", "reduce", "job.expt", "-j", "2", "-o", "two.profile")
    assert (job / "two.profile").read_bytes() == (job / "one.profile").read_bytes()


def test_the_ranks_of_an_mpi_job(job: Path) -> None:
    if importlib.util.find_spec("mpi4py") is None:
        pytest.skip("this system has no mpi4py")
    mpirun = shutil.which("mpirun.openmpi")
    if mpirun is None:
        pytest.skip("this system has no Open MPI")
    options = ("--allow-run-as-root", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "-n", "3")
    run(job, mpirun, *options, sys.executable, "-m", "mpi4py.futures", "small.py", "reduce", "job.expt", "-o", "mpi.profile")
    assert (job / "mpi.profile").read_bytes() == (job / "one.profile").read_bytes()


def test_the_workers_of_dask(job: Path) -> None:
    if importlib.util.find_spec("distributed") is None:
        pytest.skip("this system has no distributed")
    (job / "dask.py_").write_text(DASK)
    run(job, sys.executable, "dask.py_", "small.py", "reduce", "job.expt", "-o", "dask.profile")
    assert (job / "dask.profile").read_bytes() == (job / "one.profile").read_bytes()
