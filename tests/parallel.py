"""parallel -- test files beside each other, each file in one of a few forked processes: `pytest --jobs 2`

Results come back as pytest's own reports and are shown by file, when the file is done; a failure is shown when it
happens. Tests marked `waits` leave the processor idle most of their time: one process more runs them beside the others.
Tests marked `alone` are run afterwards, with nothing beside them.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from typing import Any

import pytest

FIRST = (
    "tests/soak/", "tests/matrix/", "tests/live/test_install.py", "tests/live/test_own_signals.py", "tests/live/test_programs.py",
    "tests/live/test_own_processes.py", "tests/live/test_python_", "tests/live/test_ranks.py", "tests/live/test_truth.py", "tests/live/",
    "tests/c/", "tests/unit/symbols/", "tests/unit/analysis/", "tests/unit/profile/",
)  # fmt: skip
"""What takes longest begins first, so that no process has it to itself at the end."""


def add_option(parser: pytest.Parser) -> None:
    parser.addoption("--jobs", type=int, default=1, metavar="N", help="run test files in N processes beside each other")


def processors(config: pytest.Config) -> int:
    """How many programs a test may run beside each other: its share of the processors."""
    return max(1, (os.cpu_count() or 1) // int(config.getoption("jobs")))


def run(session: pytest.Session) -> bool | None:
    """The loop over all tests; None leaves it to pytest."""
    jobs = session.config.getoption("jobs")
    if jobs < 2 or session.config.option.collectonly or session.testsfailed:
        return None
    alone, waiting, working = ([item for item in session.items if _kind(item) == kind] for kind in ("alone", "waits", ""))
    _Parent(session, _files_of(working), _files_of(waiting)).run(jobs)
    for item, following in zip(alone, [*alone[1:], None]):
        session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
    return True


def _kind(item: pytest.Item) -> str:
    return next((name for name in ("alone", "waits") if item.get_closest_marker(name)), "")


def _files_of(tests: list[pytest.Item]) -> list[list[pytest.Item]]:
    return sorted((list(items) for _, items in groupby(tests, key=lambda item: item.path)), key=_rank)


def _rank(items: list[pytest.Item]) -> int:
    return next((rank for rank, start in enumerate(FIRST) if items[0].nodeid.startswith(start)), len(FIRST))


@dataclass
class _Worker:
    """A forked process as its parent sees it."""

    pid: int
    pipe: Connection
    waiting: list[dict[str, Any]] = field(default_factory=list)
    under_way: str = ""


class _Parent:
    """Forks the workers, and gives their reports to pytest."""

    def __init__(self, session: pytest.Session, working: list[list[pytest.Item]], waiting: list[list[pytest.Item]]) -> None:
        self._session = session
        self._files = [*working, *waiting]
        self._working_count = len(working)
        self._workers: list[_Worker] = []

    def run(self, jobs: int) -> None:
        """Run all files: `jobs` processes take those that work and then what is left of those that wait, which one more takes from the start."""
        self._session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]  # one for all
        working = _queue(range(self._working_count))
        waiting = _queue(range(self._working_count, len(self._files)))
        gc.collect()
        gc.freeze()  # what was collected stays: nobody need look at it again
        self._workers = [self._fork([working, waiting]) for _ in range(min(jobs, len(self._files)))]
        if self._working_count < len(self._files):
            self._workers.append(self._fork([waiting]))
        os.close(working)
        os.close(waiting)
        try:
            while self._workers:
                for pipe in wait([worker.pipe for worker in self._workers]):
                    self._read(next(worker for worker in self._workers if worker.pipe is pipe))
                if self._session.shouldfail:
                    raise self._session.Failed(self._session.shouldfail)
        finally:
            for worker in self._workers:
                os.kill(worker.pid, 15)

    def _fork(self, queues: list[int]) -> _Worker:
        pipe, out = Pipe(duplex=False)
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                pipe.close()
                _work(self._session, self._files, queues, out)
                status = 0
            finally:
                os._exit(status)
        out.close()
        return _Worker(pid, pipe)

    def _read(self, worker: _Worker) -> None:
        try:
            message = worker.pipe.recv()
        except EOFError:
            self._bury(worker)
        else:
            self._take(worker, message)

    def _take(self, worker: _Worker, message: dict[str, Any]) -> None:
        if "begins" in message:
            worker.under_way = message["begins"]
        elif "report" in message:
            worker.waiting.append(message["report"])
            if message["report"]["outcome"] == "failed":
                self._show(f"\nFAILED {message['report']['nodeid']} ({message['report']['when']})\n{message['text']}\n")
        else:
            self._pass_on(worker)

    def _pass_on(self, worker: _Worker) -> None:
        """A file is done: its reports go to pytest, in their order."""
        hook = self._session.config.hook
        for data in worker.waiting:
            report = hook.pytest_report_from_serializable(config=self._session.config, data=data)
            if report.when == "setup":
                hook.pytest_runtest_logstart(nodeid=report.nodeid, location=report.location)
            hook.pytest_runtest_logreport(report=report)
        worker.waiting.clear()

    def _bury(self, worker: _Worker) -> None:
        """A worker has ended; if it did so amid a test, that one failed."""
        worker.pipe.close()
        self._workers.remove(worker)
        status = os.waitpid(worker.pid, 0)[1]
        self._pass_on(worker)
        if status != 0:
            reason = f"the process that ran {worker.under_way} ended with wait status {status:#x}; what it had still to run was not run"
            self._show(f"\n{reason}\n")
            self._session.config.hook.pytest_runtest_logreport(
                report=pytest.TestReport(worker.under_way, (worker.under_way, None, ""), {}, "failed", reason, "call")
            )

    def _show(self, text: str) -> None:
        reporter = self._session.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            reporter.write(text)


def _work(session: pytest.Session, files: list[list[pytest.Item]], queues: list[int], out: Connection) -> None:
    """A worker's life: take files while there are any, and tell the parent what came of each test."""
    manager = session.config.pluginmanager
    capture = manager.get_plugin("capturemanager")
    if capture is not None and capture.is_globally_capturing():  # into files of its own
        capture.stop_global_capturing()
        capture.start_global_capturing()
    manager.unregister(name="terminalreporter")
    manager.register(_Messenger(session.config, out))
    for number in _numbers(queues):
        # Only the session goes on after a file: which one comes next is asked for when this one is done.
        for item, following in pairwise([*files[number], session]):
            out.send({"begins": item.nodeid})
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        out.send({"ends": number})
    session._setupstate.teardown_exact(None)


def _queue(numbers: range) -> int:
    """A pipe from which each process reads the number of its next file."""
    queue, end = os.pipe()
    os.write(end, b"".join(number.to_bytes(2, "little") for number in numbers))
    os.close(end)
    return queue


def _numbers(queues: list[int]) -> Iterator[int]:
    for queue in queues:
        while number := os.read(queue, 2):
            yield int.from_bytes(number, "little")


class _Messenger:
    """A plugin that sends reports to the parent."""

    def __init__(self, config: pytest.Config, out: Connection) -> None:
        self._config = config
        self._out = out

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        self._out.send({"report": data, "text": report.longreprtext if report.failed else ""})

