"""python_command -- `-m MODULE`, `-c CODE` and SCRIPT.py as the Python interpreter has them, in front of it where the user left it out"""

from __future__ import annotations

import os

from collector.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

PYTHON: Final = "python3"
_OPTIONS: Final = {"-m": "a module", "-c": "code"}
_WITHOUT_VALUE: Final = {"-n", "--dry-run", "--jit", "--list-metrics"}


def with_interpreter(words: list[str]) -> list[str]:
    """The words of `collector record`, with the interpreter in front of -m or -c if one of them stands among its options."""
    if words[-1:] == ["--"]:
        return words[:-1]
    position = 0
    while position < len(words) and words[position].startswith("-") and words[position] != "--":
        word = words[position]
        if word in _OPTIONS:
            if position + 1 == len(words):
                raise UsageError(f"{word} needs {_OPTIONS[word]} behind it (collector record --help tells more)")
            return [*words[:position], "--", PYTHON, *words[position:]]
        is_whole = word in _WITHOUT_VALUE or "=" in word or (word[1] != "-" and len(word) > 2)
        position += 1 if is_whole else 2
    return words


def completed(command: list[str]) -> list[str]:
    """The command, with the interpreter in front of a script that cannot be run by itself."""
    path = command[0]
    is_script = path.endswith((".py", ".pyz")) and os.path.isfile(path) and not os.access(path, os.X_OK)
    return [PYTHON, *command] if is_script else command


def title_of(command: list[str]) -> str:
    """What an experiment of the command is called: by the module or script rather than by the interpreter."""
    if os.path.basename(command[0]) != PYTHON or len(command) < 2 or command[1] == "-c":
        return command[0]
    if command[1] == "-m":
        return command[2] if len(command) > 2 else command[0]
    return os.path.splitext(command[1])[0] if command[1].endswith(".py") else command[0]
