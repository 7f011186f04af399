"""own_errors -- what goes wrong in the launcher while a program runs, or after it: it is said, and the program's status stays what counts"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from collector.cli.recording.saying import say
from collector.errors import CollectorError


class OwnErrors:
    """Says each error once, however often it comes."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    @contextmanager
    def outlived(self, consequence: str) -> Iterator[None]:
        """Go on behind this block after any error in it; `consequence` is a clause that says what is missing then."""
        try:
            yield
        except Exception as error:
            sentence = f"{consequence}: {_describe(error)}"
            if sentence not in self._said:
                say(sentence)
            self._said.add(sentence)


def _describe(error: Exception) -> str:
    if isinstance(error, CollectorError):
        return str(error)
    if isinstance(error, OSError):
        return ": ".join(filter(None, (os.fsdecode(error.filename or ""), error.strerror or str(error))))
    if isinstance(error, MemoryError):
        return "out of memory"
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = f" in {os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}" if trace is not None else ""
    return f"an error of collector itself, {type(error).__name__}{place}: {error}"
