"""plt_names -- which function a stub of the procedure linkage table jumps to

A stub loads its target from a slot of the global offset table, and a relocation names the
symbol whose address the loader puts into that slot. So each stub is read for the slot it uses:
this holds for every layout (lazy, immediate, IBT, BTI) without knowing which linker made it.
Sources: x86-64 psABI 1.0 section 5.2, AArch64 ELF ABI (aaelf64) section "PLT".
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from itertools import compress

from collector.symbols.elf_image import ElfImage, Section
from collector.symbols.symbol_source import SymbolText

_RELA = struct.Struct("<QQq")
_KIND_AT = 8  # of a _RELA: its low 4 bytes
_SECTIONS = (".plt", ".plt.sec", ".plt.got", ".plt.bnd", ".iplt")
_JUMP_SLOT_KINDS = {"x86_64": (6, 7, 37), "aarch64": (1025, 1026, 1032)}  # GLOB_DAT, JUMP_SLOT, IRELATIVE
_LONGEST_PLT = 1 << 24


def iter_plt_stubs(image: ElfImage, name_at: Callable[[int], str | None]) -> list[tuple[int, int, str]]:
    """[(elf address, size in bytes, "printf@plt")] of the stubs whose target has a name.

    `name_at` names a function by its address: the target of an IRELATIVE slot is a resolver's address.
    """
    kinds = _JUMP_SLOT_KINDS.get(image.machine)
    if kinds is None:
        return []
    slots, lazy = _read_slots(image, kinds, name_at)
    if not slots:
        return []
    read_stubs = _x86_64_stubs if image.machine == "x86_64" else _aarch64_stubs
    stubs: list[tuple[int, int, str]] = []
    for section_name in _SECTIONS:
        section = image.section(section_name)
        if section is not None and section.is_code and section.size_bytes < _LONGEST_PLT:
            stubs += read_stubs(image.data(section), section, slots, lazy)
    return stubs


def slot_names(image: ElfImage) -> dict[int, str]:
    """{elf address: name} of the slots that hold the addresses of functions and variables of other modules."""
    return _read_slots(image, _JUMP_SLOT_KINDS.get(image.machine, ()), lambda _: None)[0]


def _read_slots(image: ElfImage, kinds: tuple[int, ...], name_at: Callable[[int], str | None]) -> tuple[dict[int, str], list[str | None]]:
    """Names by slot address, and names in the order of .rela.plt, which lazy stubs push."""
    slots: dict[int, str] = {}
    lazy: list[str | None] = []
    low_bytes = {kind & 0xFF for kind in kinds}
    may_be_kind = bytes(byte in low_bytes for byte in range(256))
    for section in image.iter_sections("SHT_RELA"):
        if not section.name.endswith((".plt", ".dyn", ".iplt")) or section.link >= len(image.sections):
            continue
        data = image.data(section)
        count = len(data) // _RELA.size
        text = SymbolText(image, image.sections[section.link])
        names: dict[int, str] = {}
        # Of the others, which only move addresses, there may be a hundred times as many.
        for index in compress(range(count), data[_KIND_AT:count * _RELA.size:_RELA.size].translate(may_be_kind)):
            slot, info, addend = _RELA.unpack_from(data, index * _RELA.size)
            kind, symbol = info & 0xFFFFFFFF, info >> 32
            if kind in kinds:
                name = text.name_of_symbol(symbol) if symbol else name_at(addend)
                if name:
                    slots[slot] = names[index] = name
        if section.name == ".rela.plt":
            lazy += map(names.get, range(count))
    return slots, lazy


def _x86_64_stubs(data: bytes, section: Section, slots: dict[int, str], lazy: list[str | None]) -> list[tuple[int, int, str]]:
    step = 8 if section.entry_bytes == 8 else 16
    stubs = []
    for position in range(0, len(data) - step + 1, step):
        stub = data[position:position + step]
        start = section.elf_address + position
        name = None
        jump = stub.find(b"\xff\x25")  # jmp *displacement(%rip)
        if 0 <= jump <= 5 and jump + 6 <= step:
            name = slots.get(start + jump + 6 + struct.unpack_from("<i", stub, jump + 2)[0])
        elif stub.startswith((b"\x68", b"\xf3\x0f\x1e\xfa\x68")):  # IBT: [endbr64;] push $index
            (index,) = struct.unpack_from("<I", stub, stub.index(b"\x68") + 1)
            name = lazy[index] if index < len(lazy) else None
        if name:
            stubs.append((start, step, name + "@plt"))
    return stubs


def _aarch64_stubs(data: bytes, section: Section, slots: dict[int, str], lazy: list[str | None]) -> list[tuple[int, int, str]]:
    """`adrp x16, page; ldr x17, [x16, #offset]`, perhaps behind a `bti c`; a stub is 16 or 24 bytes."""
    words = struct.unpack(f"<{len(data) // 4}I", data[:len(data) // 4 * 4])
    found = []
    for index in range(len(words) - 1):
        adrp, load = words[index], words[index + 1]
        if adrp & 0x9F00001F != 0x90000010 or load & 0xFFC003FF != 0xF9400211:
            continue
        pages = (adrp >> 5 & 0x7FFFF) << 2 | adrp >> 29 & 3
        pages -= (pages & 1 << 20) << 1
        place = section.elf_address + 4 * index
        name = slots.get((place & ~0xFFF) + (pages << 12) + (load >> 10 & 0xFFF) * 8)
        if name:
            has_landing_pad = index > 0 and words[index - 1] == 0xD503245F
            found.append((place - 4 * has_landing_pad, name + "@plt"))
    return [(start, 24 if start + 24 <= section.elf_address + len(data) and section.entry_bytes == 24 else 16, name)
            for start, name in found]
