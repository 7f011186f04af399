"""test_zstd -- debug sections compressed with zstd, by each of the ways that may be there to read them"""

from __future__ import annotations

import subprocess
from importlib import import_module

import pytest

from collector.errors import SymbolError
from collector.symbols import zstd
from collector.symbols.symbolizer import Symbolizer

WAYS = ["compression.zstd", "pyzstd", "zstandard", "program"]


@pytest.fixture(params=WAYS)
def way(request, monkeypatch, run_tool):
    """One of the ways; the others are not found."""
    modules = []
    if request.param == "program":
        run_tool("zstd", "--version")
    else:
        modules.append(pytest.importorskip(request.param, reason=f"this system has no {request.param}"))
        monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setattr(zstd, "_iter_modules", lambda: iter(modules))
    return request.param


@pytest.fixture
def nothing(monkeypatch, tmp_path):
    """No way at all."""
    monkeypatch.setattr(zstd, "import_module", lambda name: import_module(name + ".is_not_here"))
    monkeypatch.setattr(zstd, "_PROGRAM", str(tmp_path / "zstd"))


@pytest.fixture
def packed(workshop, run_tool, tmp_path):
    """(program whose debug sections are compressed, address in leaf_sum)"""
    program = workshop.build("symbols_shapes.c", "-O2", "-gdwarf-5", "-Wl,--build-id")
    result = tmp_path / "packed"
    if subprocess.run(["objcopy", "--compress-debug-sections=zstd", program, result], capture_output=True).returncode:
        pytest.skip("this objcopy knows no zstd")
    return result, next(int(row.split()[0], 16) for row in run_tool("nm", program).splitlines() if row.endswith(" leaf_sum"))


def compress(data: bytes) -> bytes:
    """By the program; what is written is the same for all that read it."""
    try:
        return subprocess.run(["/usr/bin/env", "PATH=/usr/local/bin:/usr/bin:/bin", "zstd", "-q", "-c"], input=data, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("zstd is not installed")


def locate(packed, tmp_path):
    symbolizer = Symbolizer(cache_dir=tmp_path / "cache")
    return symbolizer.locate(str(packed[0]), None, packed[1]), symbolizer.warnings


def test_lines_are_found(packed, way, tmp_path):
    location, warnings = locate(packed, tmp_path)
    assert (location.function, warnings) == ("leaf_sum", [])
    assert location.line and location.file.endswith("symbols_shapes.c")


def test_functions_are_named_without_any_way_and_a_sentence_tells_of_all(packed, nothing, tmp_path):
    location, warnings = locate(packed, tmp_path)
    assert (location.function, location.line) == ("leaf_sum", None)
    assert len(warnings) == 1 and all(part in warnings[0] for part in ("Python 3.14", "package zstandard", "program zstd"))


def test_lines_come_back_once_there_is_a_way(packed, nothing, monkeypatch, run_tool, tmp_path):
    """What could not be read is not what the cache remembers."""
    run_tool("zstd", "--version")
    assert locate(packed, tmp_path)[0].line is None
    monkeypatch.setattr(zstd, "_PROGRAM", "zstd")
    assert locate(packed, tmp_path)[0].line


def test_no_more_is_made_than_is_wanted(way):
    data = compress(bytes(1 << 20) + b"end")
    assert list(zstd.iter_decompressed(data, 10)) == [bytes(10)]
    pieces = list(zstd.iter_decompressed(data, (1 << 20) + 3))
    assert b"".join(pieces) == bytes(1 << 20) + b"end" and len(pieces) > 1


def test_damage_is_told(way):
    data = bytearray(compress(bytes(range(256)) * 64))
    data[:4] = b"bad!"
    with pytest.raises(SymbolError):
        list(zstd.iter_decompressed(bytes(data), 1 << 20))
