"""archiving -- copies what the names, lines and sources of an experiment are read from into the experiment (collector/symbols/archive.py)

Whole files, because whatever reads a module or a debug file here can read its copy. What is in the archive already stays as it is: it was
copied when less time had passed since the recording.
"""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from io import BytesIO
from shutil import copyfileobj
from typing import BinaryIO, cast

from collector.errors import ExperimentError, SymbolError
from collector.experiment.directory import open_directory
from collector.experiment.liveness import is_alive
from collector.load import load
from collector.profile.model import Profile
from collector.profile.names import is_no_file
from collector.profile.source_map import SourceMap, moved_path
from collector.regular_file import open_binary
from collector.symbols.archive import Archive, place_of_source
from collector.symbols.symbolizer import Symbolizer
from collector.symbols.terms import VDSO_PATH, Layout
from collector.symbols.vdso import read_vdso
from collector.units import plural

_UNFINISHED = ".new-"
_STEP_BYTES = 1 << 20
_OF_THE_NAME = (errno.ENAMETOOLONG, errno.EILSEQ)  # errors that the next file need not have
_LISTED = 3

Progress = Callable[[int, int, str], None]


@dataclass(slots=True)
class Archived:
    """What an archive holds now, and sentences about what it does not."""

    path: str
    module_count: int = 0
    debug_file_count: int = 0
    source_count: int = 0
    size_bytes: int = 0
    new_bytes: int = 0
    complaints: list[str] = field(default_factory=list)


def archive(
    path: str, symbolizer: Symbolizer, *, has_sources: bool = False, source_map: SourceMap | None = None, progress: Progress | None = None
) -> Archived:
    """Copy the modules that samples of the experiment fell into and their debug files, and with `has_sources` the sources of their lines.

    ExperimentError if there is no experiment, or it is being recorded still, or the archive cannot be written; SymbolError if there is one
    already that is not to be used. What is missing is left out, and told.
    """
    for log in open_directory(path).all_logs:
        if is_alive(log):
            raise ExperimentError(f"{path} is being recorded still; archive it when the program has ended")
    copier = _Copier(path)
    profile = load(path, symbolizer=symbolizer, has_interpreter_frames=True, progress=progress)
    _add_modules(copier, profile, symbolizer, progress)
    if has_sources:
        _add_sources(copier, profile, source_map or {})
    done = copier.archived
    done.size_bytes = sum(os.path.getsize(file) for file in Archive(path).files)
    done.complaints[:0] = [message.text for message in profile.messages if message.nameless]
    return done


def _add_modules(copier: _Copier, profile: Profile, symbolizer: Symbolizer, progress: Progress | None) -> None:
    addresses: dict[int, set[int]] = defaultdict(set)
    for frame in profile.frames:  # of a call it is the return address, which may be in the next unit
        addresses[profile.functions[frame.function].module] |= {frame.address, max(frame.address - 1, 0)}
    for number, module in enumerate(profile.modules):
        if module.copy is not None or module.layout == "imported":
            continue
        if progress is not None:
            progress(number, len(profile.modules), f"archiving {module.name}")
        try:
            files = symbolizer.needed_files(
                module.path, bytes.fromhex(module.build_id) or None, addresses[number], cast(Layout, module.layout), module.file
            )
        except SymbolError as error:
            if not any(str(error) in message.text for message in profile.messages):
                copier.complain(f"{module.name} is not archived: {error}")
            continue
        are_archived = [copier.add(file.path, file.place) for file in files]
        copier.archived.module_count += sum(are_archived[:1])
        copier.archived.debug_file_count += sum(are_archived[1:])


def _add_sources(copier: _Copier, profile: Profile, source_map: SourceMap) -> None:
    paths = {row.file for table in (profile.frames, profile.functions) for row in table if row.file and not is_no_file(row.file)}
    missing = [path for path in sorted(paths) if not copier.add(moved_path(path, source_map), place_of_source(path), is_expected=False)]
    copier.archived.source_count = len(paths) - len(missing)
    if missing:
        more = f" and {len(missing) - _LISTED} more" if len(missing) > _LISTED else ""
        copier.complain(f"{plural(len(missing), 'source')} cannot be read and {'is' if len(missing) == 1 else 'are'} not archived: "
                        f"{', '.join(missing[:_LISTED])}{more}; --source-map FROM=TO says where they lie.")


class _Copier:
    """Copies files to their places, each under another name until it is complete."""

    def __init__(self, experiment: str) -> None:
        self._archive = Archive(experiment)
        self.archived = Archived(self._archive.path)
        self._done: set[str] = set()
        for path in self._archive.files:
            if os.path.dirname(path) == self._archive.path and os.path.basename(path).startswith(_UNFINISHED):
                with contextlib.suppress(OSError):
                    os.unlink(path)

    def complain(self, sentence: str) -> None:
        """Tell something."""
        if sentence not in self.archived.complaints:
            self.archived.complaints.append(sentence)

    def add(self, path: str, place: str, is_expected: bool = True) -> bool:
        """Copy a file, if there is none at its place. False if it cannot be read, which is told if it was expected to be there."""
        target = os.path.join(self._archive.path, place)
        if self._archive.find(place) or target in self._done:
            return True
        try:
            source = _open(path)
        except (OSError, SymbolError) as error:
            if is_expected:
                self.complain(f"{path} is not archived: {getattr(error, 'strerror', None) or error}.")
            return False
        with source:
            try:
                self._copy(source, path, target)
            except OSError as error:
                reason = (error.strerror or str(error)).lower()
                if error.errno in _OF_THE_NAME:
                    self.complain(f"{path} is not archived: {reason}.")
                    return False
                raise ExperimentError(f"{self._archive.path} cannot be written: {reason}; what was archived so far is complete, file by file") from error
        self._done.add(target)
        return True

    def _copy(self, source: BinaryIO, path: str, target: str) -> None:
        _make_directories(os.path.dirname(target))
        handle, unfinished = tempfile.mkstemp(prefix=_UNFINISHED, dir=self._archive.path)
        try:
            with os.fdopen(handle, "wb") as copy:
                copyfileobj(source, copy, _STEP_BYTES)
                size_bytes = copy.tell()
            if not isinstance(source, BytesIO):  # whether a source is newer than its module shows in the copies as well
                status = os.fstat(source.fileno())
                os.utime(unfinished, ns=(status.st_atime_ns, status.st_mtime_ns))
            os.rename(unfinished, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(unfinished)
            raise
        self.archived.new_bytes += size_bytes


def _open(path: str) -> BinaryIO:
    return BytesIO(read_vdso()) if path == VDSO_PATH else open_binary(path, may_follow=True)


def _make_directories(path: str) -> None:
    """All of them for their owner alone: os.makedirs gives that mode to the last one only."""
    if not os.path.isdir(path):
        _make_directories(os.path.dirname(path))
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, 0o700)
