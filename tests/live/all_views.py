"""all_views -- what every view of an experiment shows, in each of its forms"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import elftools
import msgpack
from recorded import clean_environment

import collector
from collector.cli.reporting.words import VIEWS

PACKAGES = os.pathsep.join(dict.fromkeys(str(Path(package.__file__).parents[1]) for package in (collector, msgpack, elftools)))
"""The PYTHONPATH of another Python that is to have what this one has."""

_ARGUMENTS = {"CATEGORY": ["OpenMP"], "FUNCTION": ["linked", "split", "linked.c:step"], "FILE|FUNCTION": ["split.c", "nameless"]}


FORMS = ((), ("--json",), ("--csv",))


def words_of_views(forms: Sequence[tuple[str, ...]] = FORMS) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    for view, (argument, _) in VIEWS.items():
        found += [(view, word) for word in _ARGUMENTS[argument]] if argument else [(view,)]
    return [(*words, *form) for words in found for form in forms]


def views_of(
    path: Path, cache: Path, hidden: Sequence[object] = (), options: tuple[str, ...] = (), python: Path = Path(sys.executable), asked: Sequence[tuple[str, ...]] = ()
) -> dict[tuple[str, ...], str]:
    """What each view shows, without warnings; each in a process of its own, which has the same imports. `python` needs no packages; `asked` are those to show, all if none."""
    asked = asked or words_of_views()
    done = subprocess.run(
        [python, Path(__file__).with_name("views.py"), *map(str, hidden)], capture_output=True, text=True, timeout=120,
        env=clean_environment({"XDG_CACHE_HOME": str(cache), "COLUMNS": "150", "PYTHONPATH": PACKAGES}), input=json.dumps([["report", str(path), *words, *options] for words in asked]),
    )
    assert done.returncode == 0, done.stderr
    shown = {}
    for words, (status, output) in zip(asked, json.loads(done.stdout), strict=True):
        text = re.sub(r'"warnings": \[[^]]*\]', "", output)
        shown[words] = f"{status}\n" + "".join(line for line in text.splitlines(True) if "warning" not in line.lower())
    return shown


def differing(before: dict[tuple[str, ...], str], after: dict[tuple[str, ...], str]) -> dict[tuple[str, ...], tuple[str, str]]:
    return {words: (before[words], after[words]) for words in before if before[words] != after[words]}
