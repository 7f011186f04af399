"""test_functions -- the maker of tables of functions under ASan and UBSan: symbols and unwind entries of a program, with bytes changed"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pmclog_build
import pytest
from compiled import find_compiler

from collector.symbols.elf_image import ElfImage

ROUNDS = 500_000 if os.environ.get("COLLECTOR_TEST_THOROUGH") else 5_000
PROGRAM = """
#include <stdio.h>
int twin(int a) { return a + 1; }
extern int other_twin(int a) __attribute__((alias("twin")));
extern int _twin(int a) __attribute__((alias("twin")));
static __attribute__((noinline)) int inner(int a) { if (__builtin_expect(a > 1000, 0)) { puts("cold"); return other_twin(a); } return a; }
int main(int argc, char **argv) { return inner(argc) + _twin(argc) + argv[0][0]; }
"""


@pytest.fixture(scope="module")
def fuzz(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, with the sources of the maker in it."""
    return pmclog_build.build_reader(tmp_path_factory.getbasetemp(), "functions_fuzz", "elf")


@pytest.mark.parametrize("options", [("-O2", "-Wl,-Ttext=0x1200"), ("-O2", "-shared", "-fPIC", "-Wl,-Ttext=0x1200")], ids=" ".join)
def test_hostile_symbols(fuzz: Path, tmp_path: Path, options: tuple[str, ...]) -> None:
    (tmp_path / "a.c").write_text(PROGRAM)
    subprocess.run([*find_compiler().split(), *options, "a.c", "-o", "a"], check=True, cwd=tmp_path)
    paths = []
    with ElfImage(str(tmp_path / "a")) as image:
        for name in (".symtab", ".strtab", ".dynsym", ".dynstr", ".eh_frame"):
            paths.append(tmp_path / name[1:])
            paths[-1].write_bytes(image.data(image.section(name)))
    done = subprocess.run([fuzz, str(ROUNDS), str(len(options)), *paths], capture_output=True, text=True, timeout=600)
    said = done.stdout.splitlines()
    assert done.returncode == 0 and said[-1] == "all held", done.stdout + done.stderr[-3000:]
    assert int(said[0].split()[0]) > ROUNDS, said
