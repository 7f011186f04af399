"""test_damaged_images -- hundreds of broken ELF files: a fallback and a sentence, never a crash"""

from __future__ import annotations

import os
import random
import signal

import pytest

from collector.errors import CollectorError
from collector.symbols.elf_image import ElfImage
from collector.symbols.symbolizer import Symbolizer

FILES_A_KIND = 2000 if os.environ.get("COLLECTOR_TEST_THOROUGH") else 40
HANG_SECONDS = 120 + 2 * FILES_A_KIND


@pytest.fixture(scope="module")
def sound_files(workshop, tmp_path_factory):
    """[(bytes, addresses to ask for)] of builds that differ in everything that is parsed."""
    paths = [
        workshop.build("symbols_shapes.c", "-O2", "-gdwarf-5"),
        workshop.build("symbols_shapes.c", "-O2", "-gdwarf-4", "-no-pie"),
        workshop.build("symbols_shapes.c", "-O2", "-gdwarf-5", "-gz=zlib"),
        workshop.build("symbols_assembly.S", "-shared"),
    ]
    files = []
    for path in paths:
        with ElfImage(str(path)) as image:
            text = image.section(".text")
            spread = range(text.elf_address - 64, text.elf_address + text.size_bytes + 64, 9)
        files.append((path.read_bytes(), [*spread, 0, 1, (1 << 64) - 1]))
    return files


def cut(data: bytearray, chance: random.Random) -> None:
    del data[chance.randrange(len(data)):]


def scatter(data: bytearray, chance: random.Random) -> None:
    for _ in range(chance.randrange(1, 100)):
        data[chance.randrange(len(data))] = chance.randrange(256)


def blot(data: bytearray, chance: random.Random) -> None:
    start = chance.randrange(len(data))
    for position in range(start, min(len(data), start + chance.randrange(1, 500))):
        data[position] = chance.choice((0, 255, chance.randrange(256)))


def hit_headers(data: bytearray, chance: random.Random) -> None:
    for _ in range(chance.randrange(1, 10)):
        data[chance.randrange(4, 64 if chance.random() < 0.5 else 900)] = chance.choice((0, 255, chance.randrange(256)))


def hit_section_table(data: bytearray, chance: random.Random) -> None:
    table = int.from_bytes(data[40:48], "little")
    for _ in range(chance.randrange(1, 10)):
        data[chance.randrange(table, len(data))] = chance.choice((0, 255, chance.randrange(256)))


@pytest.mark.parametrize("damage", [cut, scatter, blot, hit_headers, hit_section_table])
def test_damage(damage, sound_files, tmp_path):
    """Also guards against endless loops: the alarm ends the test, it measures nothing."""
    signal.signal(signal.SIGALRM, lambda *_: pytest.fail("a damaged file was read without end"))
    signal.alarm(HANG_SECONDS)
    try:
        for seed in range(FILES_A_KIND):
            chance = random.Random(f"{damage.__name__} {seed}")
            sound, addresses = chance.choice(sound_files)
            data = bytearray(sound)
            damage(data, chance)
            path = tmp_path / f"damaged-{seed}"
            path.write_bytes(data)
            check(path, addresses, tmp_path)
    finally:
        signal.alarm(0)


def check(path, addresses, tmp_path) -> None:
    symbolizer = Symbolizer(cache_dir=tmp_path / "cache")
    locations = symbolizer.locate_many(str(path), None, addresses)
    assert locations.keys() == set(addresses)
    for address, location in locations.items():
        assert location.kind in ("symbol", "frame", "unknown")
        if location.kind == "unknown":
            assert location.function == f"{path.name}+{address:#x}"
        else:
            assert location.function_start is not None and location.function_start <= address
        location.function.encode("utf-8")
    assert all("\n" not in warning for warning in symbolizer.warnings)
    symbolizer.elf_address_of_offset(str(path), None, 0x1000)
    try:
        ElfImage(str(path)).close()
    except CollectorError:
        pass
