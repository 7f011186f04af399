"""test_python_locations -- location tables of CPython without their columns: shorter, and each instruction has the line that it had"""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from collector.target.python_lines import _locations

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "libcollector_c/src"
MODULES = ("typing", "argparse", "asyncio.base_events", "json.decoder")
RANDOM_TABLES = 3000
VERSIONS = ("python3.11", "python3.12", "python3.13", "python3.14", "python3.15")
TELL = """
import importlib.util, sys
def codes(code):
    yield code
    for one in code.co_consts:
        if hasattr(one, "co_code"):
            yield from codes(one)
for name in sys.argv[1:]:
    path = importlib.util.find_spec(name).origin
    for code in codes(compile(open(path, "rb").read(), path, "exec")):
        print(code.co_linetable.hex())
"""


@pytest.fixture
def shorten(tmp_path: Path):
    """shorten(tables) is what becomes of them."""
    if not shutil.which("gcc"):
        pytest.skip("this system has no gcc")
    program = tmp_path / "python_locations"
    flags = ["-std=gnu11", "-g", "-O1", "-fsanitize=address,undefined", f"-I{SOURCES}"]
    subprocess.run(["gcc", *flags, Path(__file__).with_name("python_locations.c"), SOURCES / "target/python_locations.c", "-o", program], check=True)

    def run(tables: list[bytes]) -> list[bytes]:
        done = subprocess.run([program], input="".join(f"{table.hex()}\n" for table in tables), capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return [bytes.fromhex(line) for line in done.stdout.splitlines()]

    return run


def lines(table: bytes) -> list[int | None]:
    """The line of each unit of the code, up to its end."""
    steps = list(_locations(table, 1000))
    return [line for (offset, line), (end, _) in zip(steps, steps[1:]) for _ in range(offset, end, 2)]


def tables_of(python: str) -> list[bytes]:
    """The tables of some modules as an interpreter makes them; none if it is older, or does not run."""
    told = subprocess.run([python, "-c", f"import sys; sys.version_info < (3, 11) and sys.exit(){TELL}", *MODULES], capture_output=True, text=True)
    return [bytes.fromhex(line) for line in told.stdout.splitlines()]


def test_lines_stay_and_columns_go(shorten) -> None:
    found = [sys.executable, *map(str, Path.home().glob(".pyenv/versions/3.*/bin/python3")), *filter(None, map(shutil.which, VERSIONS))]
    made = [tables for python in dict.fromkeys(found) if (tables := tables_of(python))]
    if not made:
        pytest.skip("this system has no Python 3.11")
    for tables in made:
        shortened = shorten(tables)
        assert [lines(table) for table in shortened] == [lines(table) for table in tables]
        assert 2 * sum(map(len, shortened)) < sum(map(len, tables))


def test_tables_of_any_content(shorten) -> None:
    """Nothing is read or written beyond them."""
    chance = random.Random(7)
    tables = [bytes(chance.choice((chance.randrange(256), chance.randrange(64))) for _ in range(chance.randrange(60))) for _ in range(RANDOM_TABLES)]
    assert all(len(short) <= len(table) + 6 for table, short in zip(tables, shorten(tables), strict=True))
