"""building -- compile what the cases run, each combination of source and flags once"""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from matrix.case import SOURCES, Build, Case

_LATE = ("-l", "-L", "-Wl,")


class BuildError(Exception):
    """A compiler refused; the text is what it said."""


@dataclass(frozen=True, slots=True)
class Workshop:
    """The directory that everything is built in; anybody may read it, as some cases become another user."""

    root: Path

    def directory_of(self, case: Case) -> Path:
        """Where the builds of a case are."""
        return self.root / hashlib.sha256(repr(case.builds).encode()).hexdigest()[:12] if case.builds else self.root

    def build(self, case: Case) -> Path:
        """Build what a case needs, unless it is there. BuildError if that fails."""
        directory = self.directory_of(case)
        for build in case.builds:
            if not (directory / build.output).exists():
                _compile(build, directory)
        return directory

    def build_all(self, cases: Iterable[Case], job_count: int) -> dict[Path, str]:
        """Build for all cases at once; gives what the compiler said of those that failed, by directory."""
        firsts = {self.directory_of(case): case for case in cases}

        def attempt(case: Case) -> str:
            try:
                self.build(case)
            except BuildError as error:
                return str(error)
            return ""

        with ThreadPoolExecutor(job_count) as pool:
            said = pool.map(attempt, firsts.values())
        return {directory: text for directory, text in zip(firsts, said) if text}


def _compile(build: Build, directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    late = [flag for flag in build.flags if flag.startswith(_LATE)]
    early = [flag for flag in build.flags if not flag.startswith(_LATE)]
    unfinished = directory / f"{build.output}.part"
    command = [
        build.compiler, "-g", "-O1", "-w", "-pthread", f"-I{SOURCES}", *(flag.replace("{build}", str(directory)) for flag in early),
        str(SOURCES / build.source), "-o", str(unfinished), *(flag.replace("{build}", str(directory)) for flag in late),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise BuildError(f"{' '.join(command)}\n{done.stderr}")
    unfinished.rename(directory / build.output)
