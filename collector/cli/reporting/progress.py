"""progress -- one line on a terminal while something takes long, and no trace of it afterwards"""

from __future__ import annotations

import time
from typing import TextIO

from collector.printable import printable

_PATIENCE_S = 0.5
_INTERVAL_S = 0.1


class ProgressLine:
    """Shows what is being done once that has taken a while; silent where `stream` is no terminal."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._is_shown = False
        self._next_s = time.monotonic() + _PATIENCE_S
        self._is_terminal = stream.isatty()

    def __call__(self, done: int, total: int, text: str) -> None:
        """Work is at `done` of `total`."""
        if not self._is_terminal or time.monotonic() < self._next_s:
            return
        import shutil  # brings three ways of compression with it

        self._next_s = time.monotonic() + _INTERVAL_S
        share = f"{100 * done // total:3d} % " if total > 1 else ""
        line = printable(f"collector: {share}{text}")[: shutil.get_terminal_size().columns - 1]
        self._stream.write(f"\r\x1b[K{line}")
        self._stream.flush()
        self._is_shown = True

    def close(self) -> None:
        """Take the line away."""
        if self._is_shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            self._is_shown = False
