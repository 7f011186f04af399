"""present_files -- where the modules and sources of a profile are read now: in the archives of its experiments, else where they were"""

from __future__ import annotations

import os
from collections.abc import Iterator

from collector.errors import SymbolError
from collector.profile.model import Module, Profile
from collector.symbols.archive import Archive, place_of_module, place_of_source


class PresentFiles:
    """Of one profile. An archive that is not to be used counts as none: loading the experiment tells why."""

    def __init__(self, profile: Profile) -> None:
        self._archives = tuple(_archives_of(profile))

    def module(self, module: Module) -> str:
        """The path of a module's file, which need not be there."""
        return self._find(place_of_module(module.path, bytes.fromhex(module.build_id)), module.path)

    def source(self, path: str) -> str:
        """The path of a source file, which need not be there."""
        return self._find(place_of_source(path), path)

    def _find(self, place: str, original: str) -> str:
        return next(filter(None, (archive.find(place) for archive in self._archives)), original)


def _archives_of(profile: Profile) -> Iterator[Archive]:
    for recording in profile.recordings:
        try:
            if os.path.isabs(recording.path):
                yield Archive(recording.path)
        except SymbolError:
            continue
