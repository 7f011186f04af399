"""names -- find the functions and source files that a user means."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

from collector.profile.model import PYTHON_KINDS, Function, Profile

Found = TypeVar("Found", int, str)

_NUMBERED = r"(.+)#([0-9]{1,6})"
_LONGEST_TOLD = 120  # columns: a name of a template can take thousands


class Match(Generic[Found]):
    """What a word may mean: `found` positions or paths, all equally good; `near` names if nothing was found.

    `is_whole`: the word is a whole name, or a whole last part of one, and not just a piece.
    """

    __slots__ = ("found", "is_whole", "near")

    def __init__(self, found: tuple[Found, ...], near: tuple[str, ...] = (), is_whole: bool = False) -> None:
        self.found: tuple[Found, ...] = found
        self.near = near
        self.is_whole = is_whole


def find_functions(profile: Profile, text: str) -> Match[int]:
    """Positions of the functions that `text` names.

    The first of these rules that finds something decides: the exact name (also mangled, short, or as `FILE:NAME`), the name
    without its parameters, the last part of a qualified name, the beginning of a name, any part of a name. `NAME#2` is the second of several that NAME finds.
    """
    numbered = re.fullmatch(_NUMBERED, text)
    several = find_functions(profile, numbered[1]).found if numbered else ()
    if numbered and 0 < int(numbered[2]) <= len(several):
        return Match((several[int(numbered[2]) - 1],), is_whole=True)
    sampled = _sampled_functions(profile)
    rules: tuple[Callable[[Function], bool], ...] = (
        lambda function: text in (function.name, function.raw_name, function.short_name, _with_file(function)),
        lambda function: text == _without_parameters(function),
        lambda function: _without_parameters(function).endswith(("::" + text, "." + text)),
        lambda function: function.name.startswith(text),
        lambda function: text in function.name,
    )
    for place, rule in enumerate(rules):
        found = [index for index in sampled if rule(profile.functions[index])]
        if found:
            return Match(tuple(sorted(found, key=lambda index: _order(profile.functions[index]))), is_whole=place < 3)
    return Match((), _near(text, (profile.functions[index].name for index in sampled)))


def with_long_names(profile: Profile) -> Profile:
    """The profile whose tables show functions with their template and parameter lists."""
    return profile._replace(functions=[function._replace(short_name=function.name) for function in profile.functions])


def python_functions(profile: Profile) -> frozenset[int]:
    """Positions of the functions that are written in Python."""
    return frozenset(frame.function for frame in profile.frames if frame.kind in PYTHON_KINDS)


def is_no_file(source: str) -> bool:
    """Whether Python names a source so that has no file: `<string>`, `<frozen os>`."""
    return source.startswith("<") and source.endswith(">")


def telling_names(functions: Sequence[Function]) -> list[str]:
    """For each function a name that none of the others has: its own, the linker's, or that with its file; its own if there is none."""
    choices = [(function.name, function.raw_name, _with_file(function)) for function in functions]
    counts = [Counter(names) for names in zip(*choices)]
    return [next((name for name, count in zip(names, counts) if count[name] == 1), names[0]) for names in choices]


def told_apart(profile: Profile, text: str, found: Sequence[int]) -> list[str]:
    """What to say to mean each of the functions that `text` finds; where names are long, its number, and which that is."""
    functions = [profile.functions[index] for index in found]
    names = telling_names(functions)
    if max(map(len, names)) > _LONGEST_TOLD:
        names = [f"{text}#{number} for {_short_place(function)}" for number, function in enumerate(functions, 1)]
    return [f"{name} ({profile.modules[function.module].name})" for name, function in zip(names, functions)]


def _short_place(function: Function) -> str:
    line = f":{function.line}" if function.line else ""
    return f"{function.short_name} in {function.file.rpartition('/')[2]}{line}" if function.file else function.short_name


def _order(function: Function) -> tuple[str, str, str]:
    return function.name, function.raw_name, function.file or ""


def find_files(profile: Profile, text: str) -> Match[str]:
    """Paths of the source files that `text` names: the exact path, its end, or any part of its last element."""
    files = list(dict.fromkeys(frame.file for frame in profile.frames if frame.file))
    tail = "/" + text.lstrip("/")
    rules: tuple[Callable[[str], bool], ...] = (
        lambda path: path == text,
        lambda path: path.endswith(tail),
        lambda path: text in path.rpartition("/")[2],
    )
    for place, rule in enumerate(rules):
        found = tuple(path for path in files if rule(path))
        if found:
            return Match(found, is_whole=place < 2)
    return Match((), _near(text, (path.rpartition("/")[2] for path in files)))


def _sampled_functions(profile: Profile) -> list[int]:
    return sorted({frame.function for frame in profile.frames})


def _with_file(function: Function) -> str:
    return f"{function.file.rpartition('/')[2]}:{function.name}" if function.file else function.name


def _without_parameters(function: Function) -> str:
    name = function.name.removesuffix(" const")
    if not name.endswith(")"):
        return name
    open_count = 0
    for position in range(len(name) - 1, -1, -1):
        open_count += (name[position] == ")") - (name[position] == "(")
        if open_count == 0:
            return name[:position]
    return name


def _near(text: str, names: Iterable[str]) -> tuple[str, ...]:
    import difflib  # only where something was misspelt

    by_lower = {name.lower(): name for name in names}
    close = difflib.get_close_matches(text.lower(), by_lower, n=3, cutoff=0.6)
    return tuple(by_lower[name] for name in close)
