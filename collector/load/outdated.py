"""outdated -- sources that are newer than the code that was made of them, whose lines may not be those that were compiled"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from collector.load.present_files import PresentFiles
from collector.profile.model import Message, Module, Profile
from collector.symbols.cache import signature_of
from collector.units import plural


def change_of(profile: Profile, path: str) -> str:
    """A sentence if the source is newer than a module with code of it, or than the recording where no such module is here."""
    files = PresentFiles(profile)
    source = signature_of(files.source(path))
    if source is None:
        return ""
    modules = {profile.modules[number] for number in _modules_by_source(profile).get(path, ())}
    for module in sorted(modules, key=lambda module: module.path):
        if source[1] > _built(files, module, source[1]):
            return f"the file has changed since {module.name} was built, so lines may not be those that were compiled"
    if source[1] > _recorded(profile, source[1]):
        return "the file has changed since the recording, so lines may not be those that were compiled"
    return ""


def with_outdated(profile: Profile) -> Profile:
    """The profile with a warning for each module that has such sources."""
    changed: dict[int, list[str]] = defaultdict(list)
    built: dict[int, int] = {}
    files = PresentFiles(profile)
    for path, numbers in sorted(_modules_by_source(profile).items()):
        source = signature_of(files.source(path))
        if source is None:
            continue
        recorded = _recorded(profile, source[1])
        for number in numbers:
            if number not in built:
                built[number] = _built(files, profile.modules[number], 1 << 63)
            if source[1] > min(built[number], recorded):
                changed[number].append(path.rpartition("/")[2])
    messages = (_message(profile.modules[number].name, changed[number]) for number in sorted(changed))
    return replace(profile, messages=(*profile.messages, *messages)) if changed else profile


def _message(module: str, files: list[str]) -> Message:
    others = f" and {plural(len(files) - 1, 'more source')}" if len(files) > 1 else ""
    verb = "have" if others else "has"
    text = f"{files[0]}{others} {verb} changed since {module} was built or recorded, so lines may not be those that were compiled."
    return Message(0, 1, text, outdated=module)


def _modules_by_source(profile: Profile) -> dict[str, set[int]]:
    modules: dict[str, set[int]] = defaultdict(set)
    pairs: Iterable[tuple[str | None, int]] = {(frame.file, frame.function) for frame in profile.frames}
    for path, function in pairs:
        if path:
            modules[path].add(profile.functions[function].module)
    return modules


def _built(files: PresentFiles, module: Module, unknown: int) -> int:
    """When a module's file was last written, ns since 1970."""
    found = signature_of(files.module(module)) if module.file is None else module.file[:2]
    return unknown if found is None else found[1]


def _recorded(profile: Profile, unknown: int) -> int:
    """When the first of the recordings ended, ns since 1970."""
    ends = [recording.wall_ns + recording.end_ns - recording.start_ns for recording in profile.recordings if recording.wall_ns]
    return min(ends, default=unknown)
