"""terminal_screen -- the live view on a terminal: curses, keys, windows of any size"""

from __future__ import annotations

import contextlib
import curses
import time
from collections.abc import Callable
from dataclasses import replace

from collector.profile.live_totals import LiveTotals
from collector.reports.live import VIEWS, Choice, screen

_DEAF_AFTER = 20
"""So many times a terminal may say at once that there is no key, before it is taken for gone."""


_REDRAW = 12  # Ctrl-L


class TerminalScreen:
    """Shows `totals` until somebody types q. `look` takes in what is new, and says in how many seconds to do so again; None: never."""

    def __init__(self, totals: LiveTotals, look: Callable[[], float | None], note: str) -> None:
        self._totals = totals
        self._look = look
        self._choice = Choice(note=note)
        self._is_paused = False
        self._is_over = False
        self._deaf_count = 0
        self._is_redrawn = False

    def show(self) -> None:
        """Take the terminal, and give it back as it was."""
        curses.wrapper(self._run)

    def _run(self, window: curses.window) -> None:
        with contextlib.suppress(curses.error):
            curses.curs_set(0)
        due_s = 0.0
        while True:
            if time.monotonic() >= due_s and not self._is_over and not self._is_paused:
                pause_s = self._look()
                self._is_over = pause_s is None
                due_s = time.monotonic() + (pause_s or 0.0)
                if self._is_over:
                    self._choice = replace(self._choice, is_recent=False, is_over=True)
            self._draw(window)
            window.timeout(-1 if self._is_over or self._is_paused else max(1, round((due_s - time.monotonic()) * 1000)))
            asked_s = time.monotonic()
            key = window.getch()
            self._deaf_count = self._deaf_count + 1 if key == -1 and time.monotonic() - asked_s < 0.001 else 0
            if self._deaf_count >= _DEAF_AFTER or not self._obey(key):
                return

    def _obey(self, key: int) -> bool:
        """Do what a key says; False if that is to end."""
        character = chr(key) if 0 < key < 128 else ""
        if character == "q":
            return False
        self._is_redrawn = key in (curses.KEY_RESIZE, _REDRAW)
        if character in VIEWS:
            self._choice = replace(self._choice, view=VIEWS[character])
        elif character in ("e", "i"):
            self._choice = replace(self._choice, is_inclusive=character == "i")
        elif character == "s":
            self._choice = replace(self._choice, is_recent=not self._choice.is_recent)
        elif character == " ":
            self._is_paused = not self._is_paused
            self._choice = replace(self._choice, is_paused=self._is_paused)
        return True

    def _draw(self, window: curses.window) -> None:
        height, width = window.getmaxyx()
        window.clear() if self._is_redrawn else window.erase()  # what a terminal of another size makes of its lines, nobody knows
        for row, text in enumerate(screen(self._totals, self._choice, width, height)):
            attribute = curses.A_BOLD if row == 0 else curses.A_REVERSE if row == height - 1 else curses.A_NORMAL
            with contextlib.suppress(curses.error):  # the last cell of the last line is written, and then the cursor has no place
                window.addstr(row, 0, text, attribute)
        window.refresh()
