"""man_page -- a command's help as the roff source of a page for man(1)

Source: man(7), the macros that groff and mandoc both know.
"""

from __future__ import annotations

import re

from collector import __version__
from collector.cli.describing.grammar import Command, Option, read_command, read_grammar

_OPTIONS_OF_ALL = (
    Option(("-h", "--help"), "", "list the commands; behind a command, its options", (), False),
    Option(("-V", "--version"), "", "print the version", (), False),
)
_STATUSES = (
    ("0", "all is well"),
    ("1", "something went wrong: one sentence on standard error says what"),
    ("2", "the command line makes no sense"),
)


def page_name(command: str | None) -> str:
    """The page of a command; of None, that of all of them together."""
    return f"collector-{command}" if command else "collector"


def man_page(command: str | None) -> str:
    """The page's source. UsageError if there is no such command."""
    return _page_of(read_command(command)) if command else _page_of_all()


def _page_of_all() -> str:
    commands = read_grammar()
    lines = [
        *_head(page_name(None), "sampling profiler: records where a program spends its time, and shows it"),
        ".SH SYNOPSIS", r"\fBcollector\fR \fICOMMAND\fR ...",
        ".SH DESCRIPTION", "The beginning of a command is enough if no other begins so.",
        ".SH COMMANDS", *(line for each in commands for line in (".TP", _bold(each.name), _text(each.summary))),
        ".SH OPTIONS", *(line for option in _OPTIONS_OF_ALL for line in _option(option)),
        '.SH "EXIT STATUS"', "Unless a command's page says otherwise:",
        *(line for status, meaning in _STATUSES for line in (".TP", _bold(status), _text(meaning))),
        *_see_also([page_name(each.name) for each in commands]),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _page_of(command: Command) -> str:
    lines = [*_head(page_name(command.name), command.summary), ".SH SYNOPSIS", "\n.br\n".join(map(_usage, command.usage.splitlines()))]
    if command.text:
        lines += [".SH DESCRIPTION", *_prose(command.text)]
    if command.words:
        lines += [".SH ARGUMENTS", *(line for words in command.words for line in (".TP", rf"\fI{_text(words.value)}\fR", _text(words.help)))]
    lines += [".SH OPTIONS", *(line for option in command.options for line in _option(option)), *_see_also([page_name(None)], command.name)]
    return "\n".join(lines) + "\n"


def _head(name: str, summary: str) -> list[str]:
    return [
        r'.\" Made by `collector man` from the help of the command',
        f'.TH "{_text(name.upper())}" 1 "" "collector {__version__}" "collector"',
        ".SH NAME",
        rf"{_text(name)} \- {_text(summary)}",
    ]  # fmt: skip


def _see_also(pages: list[str], command: str | None = None) -> list[str]:
    more = f" and \\fBcollector help {command}\\fR, with examples" if command else "; \\fBcollector help\\fR lists the pages on everything else"
    return ['.SH "SEE ALSO"', ",\n".join(rf"\fB{_text(page)}\fR(1)" for page in pages) + more]


def _option(option: Option) -> list[str]:
    value = rf" \fI{_text(option.value)}\fR" if option.value else ""
    return [".TP", ", ".join(map(_bold, option.names)) + value, _text(option.help)]


def _usage(usage: str) -> str:
    words = re.split(r"(?= [\[A-Z])", usage.strip(), maxsplit=1)
    return _bold(words[0]) + (rf"\fI{_text(words[1])}\fR" if len(words) > 1 else "")


def _prose(text: str) -> list[str]:
    """Paragraphs; indented lines stay as they are."""
    lines: list[str] = []
    for paragraph in re.split(r"\n\n|(?<=:)\n(?= )", text):
        body = [_text(re.sub("^ {2,4}", "", line)) for line in paragraph.splitlines()]
        lines += [".PP", ".RS 4", ".nf", *body, ".fi", ".RE"] if paragraph.startswith(" ") else [".PP", *body]
    return lines[1:]  # a section begins with a paragraph anyway


def _bold(text: str) -> str:
    return rf"\fB{_text(text)}\fR"


def _text(text: str) -> str:
    """The text such that roff takes nothing in it for its own."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga").replace("'", "\\(aq").replace("^", "\\(ha").replace("~", "\\(ti")
    return rf"\&{escaped}" if escaped.startswith(".") else escaped
