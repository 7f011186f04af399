"""vdso -- the code that the kernel lends to every process, as this process has it

It is an ELF image without a file. The running kernel's is the recorded one if the build ids
are equal; for a recording of another kernel there is nothing to read.
"""

from __future__ import annotations

from collector.errors import SymbolError
from collector.symbols.elf_image import ElfImage
from collector.symbols.terms import VDSO_PATH


def open_vdso() -> ElfImage:
    """The vdso of the running kernel; SymbolError where it cannot be read."""
    return ElfImage.from_bytes(VDSO_PATH, read_vdso())


def read_vdso() -> bytes:
    """Its bytes; SymbolError where it cannot be read."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            line = next(line for line in maps if line.rstrip().endswith(VDSO_PATH))
        start, end = (int(bound, 16) for bound in line.split()[0].split("-"))
        with open("/proc/self/mem", "rb", buffering=0) as memory:
            memory.seek(start)
            return memory.read(end - start)
    except (OSError, StopIteration, ValueError) as error:
        raise SymbolError("The vdso of the running kernel cannot be read.") from error
