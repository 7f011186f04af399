"""test_native_functions -- tables of functions by the library and by Python: the same of every file, sound or not"""

from __future__ import annotations

import os
import random
import struct
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from test_hostile_images import elf

from collector.errors import CollectorError
from collector.symbols import native_modules, plt_names
from collector.symbols.elf_image import ElfImage
from collector.symbols.function_table import FunctionTable, build_function_table, build_plainly
from collector.symbols.native_functions import read_functions
from collector.symbols.object_module import open_module
from collector.symbols.vdso import open_vdso

_THOROUGH = bool(os.environ.get("COLLECTOR_TEST_THOROUGH"))
_ROUNDS = 20_000 if _THOROUGH else 300
_CODE = 0x1000
_SYSTEM_FILES = ("git", "bash", "python3", "ld-linux-x86-64.so.2", "libc.so.6", "libm.so.6", "libstdc++.so.6", "libcrypto.so.*",
                 *(("node", "gdb", "libpython3.11.so.1.0", "libLLVM-14.so.1") if _THOROUGH else ()))
_FOLDERS = ("/usr/bin", "/lib64", "/usr/lib64", "/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu")


def values_of(table: FunctionTable) -> tuple[Any, ...]:
    return table.starts, table.ends, table.function_starts, table.name_offsets, table.names, table.aliases


def outcome(make: Callable[[], tuple[Any, ...] | None]) -> tuple[Any, ...] | str | None:
    """What comes of it; an exception as its sentence."""
    try:
        return make()
    except CollectorError as error:
        return str(error)


def read_both_ways(image: ElfImage, debug_images: tuple[ElfImage, ...] = ()) -> str:
    """How it went in C, when Python was found to give the same: `read`, `left` to Python, or `failed`."""
    native = outcome(lambda: read_functions(image, debug_images))
    plain = outcome(lambda: values_of(build_plainly(image, debug_images)))
    assert native is None or native == plain
    return "left" if native is None else "failed" if isinstance(native, str) else "read"


@pytest.fixture(autouse=True)
def _library() -> None:
    assert native_modules.library() is not None, "libcollector_analysis has not been built"


@pytest.mark.parametrize("name", _SYSTEM_FILES)
def test_files_of_the_system(name: str) -> None:
    paths = [path for folder in _FOLDERS for path in Path(folder).glob(name)]
    if not paths:
        pytest.skip(f"this system has no {name}")
    with ElfImage(str(paths[0])) as image:
        assert read_both_ways(image) == "read"
        assert len(build_function_table(image)) > 10


def test_the_vdso() -> None:
    with open_vdso() as image:
        assert read_both_ways(image) == "read"


@pytest.mark.parametrize("build", [
    ("gcc", "-O2", "-gdwarf-5"), ("gcc", "-O2", "-static"), ("gcc", "-O2", "-no-pie", "-Wl,-z,lazy"), ("gcc", "-O3", "-shared", "-fPIC"),
    ("gcc", "-O2", "-Wl,-z,ibtplt", "-Wl,-z,lazy", "-fcf-protection"), ("gcc", "-O2", "-s"), ("gcc", "-O2", "-fno-asynchronous-unwind-tables"),
    ("clang", "-O2", "-gdwarf-5"), ("clang", "-O1", "-ffunction-sections", "-no-pie"), ("aarch64-linux-gnu-gcc", "-O2", "-Wl,-z,lazy"),
], ids=" ".join)
def test_programs(build: tuple[str, ...], workshop: Any) -> None:
    compiler, *options = build
    with ElfImage(str(workshop.build("symbols_shapes.c", *options, compiler=compiler))) as image:
        assert read_both_ways(image) == "read"


def test_pieces_and_aliases(workshop: Any) -> None:
    paths = [workshop.build("symbols_odd_names.S", "-shared", "-nostdlib"), workshop.build("symbols_assembly.S", "-shared"),
             workshop.build_names("-O2"), workshop.build_pieces("-O2")]
    for path in paths:
        with ElfImage(str(path)) as image:
            assert read_both_ways(image) == "read"
    with ElfImage(str(paths[0])) as image:
        assert [*build_function_table(image).aliases] == ["other_whole"]


