"""groupings -- the groups of frames that views ask about: functions, modules, lines, single frames"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeVar

from collector.profile.model import Profile
from collector.profile.samples import Grouping

Line = tuple[str | None, int | None]
"""Source file and line."""

Key = TypeVar("Key", bound=Hashable)


def by_function(profile: Profile) -> Grouping:
    """Each function is a group."""
    return Grouping("functions", len(profile.functions), lambda: [frame.function for frame in profile.frames])


def by_module(profile: Profile) -> Grouping:
    """Each module is a group."""
    return Grouping("modules", len(profile.modules), lambda: [profile.functions[frame.function].module for frame in profile.frames])


def by_line(profile: Profile) -> tuple[Grouping, list[tuple[str | None, int | None, int]]]:
    """Each line of a function is a group, and what of it has no line; file, line and function of each group."""
    groups, keys = numbered((frame.file, frame.line, frame.function) for frame in profile.frames)
    return Grouping("lines", len(keys), lambda: groups), keys


def by_frame(profile: Profile) -> Grouping:
    """Each frame is a group: every address, with all that was inlined there."""
    return Grouping("frames", len(profile.frames), lambda: range(len(profile.frames)))


def by_source_line(profile: Profile) -> tuple[Grouping, list[Line]]:
    """Each line of a source file is a group, whatever function it became part of; file and line of each group."""
    groups, keys = numbered((frame.file, frame.line) for frame in profile.frames)
    return Grouping("source lines", len(keys), lambda: groups), keys


def numbered(keys: Iterable[Key]) -> tuple[list[int], list[Key]]:
    """Each key's number in the order of first appearance, and the keys by number."""
    numbers: dict[Key, int] = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys], list(numbers)
