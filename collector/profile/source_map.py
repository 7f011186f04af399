"""source_map -- source files that lie elsewhere than the debug information says: whole directories are taken for others"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import replace

from collector.profile.model import Profile

SourceMap = Mapping[str, str]
"""{directory, as the program was built there: where it lies}; of several that hold a file, the longest counts. `.` holds relative paths."""


def moved_path(path: str, source_map: SourceMap) -> str:
    """Where the file lies."""
    best, moved = -1, path
    for start, target in source_map.items():
        start = posixpath.normpath(start)
        head = "" if start == "." and not path.startswith("/") else start.rstrip("/") + "/"
        if path.startswith(head) and len(head) > best:
            best, moved = len(head), posixpath.join(target, path[len(head):])
    return moved


def with_sources_at(profile: Profile, source_map: SourceMap) -> Profile:
    """The profile with all paths of source files moved."""
    if not source_map:
        return profile
    paths = {frame.file for frame in profile.frames} | {function.file for function in profile.functions}
    moved = {path: moved_path(path, source_map) if path else path for path in paths}
    return replace(
        profile,
        functions=tuple(replace(function, file=moved[function.file]) for function in profile.functions),
        frames=tuple(frame._replace(file=moved[frame.file]) for frame in profile.frames),
    )
