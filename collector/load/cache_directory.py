"""cache_directory -- what reports have kept in the user's cache directory, and taking it away

Symbol tables (symbols/cache.py) and kept profiles (kept.py) share one directory. Only what is named like theirs is counted or removed.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass

from collector.load.kept import LARGEST_BYTES
from collector.symbols.cache import LARGEST_CACHE_BYTES, VERSION, default_directory

_PROFILES = "profiles"
_SYMBOLS = "symbols-"


@dataclass(frozen=True, slots=True)
class CachePart:
    """One kind of what is kept: how many of it, and how large it may grow (None: another version of collector looks after it)."""

    title: str
    unit: str
    count: int
    size_bytes: int
    limit_bytes: int | None


@dataclass(frozen=True, slots=True)
class CacheDirectory:
    """The directory as it is now. `problem` says in a few words why nothing can be kept there; None if it can."""

    path: str
    parts: tuple[CachePart, ...]
    problem: str | None

    @property
    def size_bytes(self) -> int:
        """All parts together."""
        return sum(part.size_bytes for part in self.parts)


def read_cache_directory() -> CacheDirectory:
    """What is kept now; parts that hold nothing are left out."""
    directory = default_directory()
    others = _other_versions(directory)
    known = (
        _part("symbol tables", "module", os.path.join(directory, f"{_SYMBOLS}{VERSION}"), LARGEST_CACHE_BYTES),
        _part("profiles", "report", os.path.join(directory, _PROFILES), LARGEST_BYTES),
        *(_part(f"symbol tables of another version of collector ({name})", "module", os.path.join(directory, name), None) for name in others),
    )
    return CacheDirectory(directory, tuple(part for part in known if part.count), _problem_of(directory))


def clear_cache_directory() -> CacheDirectory:
    """Remove what is kept, and the directory if nothing else is in it. What is left: nothing, or what could not be removed."""
    directory = default_directory()
    for name in (f"{_SYMBOLS}{VERSION}", _PROFILES, *_other_versions(directory)):
        path = os.path.join(directory, name)
        if os.path.islink(path):
            with contextlib.suppress(OSError):
                os.unlink(path)
        else:
            shutil.rmtree(path, ignore_errors=True)  # a report may be writing there
    with contextlib.suppress(OSError):
        os.rmdir(directory)
    return read_cache_directory()


def _part(title: str, unit: str, path: str, limit_bytes: int | None) -> CachePart:
    try:
        count = len(os.listdir(path))
    except OSError:
        count = 0
    return CachePart(title, unit, count, sum(_iter_sizes(path)), limit_bytes)


def _iter_sizes(path: str) -> Iterator[int]:
    for folder, _, names in os.walk(path):
        for name in names:
            with contextlib.suppress(OSError):  # a report may just be dropping it
                yield os.lstat(os.path.join(folder, name)).st_size


def _other_versions(directory: str) -> list[str]:
    try:
        names = os.listdir(directory)
    except OSError:
        return []
    return sorted(name for name in names if name.startswith(_SYMBOLS) and name != f"{_SYMBOLS}{VERSION}")


def _problem_of(directory: str) -> str | None:
    there = directory
    while not os.path.lexists(there):
        there = os.path.dirname(there)
    if not os.path.isdir(there):
        return f"{there} is not a directory"
    if not os.access(there, os.W_OK | os.X_OK):
        return f"you may not write into {there}"
    if os.statvfs(there).f_flag & os.ST_RDONLY:
        return f"{there} is on a file system that is mounted read-only"
    return None
