"""terminal -- a program on a terminal: what somebody would type, and what they would see"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

PATIENCE_S = 60.0
"""For what has to come: a busy machine takes its time."""


def _begin() -> None:
    """Of the terminal's first program: Ctrl-C is for it, even where the tests run in the background of a shell that has it ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Terminal:
    """One program on a pseudo-terminal of its own. `seen` is all that it has written so far."""

    def __init__(self, command: Sequence[str | Path], environment: Mapping[str, str], cwd: Path | None = None, size: tuple[int, int] = (24, 80)) -> None:
        self._ours, theirs = pty.openpty()
        self.seen = ""
        self._read = 0
        self.resize(*size)
        self.process = subprocess.Popen(
            [str(word) for word in command], stdin=theirs, stdout=theirs, stderr=theirs, env=dict(environment), cwd=cwd,
            preexec_fn=_begin, start_new_session=True,
        )  # fmt: skip
        os.close(theirs)

    def resize(self, rows: int, columns: int) -> None:
        """Make the window larger or smaller, as somebody would with the mouse."""
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, keys: str) -> None:
        """Press these keys."""
        os.write(self._ours, keys.encode())

    def await_text(self, pattern: str) -> re.Match[str]:
        """Wait until something that fits comes, behind what was found by the last call."""
        deadline = time.monotonic() + PATIENCE_S
        while not (found := re.compile(pattern, re.DOTALL).search(self.seen, self._read)):
            if not self._take(deadline):
                raise AssertionError(f"{pattern!r} did not come; there was {self.seen[self._read:]!r}")
        self._read = found.end()
        return found

    def await_screen(self, pattern: str, last: str) -> None:
        """Have the whole screen drawn anew by Ctrl-L, up to what stands `last` on it, until something on it fits: a change alone comes in pieces."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            self.type("\x0c")
            self.await_text(r"\x1b\[H\x1b\[2J")
            start = self._read
            self.await_text(last)
            shown = re.sub(r"\x1b(\[[0-9;?]*[A-Za-z]|\(B)", "", self.seen[start : self._read])
            if re.search(pattern, shown, re.DOTALL):
                return
            if time.monotonic() > deadline:
                raise AssertionError(f"{pattern!r} is not on the screen: {shown!r}")

    def await_end(self) -> int:
        """Read to the end; the exit status."""
        deadline = time.monotonic() + PATIENCE_S
        while self._take(deadline):
            pass
        return self.process.wait(PATIENCE_S)

    def close(self) -> None:
        """End the program, if it has not ended."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self._ours)

    def _take(self, deadline: float) -> bool:
        """Whether more came."""
        ready, _, _ = select.select([self._ours], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            return False
        try:
            part = os.read(self._ours, 65536)
        except OSError:  # nobody has the other end any more
            return False
        self.seen += part.decode(errors="replace")
        return bool(part)
