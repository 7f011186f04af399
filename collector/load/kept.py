"""kept -- profiles of finished experiments in the user's cache directory: what was asked once need not be read again

A kept profile holds while all that it was made from looks the same: logs, copies of code, archives, modules and their debug files, and collector itself.
It may be deleted at any time, may be damaged, and its directory unwritable: the only consequence is work done again.
"""

from __future__ import annotations

import contextlib
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any

from collector.errors import ExperimentError, SymbolError
from collector.experiment.directory import part_paths
from collector.load.serial import open_profile, pack
from collector.profile.kept_samples import Answers, KeptSamples, Question, merged_addresses, read_answers
from collector.profile.model import Profile
from collector.symbols.archive import Archive
from collector.symbols.cache import default_directory, signature_of

LARGEST_BYTES = 1 << 28  # of all kept profiles together
MOST_PROFILES = 1000

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_ENVIRONMENT = ("XDG_CACHE_HOME", "DEBUGINFOD_CACHE_PATH")
_OBJECTS = "objects"

Seen = tuple[Any, ...]
"""A path, and what it looked like: size and time of change, or None where there was nothing."""


class KeptProfile:
    """The kept profile of some experiments, as they are now: `profile`, None if there is none that still holds.

    `debug_dirs` are those that debug files were, or would be, looked for in first; `options` are words for what else names, or is named, otherwise than usual.
    """

    def __init__(self, paths: Sequence[str], debug_dirs: Sequence[str] = (), options: Sequence[str] = ()) -> None:
        directories = [os.path.abspath(directory) for directory in debug_dirs]
        name = b"\0".join(os.fsencode(word) for word in (*map(os.path.realpath, paths), *directories, *options))
        self._directory = os.path.join(default_directory(), "profiles")
        self._path = os.path.join(self._directory, f"{zlib.crc32(name):08x}")
        self._state = _state_of(paths, directories, options)
        self._known: frozenset[Question] = frozenset()
        self.profile = self._read()

    def completing(self, profile: Profile) -> Profile:
        """The profile that was loaded now, answering what was kept, and taking down what is asked besides."""
        answers: Answers = {}
        with contextlib.suppress(ExperimentError):  # damaged
            if self.profile is not None and _is_same(self.profile, profile):
                answers = read_answers(self.profile)
        self._known = frozenset(answers)
        return profile._replace(samples=KeptSamples(answers, profile.samples))

    def store(self, profile: Profile, looked_at: Iterable[str]) -> None:
        """Keep what `completing` gave, if it knows more than before. `looked_at` are the files that its names depend on."""
        answers = read_answers(profile)
        is_known = self._known and self._known == answers.keys()
        if self._state is None or is_known or any(process.is_running for process in profile.processes):
            return
        made_from = self._state, [_seen(path) for path in sorted(looked_at)]
        with contextlib.suppress(OSError, ExperimentError):  # no room on the disk, or for a number that a damaged log holds
            os.makedirs(self._directory, exist_ok=True, mode=0o700)
            self._write(pack(profile, answers, made_from))
            self._trim()

    def _read(self) -> Profile | None:
        if self._state is None:
            return None
        try:
            profile, made_from = open_profile(self._path)
            state, modules = made_from
        except (ExperimentError, ValueError, TypeError):
            return None
        if state != self._state or any(seen != _seen(seen[0]) for seen in modules):
            return None
        with contextlib.suppress(OSError):
            os.utime(self._path)
        return profile

    def _write(self, pieces: Sequence[bytes]) -> None:
        temporary = os.path.join(self._directory, f".new-{os.urandom(8).hex()}")  # as tempfile does, whose import takes longer than the writing
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(handle, "wb") as file:
                file.writelines(pieces)
            os.replace(temporary, self._path)
        except OSError:
            os.unlink(temporary)

    def _trim(self) -> None:
        """Bring the directory below its limits: what was used last stays."""
        files = sorted(((status.st_mtime, status.st_size, entry.path) for entry in os.scandir(self._directory) if (status := entry.stat())), reverse=True)
        sizes = accumulate(size for _, size, _ in files)
        for number, ((_, _, path), size) in enumerate(zip(files, sizes)):
            if number >= MOST_PROFILES or size > LARGEST_BYTES:
                os.unlink(path)


def _is_same(kept: Profile, profile: Profile) -> bool:
    """Whether groups have the same numbers in both."""
    return (
        kept.modules == profile.modules
        and kept.threads == profile.threads
        and kept.functions == profile.functions
        and kept.frames == merged_addresses(profile.frames)
    )


def _state_of(paths: Sequence[str], debug_dirs: Sequence[str], options: Sequence[str]) -> Seen | None:
    """What a profile depends on before any module is looked at; None if there is nothing to be read."""
    try:
        files = [sorted(_iter_seen(os.path.abspath(path))) for path in paths]
        own = max(entry.stat().st_mtime_ns for part in _own_parts() for entry in os.scandir(part) if entry.is_file())
    except OSError:
        return None
    environment = tuple(os.environ.get(name) for name in _ENVIRONMENT)
    return own, environment, tuple(debug_dirs), tuple(options), tuple(tuple(each) for each in files)


def _own_parts() -> list[str]:
    """The directories of collector's files; what Python compiles them to comes later and changes nothing."""
    return [_PACKAGE, *(entry.path for entry in os.scandir(_PACKAGE) if entry.is_dir() and entry.name != "__pycache__")]


def _iter_seen(path: str) -> Iterator[Seen]:
    for directory in part_paths(path):
        for place in (directory, os.path.join(directory, _OBJECTS)):
            if place == directory or os.path.isdir(place):
                yield from _seen_in(place)
    with contextlib.suppress(SymbolError):
        yield from map(_seen, Archive(path).files)


def _seen_in(directory: str) -> list[Seen]:
    """What `_seen` gives of all that is in a directory."""
    found: list[Seen] = []
    for entry in os.scandir(directory):
        try:
            status = entry.stat()
            found.append((entry.path, (status.st_size, status.st_mtime_ns)))
        except OSError:
            found.append((entry.path, None))
    return found


def _seen(path: str) -> Seen:
    signature = signature_of(path)
    return path, None if signature is None else tuple(signature)
