"""cancellable_calls -- the functions by which glibc makes the system calls that end a cancelled thread, from 2.41 on

read(), poll() and nanosleep() leave that to __syscall_cancel, which leaves it to __internal_syscall_cancel, and that to a function in assembler. None of them
is exported, so that they are known by their code where the C library is stripped.
Source: sysdeps/unix/sysv/linux/x86_64/syscall_cancel.S and nptl/cancellation.c of glibc 2.41.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Iterator
from itertools import islice
from typing import Final

from collector.symbols.elf_image import ElfImage
from collector.symbols.function_table import FunctionRange, FunctionTable
from collector.symbols.terms import CANCELLABLE_CALLS

_MAKER, _INNER, _OUTER = CANCELLABLE_CALLS
_C_LIBRARY: Final = re.compile(r"libc[-.]")
_CODE: Final = bytes.fromhex("4889f0 4889d7 4889ce 4c89c2 4d89ca")  # rax, rdi, rsi, rdx, r10 from the registers of arguments
_CALL: Final = re.compile(rb"(?=\xe8(....))", re.DOTALL)
_CALL_BYTES: Final = 5
_MOST_INNER: Final = 4  # there is one; each is sought in the whole library
_PUSHED: Final = re.compile(rb"\xff(\x74\x24|\x75).\Z", re.DOTALL)  # an argument of its own, just before the call
_OFFSET: Final = struct.Struct("<i")


def may_be_glibc(path: str) -> bool:
    """Whether a module may be glibc."""
    return _C_LIBRARY.match(os.path.basename(path)) is not None


def name_cancellable_calls(image: ElfImage, table: FunctionTable) -> dict[int, str]:
    """{elf address where it begins: name} of those that have no name in the table."""
    if image.machine != "x86_64":
        return {}
    for section in image.sections:
        code = image.data(section) if section.is_code else b""
        maker = _nameless(table, section.elf_address + at) if (at := code.find(_CODE)) >= 0 else None
        if maker is None:
            continue
        names = {maker.function_start: _MAKER}
        for place in islice(_calls_of(code, section.elf_address, maker.function_start), _MOST_INNER):
            inner = _nameless(table, section.elf_address + place)
            if inner is None:
                continue
            names[inner.function_start] = _INNER
            for outside in _calls_of(code, section.elf_address, inner.function_start):
                outer = _nameless(table, section.elf_address + outside)
                if outer is not None and _PUSHED.search(code[max(0, outside - 4) : outside]):
                    names[outer.function_start] = _OUTER
        return names
    return {}


def _calls_of(code: bytes, start: int, target: int) -> Iterator[int]:
    """Where in the code, which begins at `start`, a function is called."""
    for found in _CALL.finditer(code):
        if start + found.start() + _CALL_BYTES + _OFFSET.unpack(found[1])[0] == target:
            yield found.start()


def _nameless(table: FunctionTable, elf_address: int) -> FunctionRange | None:
    index = table.index_of(elf_address)
    known = None if index is None else table.range_at(index)
    return known if known is not None and not known.name else None
