"""conftest -- what all tests share: golden files, and the option that writes them anew."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

_HERE = Path(__file__).parent
_GOLDEN = _HERE / "golden"

# `writer` and `small_experiment` make logs, `tiny_profile` and `busy_profile` profiles, for tests of every folder.
sys.path[:0] = [str(_HERE), str(_HERE / "unit/experiment"), str(_HERE / "unit/load")]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write tests/golden anew from what the code gives now")


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
