"""pytest_phases -- each test a phase of the recording: collector record -m pytest -p collector.pytest_phases"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from collector.capture.api import phase


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Name the time of a test, its fixtures included, after it."""
    with phase(item.nodeid):
        yield
