"""test_code_parts -- the C parts that know of code made at run time, under the sanitizers"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import compiled
import pytest
from compiled import GROUND, SOURCES

from collector.experiment.log_reader import EventReader
from collector.symbols.elf_image import ElfImage

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("target/api_arguments", "target/dynamic_code", "target/elf_view", "target/jit_debug", "target/range_table")
DAMAGED_FILES = 20_000 if os.environ.get("COLLECTOR_TEST_THOROUGH") else 5_000


@pytest.mark.parametrize("sanitizer", [compiled.SANITIZED, compiled.THREAD_SANITIZED], ids=["address,undefined", "thread"])
def test_object_files_copies_and_lists(sanitizer: list[str], tmp_path: Path) -> None:
    parts = [*GROUND, *(SOURCES / f"{part}.c" for part in PARTS)]
    program = compiled.program(tmp_path.parent, compiled.HERE / "code_parts.c", parts, *sanitizer)
    plain, stated = tmp_path / "parts.o", tmp_path / "stated.o"
    subprocess.run(["gcc", "-c", "-O1", "-ffunction-sections", ROOT / "tests/targets/object_parts.c", "-o", plain], check=True)
    stated.write_bytes(with_addresses(plain.read_bytes(), 0x7F00_0000_0000))
    ran = subprocess.run([program, plain, stated, tmp_path / "x.expt", str(DAMAGED_FILES)], capture_output=True, text=True, timeout=300)
    assert (ran.returncode, ran.stdout) == (0, ""), ran.stdout + ran.stderr
    (log,) = (tmp_path / "x.expt").glob("*.log")
    told = [event for event in EventReader(log) if type(event).__name__ == "MappingChange" and event.path == "[jit]"]
    assert [(event.start, event.bias) for event in told] == [(0x7F00_0000_0000 + 0x1000 * number, 0) for number in range(3)]
    assert (tmp_path / "x.expt/objects" / told[0].copy).read_bytes() == stated.read_bytes()
    copies = sorted(path.name.partition(".")[2] for path in (tmp_path / "x.expt/objects").iterdir())
    assert copies == ["jit-symbols", "jit-symbols", "part.o", "part.o"], "each content once, and nothing half made"


def with_addresses(data: bytes, address: int) -> bytes:
    """The object file with an address in the header of each executable section."""
    stated = bytearray(data)
    table = int.from_bytes(data[40:48], "little")
    for section in ElfImage.from_bytes("parts.o", data).sections:
        if section.is_code and section.size_bytes:
            at = table + 64 * section.index + 16
            stated[at : at + 8] = address.to_bytes(8, "little")
            address += 0x1000
    return bytes(stated)
