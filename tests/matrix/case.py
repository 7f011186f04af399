"""case -- one hostile case or real program: what it runs, how much of its CPU time is known, what it may change by nature

Most cases are C functions: `CASE(name, burns, "sentence")` in cases/<class>/<file>.c. Those that need flags, a shell
line or several files are rows of the tables in tables/<class>.py.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCES = HERE / "cases"
CLOCKS = ("sigtrap", "task-clock", "cpu-timer")
BURN_NS = 40_000_000  # what one burn() of matrix.h takes

_CASE = re.compile(r'^CASE\((\w+),\s*(\d+),\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\)', re.MULTILINE)
_NATURE = re.compile(r'^NATURE\((\w+),\s*(\w+),\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\)', re.MULTILINE)
_BUILD = re.compile(r"^ \* build: (.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Build:
    """A program or library to compile: `output` in the case's build directory, from `source` under cases/."""

    output: str
    source: str
    flags: tuple[str, ...] = ()
    compiler: str = "gcc"


@dataclass(frozen=True, slots=True)
class Nature:
    """What cannot be kept for this case: one of stdout, stderr, status, files, time, CPU time; and why, in a sentence for users.

    One that `is_seldom` excuses a third of three or more runs, and no more.
    """

    field: str
    sentence: str
    is_seldom: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """A command to run plain and recorded.

    `command` are words, or `shell` a line for bash; {program} is the first of `builds`, {build} the directory of all.
    `prepare` is a shell line that runs unrecorded before each run. `burns` is how often burn() is to be found in the
    experiment; None says nothing of time. `scrubs` are patterns of output that differs from run to run, and what to put
    in their place. `runs` is how often it is recorded on each clock.
    """

    group: str
    name: str
    sentence: str
    command: tuple[str, ...] = ()
    shell: str = ""
    prepare: str = ""
    builds: tuple[Build, ...] = ()
    needs: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    options: tuple[str, ...] = ()
    burns: int | None = None
    natures: tuple[Nature, ...] = ()
    scrubs: tuple[tuple[str, str], ...] = ()
    is_quick: bool = True
    runs: int = 1
    timeout_s: float = 12

    @property
    def full_name(self) -> str:
        """class/case, as --only takes it."""
        return f"{self.group}/{self.name}"

    def lacks(self) -> str | None:
        """Give why it cannot be run here, None if it can."""
        wanted = (*self.needs, *(build.compiler for build in self.builds))
        missing = [name for name in dict.fromkeys(wanted) if not (Path(name).exists() if "/" in name else shutil.which(name))]
        return f"this system has no {', '.join(missing)}" if missing else None


def iter_c_cases(source: Path) -> Iterator[Case]:
    """Give the cases that a C file defines."""
    text = source.read_text(encoding="utf-8")
    natures: dict[str, list[Nature]] = {}
    for name, field, sentence in _NATURE.findall(text):
        natures.setdefault(name, []).append(Nature(field, _unquote(sentence)))
    flags = tuple(word for line in _BUILD.findall(text) for word in line.split())
    build = Build(source.stem, str(source.relative_to(SOURCES)), flags)
    for name, burns, sentence in _CASE.findall(text):
        yield Case(
            source.parent.name, name, _unquote(sentence), command=("{program}", name), builds=(build,), burns=int(burns), natures=tuple(natures.get(name, ()))
        )


def _unquote(literals: str) -> str:
    return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literals)).replace('\\"', '"')


def all_cases() -> list[Case]:
    """Give every case there is, in the order of the table."""
    from matrix.tables import GROUPS, TABLE

    found = [case for source in sorted(SOURCES.glob("*/*.c")) for case in iter_c_cases(source)]
    found += TABLE
    names = [case.full_name for case in found]
    twice = {name for name in names if names.count(name) > 1}
    assert not twice, f"two cases are called {', '.join(sorted(twice))}"
    return sorted(found, key=lambda case: GROUPS.index(case.group))
