"""spin_waits -- which functions of a stripped OpenMP runtime wait for other threads: those that tell the processor so

The runtimes of distributions have no names but for what programs call. Their barriers and locks look at a variable again and again, and say so to the processor
between two looks: `pause` on x86-64, `yield` on aarch64.
"""

from __future__ import annotations

import re

WAITS = "wait_in_"
"""What such functions are called, before their address."""

_RUNTIME = re.compile(r"lib(gomp|omp|omp5|iomp5)(-\w+)?\.so")
_HINTS = (b"\xf3\x90", b"\x3f\x20\x03\xd5")


def is_openmp_runtime(module: str) -> bool:
    """Whether a module of that name is an OpenMP runtime; packages of Python bring some with a hash in their names."""
    return _RUNTIME.match(module) is not None


def waits(code: bytes) -> bool:
    """Whether a function with this code waits for something in a loop."""
    return any(hint in code for hint in _HINTS)
