"""test_own_string -- the recorder's own functions of <string.h> answer as the C library's, and the recorder calls no others"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SOURCE = HERE.parents[1] / "libcollector_c" / "src" / "base" / "own_string.c"
NAMES = "memcpy memmove memset memcmp memchr strlen strnlen strcmp strncmp strchr strchrnul memrchr memmem strrchr strstr strspn strcspn strcpy strcat".split()
SANITIZED = ["-Og", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


def execute(*command: object) -> str:
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120, check=True).stdout


@pytest.mark.parametrize(
    ("compiler", "flags"),
    [("gcc", ["-O2"]), ("gcc", ["-O3"]), ("gcc", SANITIZED), ("clang", ["-O2"]), ("clang", ["-O3"])],  # clang's sanitizers are a package of their own
    ids=["gcc-O2", "gcc-O3", "gcc-sanitized", "clang-O2", "clang-O3"],
)
def test_same_answers(tmp_path: Path, compiler: str, flags: list[str]) -> None:
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    execute(compiler, "-D_GNU_SOURCE", *flags, "-c", SOURCE, "-o", tmp_path / "own.o")
    execute("objcopy", *(f"--redefine-sym={name}=own_{name}" for name in NAMES), tmp_path / "own.o")
    execute(compiler, "-D_GNU_SOURCE", "-w", "-fno-builtin", *flags, HERE / "own_string.c", tmp_path / "own.o", "-o", tmp_path / "own_string")
    assert execute(tmp_path / "own_string", 20_000, 1) == "0 failures\n"


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("optimise", ["-O2", "-O3", "-Os"])
def test_none_calls_itself(tmp_path: Path, compiler: str, optimise: str) -> None:
    """Compilers know these functions, and make calls of them out of loops and of each other."""
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    execute(compiler, "-D_GNU_SOURCE", "-fPIC", "-fvisibility=hidden", optimise, "-c", SOURCE, "-o", tmp_path / "own.o")
    called: dict[str, set[str]] = {}
    name = ""
    for line in execute("objdump", "-dr", "--no-show-raw-insn", tmp_path / "own.o").splitlines():
        if begun := re.fullmatch(r"[0-9a-f]+ <(\w+)>:", line):
            name = begun[1]
            called[name] = set()
        elif reached := re.search(r"(?:call|jmp)\S*\s+[0-9a-f]+ <(\w+)>|R_\S+\s+(\w+)", line):
            called[name].add(reached[1] or reached[2])
    assert called.keys() >= set(NAMES)
    for name in NAMES:
        reached, rest = set(), {name}
        while rest:
            rest = set().union(*(called.get(one, set()) for one in rest)) - reached
            reached |= rest
        assert name not in reached
