"""wait_watcher -- the thread beside the program that finds out where its threads wait

It is a thread of the launcher, and no process: where the kernel lets only parents look at processes (Yama), a brother would see
nothing. The program has nothing of it.
"""

from __future__ import annotations

import os
from threading import Thread

from collector.capture.native import watch_waits

LOOKS_NS = 10_000_000
"""The time between looks."""

_PATIENCE_S = 2.0


class WaitWatcher:
    """`start` before the program begins, `finish` when it has ended."""

    def __init__(self, recorder: str, experiment: str) -> None:
        self._recorder = recorder
        self._experiment = experiment
        self._thread: Thread | None = None
        self._end = -1
        self._answer: int | str = 0

    def start(self, pid: int) -> None:
        """Begin to watch a process that is about to become the program; `finish` says if that cannot be."""
        try:
            reading, ready = os.pipe()
            end, self._end = os.pipe()
            thread = Thread(target=self._watch, args=(pid, ready, end), daemon=True)
            thread.start()
        except (OSError, RuntimeError) as error:
            self._answer = str(error)
            return
        self._thread = thread
        os.read(reading, 1)  # until it is closed
        os.close(reading)

    def finish(self) -> str:
        """Have it end, and say why it has not watched; "" if it has."""
        if self._thread is not None:
            os.close(self._end)
            self._thread.join(_PATIENCE_S)
        reason = os.strerror(-self._answer).lower() if isinstance(self._answer, int) else self._answer
        return f"it was not recorded where threads wait: {reason}" if self._answer else ""

    def _watch(self, pid: int, ready: int, end: int) -> None:
        try:
            self._answer = watch_waits(self._recorder, self._experiment, pid, LOOKS_NS, ready, end)
        except (OSError, AttributeError) as error:
            self._answer = str(error)
            os.close(ready)
        finally:
            os.close(end)
