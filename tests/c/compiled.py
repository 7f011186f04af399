"""compiled -- sources of libcollector_c as objects for the programs of this folder: each compiled once a session for each choice of options"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest
from once import made_once

HERE = Path(__file__).resolve().parent
NATIVE = HERE.parents[1] / "libcollector_c"
SOURCES = NATIVE / "src"
FLAGS = ["-std=gnu11", "-D_GNU_SOURCE=", "-g1", "-fPIC", "-pthread", f"-I{SOURCES}", f"-I{NATIVE}/include", f"-I{NATIVE}", f"-I{HERE}"]
WARNINGS = "-Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wundef -Wwrite-strings -Werror".split()
SANITIZED = ["-Og", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]  # -O1 takes the compiler twice as long
THREAD_SANITIZED = ["-Og", "-fsanitize=thread"]
GROUND = sorted({*(SOURCES / "base").glob("*.c"), *(SOURCES / "experiment").glob("*.c")} - {SOURCES / f"base/own_{name}.c" for name in ("string", "libc")})
"""The two lowest floors; what libc's headers declare is the sanitizer's."""


def find_compiler() -> str:
    """The C compiler, gcc if it is there; skips the test where there is none."""
    found = os.environ.get("CC") or next(filter(shutil.which, ("gcc", "cc", "clang")), None)
    if not found:
        pytest.skip("no C compiler")
    return found


def objects(session: Path, sources: Iterable[Path], *options: str, compiler: str = "gcc") -> list[Path]:
    """The objects of `sources`, in their order, for whoever asks first and for all others; `session` is the directory above a test's tmp_path."""
    if not shutil.which(compiler.split()[0]):
        pytest.skip(f"{compiler} is not installed")
    return [_object(session, source, compiler, options) for source in sources]


def _object(session: Path, source: Path, compiler: str, options: tuple[str, ...]) -> Path:
    def make(place: Path) -> None:
        usage = [] if "clang" in compiler else ["-fstack-usage"]  # in NAME.su beside the object
        command = [*compiler.split(), *FLAGS, *usage, '-DCOLLECTOR_VERSION="0"', "-fvisibility=hidden", *options, "-c", str(source), "-o", str(place / name)]
        subprocess.run(command, check=True)

    name = f"{source.parent.name}_{source.stem}.o"
    return made_once(session, (compiler, options, source), make) / name


def program(session: Path, source: Path, parts: Iterable[Path], *options: str, compiler: str = "gcc", more: Iterable[str] = (), others: Iterable[Path] = ()) -> Path:
    """The program of `source` with these parts, and `others`, which are objects; `more` is for it alone. Made once, too; skips where a sanitizer has no runtime."""

    def make(place: Path) -> None:
        command = [*compiler.split(), *FLAGS, *options, *more, str(source), *map(str, made), "-o", str(place / source.stem), "-lm", "-ldl"]
        done = subprocess.run(command, capture_output=True, text=True)
        if "cannot find" in done.stderr and "-fsanitize" in " ".join(options):
            pytest.skip(f"no runtime for {' '.join(options)}")
        assert done.returncode == 0, done.stderr

    made = [*objects(session, parts, *options, compiler=compiler), *others]
    return made_once(session, (compiler, options, more, source, made), make) / source.stem
