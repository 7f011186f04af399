"""meaning -- which function or source file a word means, or one sentence that helps to say it better"""

from collections.abc import Sequence

from collector.errors import CollectorError, UsageError
from collector.load.outdated import change_of
from collector.load.present_files import PresentFiles
from collector.named_tuple import NamedTuple
from collector.profile.model import Profile
from collector.profile.names import find_files, find_functions, is_no_file, told_apart
from collector.profile.source_lines import function_span, last_line
from collector.regular_file import read_regular

_LISTED = 8
_CONTEXT_LINES = 3
_LARGEST_SOURCE_BYTES = 1 << 26


class SourcePart(NamedTuple):
    """Lines `first` to `last` of a source file, and the text of the file; `note` says if that may not be what was compiled, or is not here."""

    path: str
    text: tuple[str, ...]
    first: int
    last: int
    note: str = ""


def meant_function(profile: Profile, word: str) -> int:
    """The position of the one function that the word names."""
    match = find_functions(profile, word)
    if not match.found:
        raise UsageError(f"no function {word!r} is on any stack{_hint(match.near)}")
    if len(match.found) > 1:
        raise UsageError(f"{word!r} may mean {_listed(told_apart(profile, word, match.found))}")
    return match.found[0]


def meant_source(profile: Profile, word: str) -> SourcePart:
    """The file that the word names, or else the part of a file that holds the function of that name.

    A whole name comes before a piece of one, so that a function `a` is found among files that have an a in their names.
    """
    files, functions = find_files(profile, word), find_functions(profile, word)
    if files.found and (files.is_whole or not functions.is_whole):
        if len(files.found) > 1:
            raise UsageError(f"{word!r} may mean {_listed(sorted(files.found))}")
        text, note = source_text(profile, files.found[0])
        return SourcePart(files.found[0], text, 1, max(len(text), last_line(profile, files.found[0])), note)
    if not functions.found:
        raise UsageError(f"neither a source file nor a function {word!r} is on any stack{_hint(files.near + functions.near)}")
    span = function_span(profile, meant_function(profile, word))
    if span is None:
        name = profile.functions[functions.found[0]].name
        raise CollectorError(f"of {name} no source lines are known: its module was built without -g, or its debug file is not here")
    path, first, last = span
    text, note = source_text(profile, path)
    return SourcePart(path, text, max(1, first - _CONTEXT_LINES), last + _CONTEXT_LINES, note)


def source_text(profile: Profile, path: str) -> tuple[tuple[str, ...], str]:
    """The lines of a source file, and a note: none and why, if it cannot be read."""
    if is_no_file(path):
        return (), f"there is no file {path}: Python compiled it from memory"
    try:
        data = read_regular(PresentFiles(profile).source(path), _LARGEST_SOURCE_BYTES, may_follow=True)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        return (), f"the text cannot be read at {path} ({reason}); --source-map FROM=TO says where it lies"
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    return tuple(text.removesuffix("\n").split("\n")), change_of(profile, path)


def _hint(near: tuple[str, ...]) -> str:
    return f"; did you mean {' or '.join(near)}?" if near else ""


def _listed(names: Sequence[str]) -> str:
    more = f", and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more + ": say which"
