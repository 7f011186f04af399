"""judged_again -- two of three recordings decide whether the time of a test is true; what the third said is shown at the end of the run

A run of the suite judges time a thousand times, each time by samples, on machines that others use. Harm is not judged again.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from _pytest.runner import runtestprotocol
from recorded import Untrue


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo) -> Iterator[pytest.TestReport]:
    """Note in the report what was found untrue."""
    report = yield
    report.untrue = str(call.excinfo.value) if call.excinfo and call.excinfo.errisinstance(Untrue) else ""
    return report


def run(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    """Run a test, and where it found time untrue, twice more: both times have to be well."""
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = runtestprotocol(item, log=False, nextitem=nextitem)
    if sentence := next((report.untrue for report in reports if report.untrue), None):
        item.user_properties.append(("judged again", sentence))
        again = _run_anew(item, nextitem)
        if not any(report.failed for report in again):
            reports = _run_anew(item, nextitem)
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def _run_anew(item: pytest.Item, nextitem: pytest.Item | None) -> list[pytest.TestReport]:
    """Run a test with fixtures of its own, but for those of the whole session."""
    elsewhere = next((other for other in item.session.items if other.path != item.path), None)
    item.session._setupstate.teardown_exact(elsewhere)
    return runtestprotocol(item, log=False, nextitem=nextitem)
