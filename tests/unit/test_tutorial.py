"""test_tutorial -- what the pages tell people to type: every command line is one that the real parsers take, every file named is there"""

from __future__ import annotations

import argparse
import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from collector.cli.main import build_parser, iter_commands, load_command
from collector.cli.reporting.words import VIEWS

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), ROOT / "libcollector_c/README.md"]

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`(collector [^`\n]+)`")
_COMMAND = re.compile(r"(?:^|[\s(/])collector\s+([a-z].*)")
_END_WORDS = {"|", "||", "&&", ";", "&", ">", ">>", "<", "2>"}


def is_synopsis(text: str) -> bool:
    """Whether a line says what may be typed, and is not itself something to type."""
    return bool(re.search(r"\[|\.\.\.|…|\|[A-Z-]", text))


def command_lines(page: Path) -> Iterator[tuple[str, str]]:
    """Every command line of a page: shell blocks line by line, and commands in running text."""
    content = page.read_text(encoding="utf-8")
    for language, block in _BLOCK.findall(content):
        if language not in ("", "sh", "bash", "console", "make"):
            continue
        for line in block.replace("\\\n", " ").splitlines():
            # Whatever is no prompt in a block of prompts is output.
            if "\n$ " in f"\n{block}" and not line.startswith("$ "):
                continue
            yield from ((line, found) for found in find_commands(line.removeprefix("$ ")))
    for text in _INLINE.findall(_BLOCK.sub("", content)):
        yield from ((text, found) for found in find_commands(text))


def find_commands(line: str) -> Iterator[str]:
    """The parts of a line from `collector COMMAND` on."""
    line = re.split(r"\s{3,}|\s#", line)[0]  # what follows is an explanation
    if is_synopsis(line):
        return
    while match := _COMMAND.search(line):
        yield match[1]
        line = match[1]


def words_of(text: str) -> list[str]:
    """The words of a command up to where the shell ends it."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars="();|&<>")
    lexer.whitespace_split = True
    words: list[str] = []
    for word in lexer:
        if word in _END_WORDS or word.startswith((")", ";")):
            break
        words.append(word)
    return words


LINES = [(page.relative_to(ROOT), line, text) for page in PAGES for line, text in command_lines(page)]


def parse(words: list[str]) -> argparse.Namespace | None:
    """The arguments as the command would get them; None for what is no command line of ours."""
    if words[0] not in iter_commands():
        return None
    command = load_command(words[0])
    return build_parser(command).parse_args(command.prepare(words[1:]) if hasattr(command, "prepare") else words[1:])


@pytest.mark.parametrize(("page", "line", "text"), LINES, ids=[f"{page}: {text}" for page, _, text in LINES])
def test_a_command_line_is_one_that_is_understood(page: Path, line: str, text: str) -> None:
    words = words_of(text)
    if words[0] not in iter_commands():
        assert words[0] in ("is", "in", "had"), f"{page}: {line}: there is no command {words[0]!r}"
        return
    if len(words) == 1 or words[-1] in ("-h", "--help"):
        return  # the name of a command in running text; help ends the process
    args = parse(words)
    assert args is not None
    if words[0] == "report":
        assert any(word in VIEWS for word in words[2:]) or len(words) == 2 or words[2].startswith("-"), f"{page}: {line} names no view"


def test_there_are_command_lines_of_every_command() -> None:
    assert {words_of(text)[0] for _, _, text in LINES} >= set(iter_commands())
    assert sum(str(page) == "docs/tutorial.md" for page, _, _ in LINES) >= 20


@pytest.mark.parametrize("text", ["record --nonsense ./a", "report --jsn x.expt", "config --lib"])
def test_one_that_is_not_understood_would_be_found(text: str) -> None:
    from collector.errors import UsageError

    with pytest.raises(UsageError):
        parse(words_of(text))


def test_python_of_the_pages_is_python() -> None:
    """Blocks with `...` for whatever one may do there included."""
    blocks = [(page, block) for page in PAGES for language, block in _BLOCK.findall(page.read_text()) if language == "python"]
    assert blocks
    for page, block in blocks:
        ast.parse(block, str(page))


def test_files_that_the_house_names_are_there() -> None:
    page = (ROOT / "docs/design.md").read_text()
    homes = [ROOT, ROOT / "collector", ROOT / "libcollector_c", ROOT / "libcollector_c/src"]
    folder = ""
    missing = []
    for name in re.findall(r"`((?:\w+/)*\w+(?:\*)?\.(?:py|c|h|md))`", page):
        folder = name.rpartition("/")[0] or folder
        places = [home / (name if "/" in name else f"{folder}/{name}") for home in homes]
        if not any(list(place.parent.glob(place.name)) for place in places):
            missing.append(name)
    assert not missing
