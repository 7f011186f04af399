"""pythons -- the CPythons that this system has, and the Python frames of a recording's stacks

Looked for: the system's, those on PATH, pyenv's, and whatever COLLECTOR_TEST_PYTHONS names (paths, separated as in PATH).
"""

from __future__ import annotations

import glob
import os
import shutil
import subprocess
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from recorded import IS_THOROUGH, TARGETS, Recorded

from collector.profile.metrics import SYSTEM, USER
from collector.profile.samples import Grouping
from collector.units import NS_PER_S

VERSIONS = ("3.9", "3.10", "3.11", "3.12", "3.13", "3.14", "3.15")
TARGET = TARGETS / "python"

_ASK = """
import sys, os
kind = "-debug" if hasattr(sys, "gettotalrefcount") else ""
kind = ("shared" if "libpython" in open("/proc/self/maps").read() else "static") + kind
print(sys.implementation.name, "%d.%d.%d" % sys.version_info[:3], kind, os.path.realpath(sys.executable), sep="|")
"""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A CPython; `build` is shared or static, and debug."""

    path: Path
    version: str
    build: str

    @property
    def minor(self) -> str:
        """Its version as `3.12`."""
        return self.version.rpartition(".")[0]

    @property
    def numbers(self) -> tuple[int, ...]:
        """Its version as numbers."""
        return tuple(map(int, self.version.split(".")))

    @property
    def title(self) -> str:
        """What a test is called that uses it."""
        return f"{self.version}-{self.build}"


@cache
def find_interpreters() -> tuple[Interpreter, ...]:
    """All there are, each once, oldest first."""
    places = os.environ.get("COLLECTOR_TEST_PYTHONS", "").split(os.pathsep)
    for version in VERSIONS:
        places += [f"/usr/bin/python{version}", f"/usr/local/bin/python{version}", shutil.which(f"python{version}") or ""]
        places += glob.glob(os.path.expanduser(f"~/.pyenv/versions/{version}.*/bin/python{version}"))
    asked = [_ask(place) for place in dict.fromkeys(os.path.realpath(place) for place in places if place)]
    found = {interpreter.path: interpreter for interpreter in asked if interpreter and interpreter.minor in VERSIONS}
    return tuple(sorted(found.values(), key=lambda interpreter: (interpreter.numbers, interpreter.build)))


def _ask(place: str) -> Interpreter | None:
    try:
        done = subprocess.run([place, "-I", "-c", _ASK], capture_output=True, text=True, timeout=20, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return None
    words = done.stdout.strip().split("|")
    if done.returncode != 0 or len(words) != 4 or words[0] != "cpython":
        return None
    return Interpreter(Path(words[3]), words[1], words[2])


def every_interpreter(*versions: str) -> pytest.MarkDecorator:
    """Run a test with each interpreter of these versions (all, if none is named); where there is none of a version, say so."""
    cases = [pytest.param(interpreter, id=interpreter.title) for interpreter in find_interpreters() if interpreter.minor in (versions or VERSIONS)]
    known = {interpreter.minor for interpreter in find_interpreters()}
    cases += [
        pytest.param(None, id=version, marks=pytest.mark.skip(reason=f"this system has no CPython {version}"))
        for version in versions or VERSIONS if version not in known
    ]
    return pytest.mark.parametrize("python", cases)


def some_interpreters() -> pytest.MarkDecorator:
    """Run a test with the oldest interpreter, the system's own and the newest; a thorough run does with all of them."""
    found = find_interpreters()
    if IS_THOROUGH or not found:
        return every_interpreter()
    own = [interpreter for interpreter in found if interpreter.path.parent == Path("/usr/bin")]
    chosen = dict.fromkeys((found[0], *own[-1:], found[-1]))
    return pytest.mark.parametrize("python", [pytest.param(interpreter, id=interpreter.title) for interpreter in chosen])


class PythonFrame(NamedTuple):
    """A Python function on a stack, and the line that it executes."""

    name: str
    file: str
    line: int | None


class CountedStack(NamedTuple):
    """The Python frames of a stack from the outermost on, the names of all its frames, its samples, and their CPU time in nanoseconds."""

    python: tuple[PythonFrame, ...]
    names: tuple[str, ...]
    count: int
    ns: int


def counted_stacks(recorded: Recorded) -> list[CountedStack]:
    """Each different stack of a recording."""
    profile = recorded.profile
    rows = profile.samples.rows(Grouping("", len(profile.frames), lambda: range(len(profile.frames))), is_folded=False)
    counts = Counter(rows.nodes)
    times: Counter[int] = Counter()
    for node, user_s, system_s in zip(rows.nodes, rows.values[USER], rows.values[SYSTEM]):
        times[node] += round((user_s + system_s) * NS_PER_S)
    names = [profile.functions[frame.function].name for frame in profile.frames]
    python = [PythonFrame(name, frame.file or "", frame.line) if frame.kind == "python" else None for name, frame in zip(names, profile.frames)]
    stacks = []
    for node, count in counts.items():
        frames = []
        above = node
        while above:
            frames.append(rows.groups[above])
            above = rows.parents[above]
        frames.reverse()
        stacks.append(CountedStack(tuple(filter(None, map(python.__getitem__, frames))), tuple(map(names.__getitem__, frames)), count, times[node]))
    return stacks
