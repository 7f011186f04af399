"""open_watch -- tells at once when somebody opens one of a set of files

Files of /proc, too: inotify does not see what the kernel changes there, but it sees who opens and reads. An inode of /proc lives as long
as somebody has it open, so each file is kept open here. Source: inotify(7).
"""

from __future__ import annotations

import ctypes
import os
import struct
from contextlib import suppress

_IN_OPEN = 0x20
_EVENT = struct.Struct("=iIII")  # watch, mask, cookie, length of the name that follows
_MOST_BYTES = 65536


class OpenWatch:
    """Files by names of the caller's choice. Where the kernel has no watches left it stays silent."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(None, use_errno=True)
        self._queue: int = self._library.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
        self._names: dict[int, int] = {}  # by watch

    def fileno(self) -> int:
        """Becomes readable when a file was opened; -1 if there is nothing to wait for."""
        return self._queue

    def add(self, file: int, name: int) -> int:
        """Tell `name` from now on when somebody opens the file that is open as `file`. Gives the watch; -1 if there is none."""
        watch: int = self._library.inotify_add_watch(self._queue, f"/proc/self/fd/{file}".encode(), _IN_OPEN)
        if watch >= 0:
            self._names[watch] = name
        return watch

    def remove(self, watch: int) -> None:
        """Watch a file no longer."""
        if self._names.pop(watch, None) is not None:
            self._library.inotify_rm_watch(self._queue, watch)

    def take(self) -> set[int]:
        """The names of the files that were opened since the last call."""
        opened: set[int] = set()
        with suppress(OSError):
            data = os.read(self._queue, _MOST_BYTES)
            at = 0
            while at < len(data):
                watch, _, _, length = _EVENT.unpack_from(data, at)
                opened.add(watch)
                at += _EVENT.size + length
        return {self._names[watch] for watch in opened if watch in self._names}

    def close(self) -> None:
        """Forget all files."""
        if self._queue >= 0:
            os.close(self._queue)
        self._queue = -1
        self._names.clear()
