"""archive -- copies of modules, debug files and sources that an experiment brings along: which place in it each has

    debug/.build-id/xx/yyyy          a module, by its build id
    debug/.build-id/xx/yyyy.debug    its debug file; also a file that dwz moved parts of others to
    debug/PATH                       a .dwo file
    modules/PATH                     a module without a build id
    sources/PATH                     a source file

Archives come from anywhere. One that holds anything but files and directories is not used at all, so no name in it leads out of it.
"""

from __future__ import annotations

import os
import posixpath
import stat

from collector.errors import SymbolError

NAME = "archive"
_DEBUG, _MODULES, _SOURCES = "debug", "modules", "sources"
_SHORTEST_BUILD_ID = 2  # the first byte names a directory


class Archive:
    """The archive of an experiment, as it was when it was opened. SymbolError if it is not to be used."""

    def __init__(self, experiment: str) -> None:
        self.path = os.path.join(os.path.abspath(experiment), NAME)
        self.debug_directory = os.path.join(self.path, _DEBUG)
        self.files = frozenset(_files_below(self.path))
        """The paths of all its files."""

    def __bool__(self) -> bool:
        return bool(self.files)

    def find(self, place: str) -> str | None:
        """The file at a place below the archive."""
        path = os.path.join(self.path, place)
        return path if path in self.files else None


def place_of_module(path: str, build_id: bytes | None) -> str:
    """Where a module has its place."""
    if build_id and len(build_id) >= _SHORTEST_BUILD_ID:
        return place_of_debug_file(build_id).removesuffix(".debug")
    return below(_MODULES, path)


def place_of_debug_file(build_id: bytes) -> str:
    """Where the debug file of that build id has its place."""
    return build_id_path(_DEBUG, build_id)


def place_of_split_unit(path: str) -> str:
    """Where a .dwo file has its place; `path` is the one that the program names."""
    return below(_DEBUG, path)


def place_of_source(path: str) -> str:
    """Where a source file has its place."""
    return below(_SOURCES, path)


def build_id_path(directory: str, build_id: bytes) -> str:
    """`directory`/.build-id/xx/yyyy.debug."""
    digits = build_id.hex()
    return os.path.join(directory, ".build-id", digits[:2], digits[2:] + ".debug")


def below(directory: str, path: str) -> str:
    """Where `path` lies if `directory` is taken for the root: never outside, whatever the path."""
    return os.path.join(directory, posixpath.normpath("/" + path).lstrip("/"))


def _files_below(root: str) -> list[str]:
    """All files. SymbolError if there is something else, or a directory cannot be read."""
    try:
        if not stat.S_ISDIR(os.lstat(root).st_mode):
            raise SymbolError(f"{root} is left out: it is not a directory.")
    except OSError:
        return []  # most experiments have none
    found, waiting = [], [root]
    try:
        while waiting:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    elif entry.is_file(follow_symlinks=False):
                        found.append(entry.path)
                    else:
                        raise SymbolError(f"{root} is left out: {entry.path} in it is neither a file nor a directory.")
    except OSError as error:
        raise SymbolError(f"{root} is left out: {(error.strerror or str(error)).lower()}.") from error
    return found
