"""style -- how wide the page is, whether it has colour, and how text is made to fit."""

import re
import unicodedata
from functools import cache

from collector.named_tuple import NamedTuple
from collector.printable import printable as printable

_BOLD, _DIM, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[0m"
_ELLIPSIS = "…"
_PARAMETERS = re.compile(r"\(\.\.\.\)( const| volatile| &&?)*$")
_SCOPE_SHARE = 4
_BRANCHES = " │├└─⋯"


class Style(NamedTuple):
    """The page a report is written for: its width in columns, and whether it understands colour."""

    width: int = 80
    has_color: bool = False

    def bold(self, text: str) -> str:
        """A heading."""
        return f"{_BOLD}{text}{_PLAIN}" if self.has_color and text else text

    def dim(self, text: str) -> str:
        """Something one may skip."""
        return f"{_DIM}{text}{_PLAIN}" if self.has_color and text else text


def text_width(text: str) -> int:
    """How many columns a terminal uses for the text."""
    if text.isascii():
        return len(text)
    return sum(_character_width(character) for character in text)


@cache
def _character_width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def shorten(text: str, width: int, keep: str = "middle") -> str:
    """The text in at most `width` columns; `keep` says what goes last: the `middle` is cut out, or the `start` or `end` kept.

    Of a function's `name`, as `short_name` gives it, that is what it is called in which class, and the outermost scope; in a `tree` the
    same behind its branches.
    """
    if text_width(text) <= width:
        return text
    if width <= 1:
        return _ELLIPSIS[:width]
    room = width - 1
    if keep == "start":
        return _head(text, room) + _ELLIPSIS
    if keep == "tree":
        title = text.lstrip(_BRANCHES)
        branches = text[:len(text) - len(title)]
        if "::" in title and width > 2 * text_width(branches):
            return branches + shorten(title, width - text_width(branches), "name")
        keep = "start"
    if keep == "name" and "::" in text:
        return _shorten_name(text, width)
    if keep == "end":
        return _ELLIPSIS + _tail(text, room)
    tail = _tail(text, room // 2)
    return _head(text, room - text_width(tail)) + _ELLIPSIS + tail


def _shorten_name(text: str, width: int) -> str:
    text = _PARAMETERS.sub("", text).replace("<...>", "<>")
    if text_width(text) <= width:
        return text
    scope = text[:text.find("::") + 2]
    room = width - 1 - text_width(scope)
    if text_width(scope) > width // _SCOPE_SHARE or room < 1:
        scope, room = "", width - 1
    return scope + _ELLIPSIS + _tail(text, room)


def _head(text: str, width: int) -> str:
    if text.isascii():
        return text[:width]
    used = 0
    for position, character in enumerate(text):
        used += _character_width(character)
        if used > width:
            return text[:position]
    return text


def _tail(text: str, width: int) -> str:
    return _head(text[::-1], width)[::-1]


def pad(text: str, width: int, is_right: bool = False) -> str:
    """The text filled with blanks to `width` columns."""
    if text.isascii():
        return text.rjust(width) if is_right else text.ljust(width)
    blanks = " " * (width - text_width(text))
    return blanks + text if is_right else text + blanks
