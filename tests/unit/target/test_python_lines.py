"""test_python_lines -- line tables of CPython, against what each interpreter here says of its own code objects"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from collector.format import LineEncoding
from collector.target.python_lines import line_of

IS_THOROUGH = bool(os.environ.get("COLLECTOR_TEST_THOROUGH"))
VERSIONS = ["3.9", "3.10", "3.11", "3.12", "3.13", "3.14", "3.15"]
ENCODINGS = {"3.9": LineEncoding.LNOTAB, "3.10": LineEncoding.LINETABLE}

# Prints a line for each code object of some modules: its first line, its table, and [first offset, end, line] as the interpreter sees them.
TELL = """
import dis, importlib.util, json, sys
def codes(code):
    yield code
    for one in code.co_consts:
        if hasattr(one, "co_code"):
            yield from codes(one)
def spans(code):
    if hasattr(code, "co_lines"):
        return list(code.co_lines())
    starts = [*dis.findlinestarts(code), (len(code.co_code), None)]
    return [(start, end, line) for (start, line), (end, _) in zip(starts, starts[1:])]
for name in sys.argv[1:]:
    path = importlib.util.find_spec(name).origin
    with open(path, "rb") as file:
        for code in codes(compile(file.read(), path, "exec")):
            table = code.co_linetable if hasattr(code, "co_linetable") else code.co_lnotab
            print(json.dumps([code.co_firstlineno, table.hex(), len(code.co_code), spans(code)]))
"""
MODULES = ["argparse", "ast", "asyncio.base_events", "collections", "dataclasses", "decimal", "difflib", "enum", "inspect", "json.decoder",
           "pickle", "subprocess", "tarfile", "threading", "turtle", "typing", "unittest.mock"][:: 1 if IS_THOROUGH else 2]


def interpreter(version: str) -> str:
    """The path of CPython of this version."""
    named = os.environ.get("COLLECTOR_TEST_PYTHONS", "").split(os.pathsep)
    own = Path.home().glob(f".pyenv/versions/{version}.*/bin/python{version}")
    asks = "import sys; print('%d.%d' % sys.version_info[:2])"
    for path in filter(None, (*named, *map(str, own), shutil.which(f"python{version}"))):
        if subprocess.run([path, "-c", asks], capture_output=True, text=True).stdout.strip() == version:
            return path
    pytest.skip(f"this system has no CPython {version}")


@pytest.mark.parametrize("version", VERSIONS)
def test_every_instruction_has_the_line_that_the_interpreter_gives_it(version: str) -> None:
    told = subprocess.run([interpreter(version), "-I", "-W", "ignore", "-c", TELL, *MODULES], capture_output=True, text=True, check=True).stdout.splitlines()
    encoding = ENCODINGS.get(version, LineEncoding.LOCATIONS)
    instruction_count = 0
    for row in told:
        first_line, table, size, spans = json.loads(row)
        expected = {offset: line for start, end, line in spans for offset in range(start, min(end, size), 2)}
        found = {offset: line_of(encoding, bytes.fromhex(table), first_line, offset) for offset in expected}
        assert found == expected
        instruction_count += len(found)
    assert len(told) > 500 and instruction_count > 25_000


def test_this_interpreter() -> None:
    code = compile("x = 1\n\n\ny = (x +\n     2)\n", "f.py", "exec")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    encoding = ENCODINGS.get(version, LineEncoding.LOCATIONS)
    table = code.co_linetable if encoding != LineEncoding.LNOTAB else code.co_lnotab
    lines = {line_of(encoding, table, code.co_firstlineno, offset) for offset in range(0, len(code.co_code), 2)}
    assert {1, 4, 5} <= lines <= {0, 1, 4, 5, None}


@pytest.mark.parametrize("encoding", list(LineEncoding)[1:])
def test_any_bytes_have_an_answer(encoding: LineEncoding) -> None:
    rng = random.Random(encoding)
    for _ in range(2000):
        table = rng.choice([rng.randbytes(rng.randrange(60)), bytes([rng.choice([0x7F, 0xFF, 0xF7, 0xC0, 0x80, 0])]) * rng.randrange(50)])
        for offset in (0, 2, rng.randrange(4000), 1 << 40):
            line = line_of(encoding, table, rng.choice([0, 1, 5000]), offset)
            assert line is None or abs(line) < 1 << 45


@pytest.mark.parametrize("byte", [0x40, 0x7F, 0xEF, 0xF0, 0xFF])
@pytest.mark.parametrize("encoding", list(LineEncoding)[1:])
def test_a_long_table_is_decoded_in_steps_of_a_byte(encoding: LineEncoding, byte: int) -> None:
    assert line_of(encoding, bytes([byte]) * (1 << (20 if IS_THOROUGH else 18)), 1, 1 << 60) is None or encoding == LineEncoding.LNOTAB


def test_encodings_that_are_not_of_python_have_no_lines() -> None:
    assert line_of(LineEncoding.PAIRS, b"\0" * 8, 1, 0) is None
    assert line_of(99, b"\0" * 8, 1, 0) is None


def test_offsets_before_the_code_have_no_line() -> None:
    assert line_of(LineEncoding.LNOTAB, b"", 7, -1) is None
    assert line_of(LineEncoding.LNOTAB, b"", 7, 0) == 7
    assert line_of(LineEncoding.LOCATIONS, b"", 7, 0) is None
