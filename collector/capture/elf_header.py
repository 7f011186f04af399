"""elf_header -- what the first bytes of a program file say about who can run it

Only what the launcher has to know before it runs a program, in a few reads and without pyelftools, which takes longer
to import than many programs run. Source: elf(5).
"""

from __future__ import annotations

import os
import struct

from collector.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

_PT_DYNAMIC, _PT_INTERP = 2, 3
_DT_NEEDED, _DT_STRTAB = 1, 5
_X86_64 = 62
_MACHINES = {3: "i386", 8: "MIPS", 20: "PowerPC", 21: "ppc64", 22: "s390x", 40: "arm", 62: "x86_64", 183: "aarch64", 243: "riscv64"}


class ElfHeader(NamedTuple):
    """What the first bytes of an ELF file say. `interpreter` is the dynamic linker, None if the file names none."""

    machine: int
    bits: int
    interpreter: str | None
    needed: tuple[str, ...]

    @property
    def machine_name(self) -> str:
        """The processor, as people call it."""
        name = _MACHINES.get(self.machine, f"machine {self.machine}")
        return f"{name}, 32 bits" if self.bits == 32 and self.machine == _X86_64 else name


def read_elf_header(path: str) -> ElfHeader | None:
    """Read what matters of an ELF file; None if it is none, or damaged. OSError if it cannot be read."""
    with open(path, "rb") as file:
        ident = file.read(64)
        if len(ident) < 52 or ident[:4] != b"\x7fELF" or ident[4] not in (1, 2) or ident[5] not in (1, 2):
            return None
        try:
            return _read_segments(file, ident)
        except (struct.error, ValueError, OverflowError, OSError):
            return None


def _read_segments(file: BinaryIO, ident: bytes) -> ElfHeader:
    order = "<" if ident[5] == 1 else ">"
    is_wide = ident[4] == 2
    machine = struct.unpack_from(order + "H", ident, 18)[0]
    table_offset = struct.unpack_from(order + ("Q" if is_wide else "I"), ident, 32 if is_wide else 28)[0]
    entry_bytes, count = struct.unpack_from(order + "HH", ident, 54 if is_wide else 42)
    interpreter = dynamic = None
    loads = []
    for index in range(count):
        file.seek(table_offset + index * entry_bytes)
        kind, offset, address, size = _unpack_segment(file.read(entry_bytes), order, is_wide)
        loads.append((address, offset, size))
        if kind == _PT_INTERP:
            file.seek(offset)
            interpreter = os.fsdecode(file.read(min(size, 4096)).partition(b"\0")[0])
        elif kind == _PT_DYNAMIC:
            file.seek(offset)
            dynamic = file.read(min(size, 1 << 16))
    needed = _read_needed(file, dynamic, order, is_wide, loads) if dynamic else ()
    return ElfHeader(machine, 64 if is_wide else 32, interpreter, needed)


def _unpack_segment(entry: bytes, order: str, is_wide: bool) -> tuple[int, int, int, int]:
    if is_wide:
        kind, _, offset, address, _, size = struct.unpack_from(order + "IIQQQQ", entry)
    else:
        kind, offset, address, _, size = struct.unpack_from(order + "IIIII", entry)
    return kind, offset, address, size


def _read_needed(file: BinaryIO, dynamic: bytes, order: str, is_wide: bool, loads: list[tuple[int, int, int]]) -> tuple[str, ...]:
    pair = struct.Struct(order + ("QQ" if is_wide else "II"))
    entries = list(pair.iter_unpack(dynamic[: len(dynamic) // pair.size * pair.size]))
    strings = next((value for tag, value in entries if tag == _DT_STRTAB), None)
    names = []
    for tag, value in entries:
        where = None if strings is None else next((o + strings - a for a, o, s in loads if a <= strings < a + s), None)
        if tag == _DT_NEEDED and where is not None:
            file.seek(where + value)
            names.append(os.fsdecode(file.read(256).partition(b"\0")[0]))
    return tuple(names)
