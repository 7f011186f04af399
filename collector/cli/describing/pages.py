"""pages -- the documentation as an installed package has it: found by name, and as text for a terminal"""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Iterator

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def docs_directory() -> str:
    """Inside the package (a wheel), else beside it (a source tree)."""
    own = os.path.join(_PACKAGE, "docs")
    return own if os.path.isdir(own) else os.path.join(os.path.dirname(_PACKAGE), "docs")


def find_pages() -> dict[str, str]:
    """The pages' paths by their names; those of commands have the commands' names."""
    directory = docs_directory()
    found: dict[str, str] = {}
    for folder in (directory, os.path.join(directory, "commands")):
        if os.path.isdir(folder):
            found.update({name.removesuffix(".md"): os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".md")})
    return dict(sorted(found.items()))


def read_title(path: str) -> str:
    """What a page says it is."""
    with open(path, encoding="utf-8") as file:
        return file.readline().lstrip("# ").rstrip()


def page_text(markdown: str, width: int) -> str:
    """A page with its prose broken to a width, links as their words, and rows of tables without their rules. Code stays as it is."""
    return "\n".join(line for block in _iter_blocks(markdown) for line in _lines_of(block, width)) + "\n"


def _iter_blocks(markdown: str) -> Iterator[list[str]]:
    """Lines that belong together: code with its fences, a paragraph, an item, a row; an empty line is a block without lines."""
    block: list[str] = []
    for line in markdown.splitlines():
        is_code = bool(block) and block[0].startswith("```") and not (len(block) > 1 and block[-1] == "```")
        if is_code or (block and line and not re.match(r"[|#]|```|\s*([*-]|\d+\.) ", line) and not block[0].startswith(("|", "#", "```"))):
            block.append(line)
            continue
        if block:
            yield block
        block = [line] if line else []
        if not line:
            yield []
    if block:
        yield block


def _lines_of(block: list[str], width: int) -> list[str]:
    if not block:
        return [""]
    if block[0].startswith("```"):
        return [f"    {line}" for line in block[1:-1]]
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(line.strip() for line in block)).replace("**", "")
    if re.fullmatch(r"[|\s:-]+", text):
        return []
    if text.startswith("|"):
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", text)[1:-1]]
        return textwrap.wrap("  ".join(cell for cell in cells if cell).replace("\\|", "|"), width, subsequent_indent="    ")
    indent = " " * (len(block[0]) - len(block[0].lstrip()))
    hanging = indent + ("  " if re.match(r"([*-]|\d+\.) ", text) else "")
    return textwrap.wrap(text.lstrip("# ") if text.startswith("#") else text, width, initial_indent=indent, subsequent_indent=hanging)
