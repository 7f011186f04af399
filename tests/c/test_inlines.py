"""test_inlines -- the readers of inlined calls and of line programs under ASan and UBSan: debug information of two compilers and both versions, with bytes changed"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pmclog_build
import pytest

from collector.symbols.elf_image import ElfImage

IS_THOROUGH = bool(os.environ.get("COLLECTOR_TEST_THOROUGH"))
ROUNDS = 100_000 if IS_THOROUGH else 1_000
SECTIONS = ("info", "abbrev", "str", "line_str", "str_offsets", "addr", "ranges", "rnglists")  # as enum col_dwarf_section has them
PROGRAM = """
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>
namespace { struct Point { int x, y; int norm() const { return x * x + y * y; } }; }
static inline int twice(int a) { auto add = [a](int b) { return a + b; }; return add(a); }
int main(int argc, char **argv)
{
    std::vector<Point> points;
    for (int i = 0; i < argc * 100; i++)
        points.push_back({twice(i), i ^ argc});
    std::sort(points.begin(), points.end(), [](const Point &a, const Point &b) { return a.norm() < b.norm(); });
    std::string text(argv[0]);
    return std::accumulate(text.begin(), text.end(), points[0].norm()) & 1;
}
"""


@pytest.fixture(scope="module")
def fuzz(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, with the sources of the reader in it."""
    return pmclog_build.build_reader(tmp_path_factory.getbasetemp(), "inlines_fuzz", "dwarf")


# Each compiler and each version occurs; thoroughly, each with each.
@pytest.mark.parametrize(("version", "compiler"), [(5, "g++"), (4, "clang++"), *([(4, "g++"), (5, "clang++")] if IS_THOROUGH else [])])
def test_hostile_entries(fuzz: Path, tmp_path: Path, compiler: str, version: int) -> None:
    if not shutil.which(compiler):
        pytest.skip(f"this system has no {compiler}")
    (tmp_path / "a.cc").write_text(PROGRAM)
    subprocess.run([compiler, "-O2", f"-gdwarf-{version}", "-c", "a.cc", "-o", "a.o"], check=True, cwd=tmp_path)
    subprocess.run([compiler, "a.o", "-o", "a"], check=True, cwd=tmp_path)
    paths = []
    with ElfImage(str(tmp_path / "a")) as image:
        for name in (*SECTIONS, "line"):
            paths.append(tmp_path / name)
            paths[-1].write_bytes(image.data(image.section(f".debug_{name}")))
    done = subprocess.run([fuzz, str(ROUNDS), str(version), *paths], capture_output=True, text=True, timeout=600)
    said = done.stdout.splitlines()
    assert done.returncode == 0 and said[-1] == "all held", done.stdout + done.stderr[-3000:]
    assert int(said[0].split()[0]) > 50 and int(said[1].split()[0]) > ROUNDS // 10, said
