"""outdated -- sources that are not, or may not be, those that the code was made of

Where the compiler gave the MD5 sums of its sources (clang's DWARF 5) these decide. Of others it is only known that they were written after the code.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from collector.load.present_files import PresentFiles
from collector.profile.model import Message, Module, Profile
from collector.profile.names import python_functions
from collector.regular_file import read_regular
from collector.symbols.cache import signature_of
from collector.units import plural

_LARGEST_SOURCE_BYTES = 1 << 26
_SO = "lines may not be those that were compiled"
_SO_RAN = "lines may not be those that ran"


def change_of(profile: Profile, path: str) -> str:
    """A sentence if the source is another one than then, or newer than a module with code of it or than the recording where no such module is here."""
    files = PresentFiles(profile)
    file = files.source(path)
    source = signature_of(file)
    if source is None:
        return ""
    digests = _digests_of(profile).get(path)
    if digests:
        return "" if _md5_of(file) in digests else f"the file has changed since it was compiled, by its MD5 sum, so {_SO}"
    modules = {profile.modules[number] for number in _modules_by_source(profile).get(path, ())}
    for module in sorted(modules, key=lambda module: module.path):
        if source[1] > _built(files, module, source[1]):
            return f"the file is newer than {module.name}, so, if this is more than a fresh checkout, {_SO}"
    if source[1] > _recorded(profile, source[1]):
        so = _SO_RAN if _is_of_python(profile, path) else _SO
        return f"the file is newer than the recording, so, if this is more than a fresh checkout, {so}"
    return ""


def with_outdated(profile: Profile) -> Profile:
    """The profile with a warning for each module that has such sources; those that are as old as the code are not read."""
    changed: dict[int, list[str]] = defaultdict(list)
    newer: dict[int, list[str]] = defaultdict(list)
    built: dict[int, int] = {}
    files = PresentFiles(profile)
    digests = _digests_of(profile)
    recorded = _recorded(profile, 1 << 63)
    for path, numbers in sorted(_modules_by_source(profile).items()):
        file = files.source(path)
        source = signature_of(file)
        if source is None:
            continue
        for number in numbers:
            if number not in built:
                built[number] = _built(files, profile.modules[number], 1 << 63)
        later = [number for number in numbers if source[1] > min(built[number], recorded)]
        if later and path in digests and _md5_of(file) in digests[path]:
            continue
        for number in later:
            (changed if path in digests else newer)[number].append(path.rpartition("/")[2])
    python = {profile.functions[function].module for function in python_functions(profile)}
    messages = (
        _message(profile.modules[number].name, changed.get(number, ()), newer.get(number, ()), number in python) for number in sorted({*changed, *newer})
    )
    return profile._replace(messages=(*profile.messages, *messages)) if changed or newer else profile


def _message(module: str, changed: Iterable[str], newer: Iterable[str], is_python: bool) -> Message:
    """Of both kinds those that are known to have changed are told."""
    listed = [*changed] or [*newer]
    has_others = len(listed) > 1
    sources = f"{listed[0]} and {plural(len(listed) - 1, 'more source')}" if has_others else listed[0]
    if is_python:  # the file that the module is named after
        text = f"{module} is newer than the recording; if this is more than a fresh checkout, {_SO_RAN}."
    elif changed:
        sums = "have changed, by their MD5 sums" if has_others else "has changed, by its MD5 sum"
        text = f"{sources} {sums}, since {module} was compiled, so {_SO}."
    else:
        text = f"{sources} {'are' if has_others else 'is'} newer than {module} or the recording; if this is more than a fresh checkout, {_SO}."
    return Message(0, 1, text, outdated=module)


def _is_of_python(profile: Profile, path: str) -> bool:
    return any(profile.functions[function].file == path for function in python_functions(profile))


def _digests_of(profile: Profile) -> dict[str, set[str]]:
    """The MD5 sums that sources had when they were compiled: several, if profiles of several builds were added up."""
    digests: dict[str, set[str]] = defaultdict(set)
    for digest in profile.digests:
        digests[digest.path].add(digest.md5)
    return digests


def _md5_of(path: str) -> str:
    import hashlib  # late: what few reports need

    try:
        return hashlib.md5(read_regular(path, _LARGEST_SOURCE_BYTES, may_follow=True), usedforsecurity=False).hexdigest()
    except OSError:
        return ""


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