def test_object_files_and_debug_files(workshop: Any, tmp_path: Path, run_tool: Any) -> None:
    object_file = workshop.build("symbols_shapes.c", "-O2", "-c", "-ffunction-sections")
    with ElfImage(str(object_file)) as bare:
        sections = tuple((s.name, 0x1000 * (1 + index)) for index, s in enumerate(bare.sections) if s.is_code)
    program = workshop.build_names("-O2", "-gdwarf-5")
    run_tool("objcopy", "--only-keep-debug", program, tmp_path / "debug")
    run_tool("strip", "-o", tmp_path / "stripped", program)
    with open_module(str(object_file), sections) as image:
        assert read_both_ways(image) == "read"
    with ElfImage(str(tmp_path / "stripped")) as image, ElfImage(str(tmp_path / "debug")) as debug:
        assert read_both_ways(image, (debug,)) == "read"
        assert b"main\0" in build_function_table(image, [debug]).names


def test_a_file_without_section_headers(workshop: Any) -> None:
    data = bytearray(workshop.build("symbols_shapes.c", "-O2", "-gdwarf-5").read_bytes())
    data[40:48], data[60:64] = bytes(8), bytes(4)
    with ElfImage.from_bytes("bare", bytes(data)) as image:
        assert read_both_ways(image) == "read"
        assert len(build_function_table(image)) > 5


_WORDS = ("f", "_f", "__f", "g", "f.cold", "g.part.0", "f.constprop.0.cold", "f@@V1", "f@V2", "@f", "_", "$x", "$d", "h.12", "f.cold\n", "f\n", "h", "h.localalias", "\u00fc", "\uffff_", "\U00010000\u00fc", "f.part.\u0663", "")


