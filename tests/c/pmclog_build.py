"""pmclog_build -- compiles libpmclog's sources, or those that read modules, with a program of tests/c, under ASan and UBSan or for speed"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NATIVE = ROOT / "libcollector_c"
WARNINGS = (
    "-std=gnu11 -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wundef -Wwrite-strings -Werror"
).split()
SANITIZERS = "-g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer".split()


def compiler() -> str:
    """The C compiler; skips the test where there is none."""
    found = os.environ.get("CC") or next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if not found:
        pytest.skip("no C compiler")
    return found


def build(program: Path, output: Path, flags: list[str] | None = None) -> Path:
    """The program at `program` with the parser's sources in it, compiled without a warning."""
    sources = sorted((NATIVE / "pmclog").glob("*.c"))
    includes = [f"-I{NATIVE / 'include'}", f"-I{NATIVE / 'src'}", f"-I{ROOT / 'tests' / 'c'}"]
    command = [*compiler().split(), *WARNINGS, *(SANITIZERS if flags is None else flags), *includes, str(program), *map(str, sources)]
    subprocess.run([*command, "-o", str(output)], check=True)
    return output


def build_reader(program: str, folder: str, output: Path) -> Path:
    """A program of this folder with the sources of libcollector_c/`folder` in it, under the sanitizers."""
    sources = [*sorted((NATIVE / folder).glob("*.c")), NATIVE / "analysis" / "array.c"]
    command = [*compiler().split(), *WARNINGS, *SANITIZERS, f"-I{NATIVE}", str(Path(__file__).parent / program)]
    subprocess.run([*command, *map(str, sources), "-o", str(output)], check=True)
    return output
