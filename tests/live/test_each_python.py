"""test_each_python -- the commands are the same with every Python that the package is for"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from all_views import PACKAGES, differing, views_of, words_of_views
from pythons import Interpreter, find_interpreters
from recorded import IS_THOROUGH, TARGETS, Recorded, clean_environment

OTHERS = [found for found in find_interpreters() if found.numbers >= (3, 10) and found.numbers[:2] != sys.version_info[:2]]
WITH_EACH = pytest.mark.parametrize("python", OTHERS, ids=lambda found: found.title)

_IMPORTS = """
import importlib, pkgutil, collector
for module in pkgutil.walk_packages(collector.__path__, "collector."):
    if module.name not in ("collector.__main__", "collector.pytest_phases"):  # one is a command, the other is imported by pytest
        importlib.import_module(module.name)
"""


def run(python: Interpreter, *words: object) -> subprocess.CompletedProcess[str]:
    environment = clean_environment({"PYTHONPATH": PACKAGES})
    return subprocess.run([str(word) for word in (python.path, *words)], capture_output=True, text=True, env=environment, timeout=300)


@WITH_EACH
def test_every_module_can_be_imported(python: Interpreter) -> None:
    done = run(python, "-W", "error", "-c", _IMPORTS)
    assert done.returncode == 0, done.stderr


@WITH_EACH
def test_it_records(python: Interpreter, tmp_path: Path) -> None:
    done = run(python, "-W", "error", "-m", "collector", "record", "-o", tmp_path / "a.expt", "sh", "-c", "exit 3")
    assert done.returncode == 3, done.stderr
    assert "nothing lost" in done.stderr.splitlines()[0] and all(line.startswith("collector: ") for line in done.stderr.splitlines())


@pytest.fixture(scope="module")
def shown(record: Callable[..., Recorded], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[tuple[str, ...], str]]:
    """An experiment, and what this Python shows of it."""
    path = record([sys.executable, TARGETS / "python" / "split.py", 200]).path
    views = rounded(views_of(path, tmp_path_factory.mktemp("cache")))
    assert sum(text.startswith("0\n") for text in views.values()) > len(views) / 2
    return path, views


@pytest.mark.parametrize("python", {found.title: found for found in (*OTHERS[:1], *OTHERS[-1:])}.values(), ids=lambda found: found.title)
def test_every_view_is_the_same(python: Interpreter, shown: tuple[Path, dict[tuple[str, ...], str]], tmp_path: Path) -> None:
    """Every second form of a view with the oldest, the others with the newest; a thorough run shows all with each."""
    path, views = shown
    words = words_of_views()
    asked = words if IS_THOROUGH or len(OTHERS) < 2 else words[OTHERS.index(python) != 0 :: 2]
    found = rounded(views_of(path, tmp_path / "cache", python=python.path, asked=asked))
    assert differing({words: views[words] for words in asked}, found) == {}


def rounded(views: dict[tuple[str, ...], str]) -> dict[tuple[str, ...], str]:
    """With 12 digits of each number: from 3.12 on, a sum of floats has a smaller error."""
    return {words: re.sub(r"\d+\.\d{9,}", lambda number: f"{float(number[0]):.12g}", text) for words, text in views.items()}
