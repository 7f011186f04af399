"""source_map -- source files that lie elsewhere than the debug information says: whole directories are taken for others"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

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
    """The profile with all paths of source files moved. Of two that would come to the same place the second stays: lines keep their numbers."""
    if not source_map:
        return profile
    paths = {row.file for table in (profile.frames, profile.functions) for row in table if row.file}
    wanted = {path: moved_path(path, source_map) for path in sorted(paths)}
    taken = {path for path, target in wanted.items() if path == target}
    moved: dict[str | None, str | None] = {None: None, "": ""}
    for path, target in wanted.items():
        moved[path] = path if target in taken else target
        taken.add(target)
    return profile._replace(
        functions=tuple(function._replace(file=moved[function.file]) for function in profile.functions),
        digests=tuple(digest._replace(path=moved.get(digest.path) or digest.path) for digest in profile.digests),
        frames=tuple(frame._replace(file=moved[frame.file]) for frame in profile.frames),
    )
