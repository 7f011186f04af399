"""output -- standard output as commands see it: what cannot be written there ends the command in one sentence"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from types import TracebackType

from collector.errors import CollectorError

TYPE_CHECKING = False  # typing itself is slow to import, and not every command needs it
if TYPE_CHECKING:
    from typing import Any, TextIO

_CLOSED = "standard output is closed"


class Output:
    """Stands in for sys.stdout while a command runs.

    A full disk is a CollectorError there and at the end of the `with`, wherever a buffer chooses to fail; a reader that has gone stays
    a BrokenPipeError. Afterwards nothing is left in a buffer for the interpreter to complain about when it ends.
    """

    def __init__(self) -> None:
        self._stream: TextIO | None = sys.stdout

    def __enter__(self) -> Output:
        sys.stdout = self
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        sys.stdout = self._stream
        try:
            self.flush()
        except (BrokenPipeError, CollectorError):
            self._give_up()
            if error is None or isinstance(error, SystemExit):
                raise

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def isatty(self) -> bool:
        """Whether somebody looks at it."""
        return self._stream is not None and self._stream.isatty()

    def reconfigure(self, **options: Any) -> None:
        """As of a text stream; others have nothing to configure."""
        with contextlib.suppress(AttributeError):
            self._stream.reconfigure(**options)  # type: ignore[union-attr]  # whatever is missing, None's methods too, is an AttributeError

    def write(self, text: str) -> int:
        """Write, or raise CollectorError or BrokenPipeError."""
        if self._stream is None:
            raise CollectorError(f"there is nowhere to write to: {_CLOSED}")
        with _told():
            return self._stream.write(text)

    def write_bytes(self, data: bytes) -> None:
        """Write what is no text, or is encoded already; the same errors."""
        if self._stream is None:
            raise CollectorError(f"there is nowhere to write to: {_CLOSED}")
        with _told():
            self._stream.buffer.write(data)

    def flush(self) -> None:
        """Bring out what was written; the same errors."""
        if self._stream is not None:
            with _told():
                self._stream.flush()

    def _give_up(self) -> None:
        """Let what is left in the buffers go nowhere."""
        with contextlib.suppress(OSError, ValueError, AttributeError):
            descriptor = self._stream.fileno()  # type: ignore[union-attr]  # the same
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, descriptor)
            os.close(nowhere)


@contextlib.contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise CollectorError(f"the output cannot be written: {(error.strerror or str(error)).lower()}") from error
