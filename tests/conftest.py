"""conftest -- what all tests share: golden files and the option that writes them anew, a place for compiled modules"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import parallel
import pytest
from browser import Browser, find_browser

_GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write tests/golden anew from what the code gives now")
    parallel.add_option(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Name our markers. Where nothing may be compiled into the source tree, keep compiled modules elsewhere: Python is started a thousand times."""
    config.addinivalue_line("markers", "alone: is run with no other test beside it")
    config.addinivalue_line("markers", "waits: leaves the processor idle most of its time")
    config.addinivalue_line("markers", "slow_timer: judges time that only the kernel's CPU timer can find")
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", None) and "PYTHONPYCACHEPREFIX" not in os.environ:
        place = tempfile.mkdtemp(prefix="collector-modules-")
        os.environ["PYTHONPYCACHEPREFIX"] = place
        config.add_cleanup(lambda: shutil.rmtree(place, ignore_errors=True))


def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """With --jobs, run test files beside each other."""
    return parallel.run(session)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which judgements of time were made again: two of three decide (tests/live)."""
    reports = [report for kind in ("passed", "failed", "skipped") for report in terminalreporter.getreports(kind)]
    told = [f"{report.nodeid}: {text}" for report in reports if report.when == "call" for name, text in report.user_properties if name == "judged again"]
    if told:
        terminalreporter.section("time judged again: two of three recordings decide, and this is what another one said")
        terminalreporter.write("\n".join(told) + "\n")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """golden(name, text) holds text against tests/golden/name, or writes that file under --update-golden."""

    def check(name: str, text: str) -> None:
        path = _GOLDEN / name
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            return
        assert path.exists(), f"{path} is missing; pytest --update-golden writes it"
        assert text == path.read_text(encoding="utf-8")

    return check


@pytest.fixture(scope="module")
def browser(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser for the tests of one file, with a window of the size that its WINDOW asks for; it has to have nothing to complain of at their end."""
    if find_browser() is None:
        pytest.skip("this system has no browser (chromium)")
    width, height = getattr(request.module, "WINDOW", (1400, 900))
    with Browser(tmp_path_factory.mktemp("browser"), width, height) as shown:
        yield shown
        assert shown.complaints == []


@pytest.fixture
def picture(tmp_path: Path, browser: Browser) -> Callable[[str], None]:
    """picture(name) keeps what the browser shows in $COLLECTOR_TEST_PICTURES, for somebody to look at, or with the test's files."""

    def take(name: str) -> None:
        directory = Path(os.environ.get("COLLECTOR_TEST_PICTURES") or tmp_path)
        directory.mkdir(parents=True, exist_ok=True)
        browser.picture(directory / f"{name}.png")

    return take
