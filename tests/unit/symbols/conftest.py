"""conftest -- tiny programs compiled in every way that the symbol tests need"""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

TARGETS = Path(__file__).resolve().parents[2] / "targets"


def tool(name: str) -> str:
    """The path of a system tool; the test skips where it is not installed."""
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not installed")
    return path


@dataclass
class Workshop:
    """Compiles files of tests/targets, each command line once a session."""

    directory: Path
    built: dict[tuple[str, ...], Path] = field(default_factory=dict)

    def build(self, source: str, *options: str, compiler: str = "gcc") -> Path:
        """The executable or library made from `source`; skips what this system cannot build."""
        command = (compiler, source, *options)
        if command not in self.built:
            output = self.directory / f"{Path(source).stem}-{len(self.built)}"
            line = [tool(compiler), *options, str(TARGETS / source), "-o", str(output)]
            made = subprocess.run(line, capture_output=True, text=True)
            if made.returncode != 0:
                pytest.skip(f"{compiler} cannot build this here: {made.stderr.strip().splitlines()[-1]}")
            self.built[command] = output
        return self.built[command]

    def build_names(self, *options: str, compiler: str = "g++") -> Path:
        """The C++ program."""
        return self.build("symbols_names.cc", *options, compiler=compiler)

    def build_pieces(self, *options: str) -> Path:
        """The C program of two files whose functions the compiler takes to pieces."""
        return self.build("symbols_pieces.c", *options, str(TARGETS / "symbols_pieces_twin.c"))


@pytest.fixture(scope="session")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    """One for all tests of the session."""
    return Workshop(tmp_path_factory.mktemp("symbols"))


@pytest.fixture
def run_tool():
    """Run a system tool and return its output; skips where it is not installed."""

    def run(name: str, *arguments: object, input: str | None = None) -> str:
        line = [tool(name), *map(str, arguments)]
        return subprocess.run(line, input=input, capture_output=True, text=True, check=True).stdout

    return run
