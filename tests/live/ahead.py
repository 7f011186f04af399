"""ahead -- programs run plain and recorded, and compared; the cases of a parametrized test beside each other

A test under `@planned(...)` gets its own case from the fixture `unharmed_case`. The plan says what to run:
it is called with the parameters and fixtures that its arguments name. When the first case of a test begins, all of them
are run, as many at a time as there are processors for it; the last case has waited for all of them, so that no other test has
them beside it. It is for tests that judge no wall time, and no `usage_ns`, in which the neighbours' time would be.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest
from parallel import processors
from recorded import Outcome, Recorded, execute

Submit = Callable[..., Future]

_SPENT = re.compile(r"^(\S+_ns) \d+$", re.MULTILINE)
"""CPU times that a program prints of itself: no two runs take the same."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A command to run plain and recorded; `how` are further arguments of `record`."""

    command: tuple[object, ...]
    environment: Mapping[str, str] | None
    how: Mapping[str, Any]

    @property
    def key(self) -> tuple:
        """The same for all whose plain run is the same."""
        return tuple(map(str, self.command)), tuple(sorted((self.environment or {}).items())), self.how.get("directory_to_run_in")


def plan(*command: object, environment: Mapping[str, str] | None = None, **how: Any) -> Plan:
    """A plan in the words that `record` takes."""
    return Plan(command, environment, how)


def planned(make: Callable[..., Plan]) -> Callable[[Callable], Callable]:
    """Let the cases of a test be run ahead, each as `make` plans it."""

    def attach(test: Callable) -> Callable:
        test.plan = make  # type: ignore[attr-defined]
        return test

    return attach


class Comparison:
    """Runs plans; what was run plain once is not run again."""

    def __init__(self, record: Callable[..., Recorded]) -> None:
        self._record = record
        self._plain: dict[tuple, Future[Outcome]] = {}
        self._cases: dict[str, Callable[[], Recorded]] = {}
        self._begun: set[str] = set()
        self._pools: list[ThreadPoolExecutor] = []

    def run(self, wanted: Plan) -> Recorded:
        """Run a plan now."""
        return self._start(wanted, _at_once)()

    def case_of(self, request: pytest.FixtureRequest) -> Callable[[], Recorded]:
        """Give what waits for the test's own case, with its neighbours under way."""
        item = request.node
        if item.nodeid in self._begun and item.nodeid not in self._cases:  # it is judged again
            return self._start(_plan_of(item, request), _at_once)
        if item.nodeid not in self._cases:
            self._start_all([other for other in request.session.items if _test_of(other) == _test_of(item)], request)
        return self._cases.pop(item.nodeid)

    def close(self) -> None:
        """Run nothing that has not begun."""
        for pool in self._pools:
            pool.shutdown(cancel_futures=True)

    def _start_all(self, items: list[pytest.Item], request: pytest.FixtureRequest) -> None:
        pool = ThreadPoolExecutor(processors(request.config))
        self._pools.append(pool)
        self._begun.update(item.nodeid for item in items)
        for item in items:
            try:
                self._cases[item.nodeid] = self._start(_plan_of(item, request), pool.submit)
            except pytest.skip.Exception as reason:
                self._cases[item.nodeid] = _raiser(reason)

    def _start(self, wanted: Plan, submit: Submit) -> Callable[[], Recorded]:
        """Start both runs; gives what waits for them and compares."""
        if wanted.key not in self._plain:
            self._plain[wanted.key] = submit(execute, wanted.command, wanted.environment, wanted.how.get("directory_to_run_in"))
        plain = self._plain[wanted.key]
        recorded = submit(self._record, wanted.command, environment=wanted.environment, **wanted.how)
        return lambda: _compare(plain.result(), recorded.result())


def _compare(without: Outcome, recorded: Recorded) -> Recorded:
    with_it = recorded.outcome
    seen, natively = ((_SPENT.sub(r"\1", run.stdout), run.own_stderr) for run in (with_it, without))
    assert seen == natively, f"{seen} and status {with_it.status} where natively {natively} and {without.status}"
    assert with_it.status == without.status, with_it.stderr
    return recorded


def _test_of(item: pytest.Item) -> tuple:
    return item.path, getattr(item, "originalname", None)


def _plan_of(item: pytest.Item, request: pytest.FixtureRequest) -> Plan:
    """What an item plans; skips it where this system refuses its clock, or its plan cannot be made."""
    parameters = item.callspec.params  # type: ignore[attr-defined]
    if "clock" in parameters:
        request.getfixturevalue("rung_works")(parameters["clock"])
    make = item.function.plan  # type: ignore[attr-defined]
    return make(*(parameters[name] if name in parameters else request.getfixturevalue(name) for name in inspect.signature(make).parameters))


def _raiser(reason: BaseException) -> Callable[[], Recorded]:
    def again() -> Recorded:
        raise reason

    return again


def _at_once(function: Callable, *arguments: object, **named: object) -> Future:
    done: Future = Future()
    done.set_result(function(*arguments, **named))
    return done
