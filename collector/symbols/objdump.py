"""objdump -- instructions as text, by the system's objdump

Only the bytes that are wanted are disassembled, and objdump's own names for the targets of calls are kept.
Source: the manual of GNU binutils, section objdump; LLVM's objdump understands the options used for files.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile

from collector.errors import SymbolError

Instruction = tuple[int, str]
"""Address, text."""

_LINE = re.compile(r"\s*([0-9a-f]+):\s+(\S.*)")
_MACHINES = {"x86_64": "i386:x86-64", "aarch64": "aarch64"}
_PATIENCE_S = 120


def disassemble_file(path: str, start: int, end: int) -> list[Instruction]:
    """The instructions of an ELF file from one elf address up to another. Raises SymbolError."""
    return _run(["-d", "-w", "-C", "--no-show-raw-insn", f"--start-address={start:#x}", f"--stop-address={end:#x}", path])


def disassemble_bytes(data: bytes, start: int, machine: str) -> list[Instruction]:
    """The instructions in `data`, which lay at `start`; `machine` as uname names it. Raises SymbolError."""
    if machine not in _MACHINES:
        raise SymbolError(f"code of a machine {machine or 'of an unknown kind'} cannot be disassembled.")
    with tempfile.NamedTemporaryFile(prefix="collector-") as file:
        file.write(data)
        file.flush()
        options = ["-D", "-w", "-b", "binary", "-m", _MACHINES[machine], "--no-show-raw-insn", f"--adjust-vma={start:#x}"]
        return _run([*options, file.name])


def _run(arguments: list[str]) -> list[Instruction]:
    try:
        done = subprocess.run(
            ["objdump", *arguments], capture_output=True, stdin=subprocess.DEVNULL, timeout=_PATIENCE_S, env={**os.environ, "LC_ALL": "C"}
        )
    except FileNotFoundError:
        raise SymbolError("there is no objdump here; it comes with binutils (apt install binutils).") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SymbolError(f"objdump cannot be used: {error}.") from error
    found = (_LINE.match(line) for line in done.stdout.decode("utf-8", "replace").splitlines())
    instructions = [(int(match[1], 16), " ".join(match[2].split())) for match in found if match]
    if done.returncode != 0 or not instructions:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise SymbolError(f"objdump found no instructions: {lines[-1] if lines else 'it says nothing'}.")
    return instructions
