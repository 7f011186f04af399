"""printable -- names and texts of a recorded program made harmless to whoever shows them

A function, a file or a thread may be named anything: an escape sequence that a terminal obeys, a formula that a spreadsheet computes.
"""

from __future__ import annotations

_FORMULA_STARTS = tuple("=+-@\t\r")


def printable(text: str) -> str:
    """The text with control characters and undecodable bytes made visible, so that one line stays one line."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else _escaped(character) for character in text)


def spreadsheet_cell(text: str) -> str:
    """The text as a cell that no spreadsheet takes for a formula: what would begin one has an apostrophe before it."""
    shown = "\t".join(printable(part) for part in text.split("\t"))
    return "'" + shown if text.startswith(_FORMULA_STARTS) else shown


def _escaped(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    return character.encode("unicode_escape").decode("ascii")
