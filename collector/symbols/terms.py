"""terms -- the words that the parts of this package share, for those who need not read a file"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

Layout = Literal["image", "file", "sections", "imported"]
"""How a module lies in memory: by its segments; as the file is; its executable sections one behind the other; or nobody knows which file it was."""

Progress = Callable[[int, int, str], None]
"""Called with what is done, of how much, and a text."""

SourceLine = tuple[str, int | None]
"""Source path and line."""

VDSO_PATH: Final = "[vdso]"
"""The path of the module that the kernel lends to every process."""

CANCELLABLE_CALLS: Final = ("__syscall_cancel_arch", "__internal_syscall_cancel", "__syscall_cancel")
"""The functions by which glibc makes system calls that end a cancelled thread, innermost first. Their time is that of read() and its like, which call them."""