def _names(chance: random.Random, has_others: bool) -> tuple[bytes, list[int]]:
    """Strings, and offsets into them: names that are there twice, their ends, and places outside."""
    words = [*_WORDS, *(chance.choice(_WORDS) + chance.choice(("", "x", "_")) for _ in range(8))]
    strings, offsets = b"\0", []
    for word in words:
        offsets += [len(strings), len(strings) + (len(word) // 2 if word.isascii() else 0)]
        strings += word.encode() + b"\0"
    if has_others:
        offsets += [len(strings), len(strings) + 3, 0, 1 << 30]
        strings += chance.choice((b"f\xc0\x80\0", b"\xed\xa0\x80\0", b"\xf4\x90\x80\x80\0", b"\xe0\x9f\xbf\0", b"\xe2\x82", b"f@@\xff\0", b"without an end", b"n" * 70_000))
    return strings, offsets


def _symbols(chance: random.Random, offsets: list[int], code_end: int) -> bytes:
    table = bytes(24)
    spread = chance.choice((4, 64, 0x400))
    for _ in range(chance.randrange(60)):
        address = _CODE + chance.randrange(-spread // 4, spread) if chance.random() < 0.95 else chance.choice((0, code_end, (1 << 64) - 1))
        size = chance.choice((0, 0, 1, 7, chance.randrange(200), chance.choice((1 << 63, (1 << 64) - 1, 0x2000))))
        info = chance.choice((0, 1, 2)) << 4 | chance.choice((0, 0, 2, 2, 2, 10, 1, 3))
        table += struct.pack("<IBBHQQ", chance.choice(offsets), info, 0, chance.choice((1, 1, 1, 1, 0, 0xFF00, 0xFFFF, 0xFFF1)), address, size)
    return table + bytes(chance.randrange(24))


_ENCODINGS = (0x1B, 0x1B, 0x1B, 0x03, 0x0B, 0x00, 0x10, 0x1C, 0x14, 0x12, 0x1A, 0x9B, 0xFF, 0x50, 0x01, 0x3B)


def _cie(chance: random.Random, encoding: int) -> bytes:
    augmentation = chance.choice((b"zR", b"zR", b"zPLR", b"zRS", b"zPR", b"", b"zL", b"z", b"eh", b"zRB", b"zQR", b"zR" + b"S" * chance.randrange(12, 16)))
    data = {b"zPLR": b"\x1b" + bytes(4) + b"\x1b", b"zPR": b"\x00" + bytes(8), b"zL": b"\x1b"}.get(augmentation, b"") + bytes([encoding])
    version = chance.choice((1, 1, 3))
    register = b"\x90" if version == 1 else b"\x90\x00"
    filler = (b"\x01" if chance.random() < 0.9 else b"\x81" * chance.randrange(9, 12) + b"\x01") + b"\x78" + register
    body = struct.pack("<IB", 0, version) + augmentation + b"\0" + filler + (bytes([len(data)]) if augmentation[:1] == b"z" else b"") + data
    return struct.pack("<I", len(body)) + body


def _unwind_entries(chance: random.Random, section_at: int) -> bytes:
    data, cies = b"", [(0, 0x1B)]
    for _ in range(chance.randrange(40)):
        if not data or chance.random() < 0.15:
            cies.append((len(data), chance.choice(_ENCODINGS)))
            data += _cie(chance, cies[-1][1])
        if chance.random() < 0.05:
            data += bytes(4)
        cie, encoding = chance.choice(cies) if chance.random() < 0.9 else (chance.randrange(-8, len(data) + 8), 0x1B)
        place = section_at + len(data) + 8
        start = _CODE + chance.randrange(-16, 0x300) if chance.random() < 0.95 else chance.randrange(1 << 64)
        size = chance.choice((0, 4, 16, chance.randrange(300), 0xFFFFFFFF))
        count = {0x2: 2, 0xA: 2, 0x3: 4, 0xB: 4}.get(encoding & 15, 8)
        mask = (1 << 8 * count) - 1
        body = b"".join(((value & mask).to_bytes(count, "little")) for value in (start - place * (encoding & 0x70 == 0x10), size)) + bytes(chance.randrange(9))
        length = 4 + len(body) if chance.random() < 0.98 else chance.choice((0xFFFFFFFF, 3, 1 << 20))
        data += struct.pack("<II", length, len(data) + 4 - cie & 0xFFFFFFFF) + body
    return data


def _random_image(chance: random.Random) -> ElfImage:
    strings, offsets = _names(chance, chance.random() < 0.25)
    other_strings, other_offsets = _names(chance, False)
    at = chance.choice((0x3000, 0x800, (1 << 64) - 64, 0))
    sections = [
        (".symtab", 2, _symbols(chance, offsets, _CODE + 0x200)), (".strtab", 3, strings), (".eh_frame", 1, _unwind_entries(chance, at)),
        (".dynsym", 11, _symbols(chance, other_offsets, _CODE + 0x200)), (".dynstr", 3, other_strings),
    ]
    data = bytearray(elf(sections, links={".symtab": 3, ".dynsym": 6}))
    header_of_frames = int.from_bytes(data[40:48], "little") + 4 * 64
    data[header_of_frames + 16:header_of_frames + 24] = at.to_bytes(8, "little")
    image = ElfImage.from_bytes("random", bytes(data))
    frames = image.section(".eh_frame")
    assert frames is not None and frames.elf_address == at
    image.code_ranges = chance.choice((
        ((_CODE, _CODE + 0x200),), ((_CODE, _CODE + 0x20), (_CODE + 0x20, _CODE + 0x44), (_CODE + 0x50, _CODE + 0x200)), (),
        ((_CODE, _CODE + 0x40), (_CODE + 0x30, _CODE + 0x200)), ((_CODE, (1 << 64) - 1),), ((1, _CODE + 4), ((1 << 64) - 9, (1 << 64) - 1)),
    ))
    return image


def _random_stubs(chance: random.Random) -> list[tuple[int, int, str]]:
    """More of them at one address, and at those of symbols."""
    stubs = [(_CODE + chance.randrange(0x80), chance.choice((0, 8, 16)), chance.choice(("f@plt", "\u00fcber@plt", "", "f"))) for _ in range(chance.randrange(12))]
    return [*stubs, (1 << 64, 16, "far@plt")] if chance.random() < 0.05 else stubs


def test_random_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Symbols that share addresses, names and sizes beyond all sense, over unwind entries of every encoding."""
    ways = Counter[str]()
    names = set[bytes]()
    stubs: list[tuple[int, int, str]] = []
    asked: list[list[str | None]] = []

    def stubs_of(_: ElfImage, name_at: Callable[[int], str | None]) -> list[tuple[int, int, str]]:
        asked.append([name_at(address) for address in (-1, 0, 1 << 64, *range(_CODE - 4, _CODE + 64))])
        return stubs

    monkeypatch.setattr(plt_names, "iter_plt_stubs", stubs_of)
    for seed in range(_ROUNDS):
        chance = random.Random(f"table {seed}")
        stubs = _random_stubs(chance)
        asked.clear()
        with _random_image(chance) as image, ExitStack() as stack:
            debug_images = [stack.enter_context(_random_image(chance)) for _ in range(chance.random() < 0.2)]
            ways[read_both_ways(image, tuple(debug_images))] += 1
            assert asked[0] == asked[-1]
            if seed < 200:
                names.update(build_function_table(image, debug_images).names.split(b"\0"))
    assert ways["read"] > _ROUNDS // 2 and ways["left"] > _ROUNDS // 10 and not ways["failed"]
    assert len(names) > 40


def _changed(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.randrange(1, 6) if data else 0):
        changed[chance.randrange(len(data))] = chance.choice((0, 255, chance.randrange(256)))
    return bytes(changed[:chance.randrange(len(data) + 1)] if chance.random() < 0.1 else changed)


def _sound_images(workshop: Any, stack: ExitStack) -> Iterator[ElfImage]:
    for options in (("-O2",), ("-O2", "-no-pie", "-Wl,-z,lazy"), ("-O2", "-s", "-shared", "-fPIC")):
        yield stack.enter_context(ElfImage(str(workshop.build("symbols_shapes.c", *options))))
    yield stack.enter_context(ElfImage(str(workshop.build("symbols_assembly.S", "-shared"))))


def test_changed_files(workshop: Any) -> None:
    """A few bytes are other ones, in everything that is read: symbols, strings, unwind entries, relocations and stubs."""
    ways = Counter[str]()
    kinds = (".symtab", ".strtab", ".dynsym", ".dynstr", ".eh_frame", ".rela.plt", ".rela.dyn", ".plt", ".plt.sec", ".plt.got")
    with ExitStack() as stack:
        images = list(_sound_images(workshop, stack))
        sound = [{section.index: image.data(section) for section in image.sections if section.name in kinds} for image in images]
        for seed in range(2 * _ROUNDS):
            chance = random.Random(f"change {seed}")
            number = chance.randrange(len(images))
            chosen = chance.sample(sorted(sound[number]), chance.randrange(1, 4))
            images[number]._whole_sections.update(sound[number] | {index: _changed(sound[number][index], chance) for index in chosen})
            ways[read_both_ways(images[number])] += 1
    assert ways["read"] > _ROUNDS and ways["left"] > 5


@pytest.mark.parametrize("name, way", [
    ("\u00fcber", "read"), ("\uffff\U00010000\U0010ffff", "read"), ("f@@\u00fc", "read"), ("@\u00fc", "read"),
    (b"\xc1\xbf", "left"), (b"\xe0\x9f\xbf", "left"), (b"\xed\xa0\x80", "left"), (b"\xed\xbf\xbf", "left"), (b"\xf0\x8f\xbf\xbf", "left"),
    (b"\xf4\x90\x80\x80", "left"), (b"\xf8\x88\x80\x80\x80", "left"), (b"\x80", "left"), (b"f\xe2\x82", "left"), (b"\xe2\x82@@V", "left"), (b"f@@\xff", "read"),
])
def test_names_that_are_not_ascii(name: str | bytes, way: str) -> None:
    strings = b"\0" + (name if isinstance(name, bytes) else name.encode())
    for end in (b"\0", b""):
        data = elf([(".symtab", 2, struct.pack("<IBBHQQ", 1, 0x12, 0, 1, _CODE, 9)), (".strtab", 3, strings + end)], links={".symtab": 3})
        with ElfImage.from_bytes("odd", data) as image:
            assert read_both_ways(image) == way
            assert len(build_function_table(image)) == 1


def test_names_that_are_too_many_are_left_to_python() -> None:
    symbols = b"".join(struct.pack("<IBBHQQ", 1 + n, 0x12, 0, 1, _CODE + n % 0x200, 1) for n in range(5_000))
    data = elf([(".symtab", 2, symbols), (".strtab", 3, b"\0" + b"n" * (1 << 17))], links={".symtab": 3})
    with ElfImage.from_bytes("crowded", data) as image:
        assert read_functions(image, ()) is None


def test_without_the_library(workshop: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with ElfImage(str(workshop.build("symbols_shapes.c", "-O2"))) as image:
        table = build_function_table(image)
        monkeypatch.setattr(native_modules, "library", lambda: None)
        assert read_functions(image, ()) is None
        assert values_of(build_function_table(image)) == values_of(table)
