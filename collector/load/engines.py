"""engines -- who runs the tasks of a reduction: this process, others on this machine, the ranks of an MPI job, or the workers of a Dask cluster

All of them are executors as concurrent.futures has them. The packages mpi4py and distributed are needed only where they are asked for.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from collector.errors import CollectorError, UsageError

_MOST_LOSSES: Final = 3
_AHEAD: Final = 2
"""So many tasks a worker are begun or wait for it."""

_MPI_LATENCY_S: Final = 0.02
"""So often ranks that wait for each other look: tasks take seconds, and looking every millisecond takes a worker's processor."""

_JOB_SIZES: Final = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS")
_MPI_WORDS: Final = "`mpirun -n 64 python3 -m mpi4py.futures -m collector reduce ...`, which needs the package mpi4py: pip install 'collector[mpi]'"


class Call(NamedTuple):
    """A task: a function of a module, and its arguments."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]


class Engine:
    """An executor that can be opened again when it broke, because a worker was lost."""

    def __init__(self, open_executor: Callable[[], Executor], worker_count: int) -> None:
        self._open = open_executor
        self._executor: Executor | None = None
        self.worker_count = worker_count
        self.lost_count = 0

    def submit(self, call: Call) -> Future[Any]:
        """Have a task run."""
        if self._executor is None:
            self._executor = self._open()
        return self._executor.submit(call.function, *call.arguments)

    def open_again(self, error: BaseException) -> None:
        """A worker was lost. CollectorError if that happened too often."""
        self.lost_count += 1
        self.close()
        if self.lost_count > _MOST_LOSSES:
            raise CollectorError(f"workers were lost {self.lost_count} times, killed or out of memory; the last time: {error}") from error

    def close(self) -> None:
        """End the workers."""
        if self._executor is not None:
            self._executor.shutdown(wait=True)
            self._executor = None


def run_calls(
    engine: Engine, calls: Iterable[Call | None], take: Callable[[int, Any], None], tell: Callable[[int], None] = lambda done: None
) -> None:
    """Run tasks, some of them at a time, and give `take` what they gave, by their numbers. `calls` gives None if it has to wait for one of them."""
    running: dict[Future[Any], tuple[int, Call]] = {}
    try:
        _run_calls(engine, iter(calls), take, tell, running)
    finally:
        for future in running:
            future.cancel()


def _run_calls(
    engine: Engine, waiting: Iterator[Call | None], take: Callable[[int, Any], None], tell: Callable[[int], None],
    running: dict[Future[Any], tuple[int, Call]],
) -> None:
    count = done_count = 0
    is_over = False
    again: list[tuple[int, Call]] = []
    while True:
        while len(running) < _AHEAD * engine.worker_count and (again or not is_over):
            if again:
                number, call = again.pop()
            else:
                following = next(waiting, _END)
                if following is _END:
                    is_over = True
                    break
                if following is None:
                    break
                number, call, count = count, following, count + 1
            try:
                running[engine.submit(call)] = number, call
            except BrokenExecutor as error:  # a worker was lost since it was last waited for
                again = [*again, (number, call), *running.values()]
                running.clear()
                engine.open_again(error)
        if not running:
            return
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            number, call = running.pop(future)
            try:
                result = future.result()
            except BrokenExecutor as error:
                again = [*again, (number, call), *running.values()]
                running.clear()
                engine.open_again(error)
                break
            take(number, result)
            done_count += 1
            tell(done_count)


_END: Final = Call(lambda: None, ())


class _Here(Executor):
    """Runs each task at once, in this process."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(function(*arguments, **named))
        except Exception as error:
            future.set_exception(error)
        return future


@contextmanager
def open_engine(jobs: int | None = None, scheduler: str | None = None, environment: Mapping[str, str] = os.environ) -> Iterator[Engine]:
    """The workers of a Dask scheduler, if one is named; else, if this runs under mpi4py.futures, its ranks; else `jobs` processes here.

    UsageError or CollectorError, a sentence, if that cannot be.
    """
    with _chosen(jobs, scheduler, environment) as engine:
        try:
            yield engine
        finally:
            engine.close()


@contextmanager
def _chosen(jobs: int | None, scheduler: str | None, environment: Mapping[str, str]) -> Iterator[Engine]:
    if scheduler is not None:
        with _open_dask(scheduler) as engine:
            yield engine
    elif "mpi4py.futures" in sys.modules:
        yield _open_mpi(environment)
    else:
        if _is_job(environment):
            raise UsageError(f"each rank of the job would reduce everything: say {_MPI_WORDS}")
        count = jobs or len(os.sched_getaffinity(0))
        forked = multiprocessing.get_context("fork")
        yield Engine(_Here if count == 1 else lambda: ProcessPoolExecutor(count, forked), count)


def _is_job(environment: Mapping[str, str]) -> bool:
    """Whether this is one of several ranks."""
    return any(environment.get(name, "1") != "1" for name in _JOB_SIZES)


def _open_mpi(environment: Mapping[str, str]) -> Engine:
    from mpi4py import MPI
    from mpi4py.futures import MPIPoolExecutor

    if MPI.COMM_WORLD.Get_size() == 1 and _is_job(environment):
        library = MPI.Get_library_version().partition("\n")[0].partition(",")[0]
        raise CollectorError(f"mpi4py uses {library}, and the job was started by another MPI: MPI4PY_LIBMPI names the library of that one")
    workers = MPIPoolExecutor(backoff=_MPI_LATENCY_S)
    return Engine(lambda: workers, max(1, workers.num_workers))


@contextmanager
def _open_dask(scheduler: str) -> Iterator[Engine]:
    try:
        from distributed import Client
    except ImportError as error:
        raise CollectorError("--dask needs the package distributed: pip install 'collector[dask]'") from error
    try:
        client = Client(scheduler)
    except (OSError, ValueError) as error:
        raise CollectorError(f"there is no Dask scheduler at {scheduler}: {error}") from error
    with client, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sending large graph")  # the profiles to be joined are what has to be sent
        workers = client.scheduler_info()["workers"].values()
        if not workers:
            raise CollectorError(f"the Dask scheduler at {scheduler} has no workers")
        yield Engine(client.get_executor, sum(worker["nthreads"] for worker in workers))
