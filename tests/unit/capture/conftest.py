"""conftest -- programs to look at and to run"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def repository() -> Path:
    """The source tree that these tests are in."""
    return Path(__file__).resolve().parents[3]


@pytest.fixture
def compile_c(tmp_path: Path) -> Callable[..., Path]:
    """compile_c(source, *flags, compiler="gcc") gives a program; the test is skipped without that compiler or its libc."""

    def compile_source(source: str, *flags: str, compiler: str = "gcc", name: str = "program") -> Path:
        if shutil.which(compiler) is None:
            pytest.skip(f"{compiler} is not installed")
        output = tmp_path / name
        made = subprocess.run([compiler, "-x", "c", "-", *flags, "-o", output], input=source, text=True, capture_output=True)
        if made.returncode:
            pytest.skip(f"{compiler} {' '.join(flags)} cannot link here: {made.stderr.strip().splitlines()[-1]}")
        return output

    return compile_source


@pytest.fixture(scope="session")
def recorder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A shared library that stands for the recorder where it is looked at, but not run."""
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    library = tmp_path_factory.mktemp("recorder") / "libcollector.so"
    subprocess.run(["gcc", "-x", "c", "-", "-shared", "-fPIC", "-o", library], input="int collector_stub;", text=True, check=True)
    return str(library)
