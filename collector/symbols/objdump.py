"""objdump -- instructions as text, by the system's objdump

It is given a small file of our own that holds the wanted bytes only, and the names that they may refer to.
Source: the manual of GNU binutils, section objdump; LLVM's objdump understands the options as well.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Mapping

from collector.errors import SymbolError
from collector.symbols.code_image import code_image

Instruction = tuple[int, str]
"""Address, text."""

_LINE = re.compile(r"\s*([0-9a-f]+):\s+(\S.*)")
_PATIENCE_S = 120


def disassemble(code: bytes, start: int, machine: str, names: Mapping[int, str]) -> list[Instruction]:
    """The instructions in `code`, which lay at `start`; `machine` as uname names it, `names` by address. Raises SymbolError."""
    image = code_image(code, start, machine, names)
    with tempfile.NamedTemporaryFile(prefix="collector-") as file:
        file.write(image)
        file.flush()
        return _run(["-d", "-w", "-C", "--no-show-raw-insn", file.name])


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
