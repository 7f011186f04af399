"""program -- what kind of file a command runs, and whether a preloaded recorder can get into it

Only the dynamic linker honours LD_PRELOAD, and only for a program that gains no rights by being run.
Whatever it would pass over in silence is found here first. Source: ld.so(8), execve(2), elf(5).
"""

from __future__ import annotations

import os
import stat
from enum import Enum

from collector.capture.elf_header import read_elf_header
from collector.named_tuple import NamedTuple

_SHELL = "/bin/sh"
_MOST_INTERPRETERS = 4  # as the kernel: a script may name a script, but not for ever


class Obstacle(Enum):
    """Why a program cannot be recorded; the value completes `PROGRAM ...`."""

    STATIC = "is statically linked, so that no recorder can be preloaded into it"
    FOREIGN = "is built for another kind of processor ({detail}) than the recorder ({own})"
    SETUID = "runs with the rights of another user (setuid), and the system lets nobody preload into such a program"
    SETGID = "runs with the rights of another group (setgid), and the system lets nobody preload into such a program"
    CAPABLE = "is given capabilities when it is run, and the system lets nobody preload into such a program"
    OTHER_LIBC = "uses another C library ({detail}) than the recorder ({own})"


_REFUSING = (Obstacle.FOREIGN, Obstacle.OTHER_LIBC)


class CannotRun(Exception):
    """The command cannot be run at all; `status` is what a shell would exit with."""

    def __init__(self, sentence: str, status: int) -> None:
        super().__init__(sentence)
        self.status = status


class Program(NamedTuple):
    """A command's file.

    path         what execve is given
    interpreters the files that run it, if it is a script: the one named in its first line, and so on
    binary       the ELF file that the kernel loads in the end: the last interpreter or path itself
    obstacle     why that one cannot be recorded, None if it can
    reason       the same as a sentence, empty if it can
    is_text      it names no interpreter, so that a shell has to read it
    """

    path: str
    interpreters: tuple[str, ...]
    binary: str
    obstacle: Obstacle | None
    reason: str
    is_text: bool = False

    def start_with(self, command: list[str]) -> tuple[str, list[str]]:
        """Give path and arguments for execve, as execvp would choose them."""
        return (_SHELL, [_SHELL, self.path, *command[1:]]) if self.is_text else (self.path, command)


def can_be_preloaded(program: Program) -> bool:
    """False where the dynamic linker would complain of a recorder in LD_PRELOAD, or not start the program."""
    return program.obstacle not in _REFUSING


def find_program(command: str, search_path: str, recorder: str) -> Program:
    """Find what `command` runs, as execvp would, and look at it. CannotRun if nothing can be run."""
    path = _search(command, search_path)
    interpreters, binary, is_text = _follow_scripts(path)
    obstacle, phrase = (None, "") if binary is None else _find_obstacle(binary, recorder)
    return Program(path, interpreters, binary or path, obstacle, f"{binary} {phrase}" if obstacle else "", is_text)


def explain_obstacle(command: str, search_path: str, recorder: str) -> str:
    """Say why what `command` runs cannot be recorded, as in "it is statically linked, ..."; empty if it can, or cannot be looked at."""
    try:
        interpreters, binary, _ = _follow_scripts(_search(command, search_path))
        phrase = _find_obstacle(binary, recorder)[1] if binary else ""
    except (CannotRun, OSError):
        return ""
    who = f"its interpreter {binary}" if interpreters else "it"
    return f"{who} {phrase}" if phrase else ""


def _search(command: str, search_path: str) -> str:
    if "/" in command:
        candidates = [command]
    else:
        candidates = [os.path.join(directory or ".", command) for directory in search_path.split(":")]
    refused = None
    for candidate in candidates:
        if not os.path.exists(candidate):
            continue
        if os.path.isdir(candidate):
            refused = refused or f"{candidate} is a directory"
        elif not os.access(candidate, os.X_OK):
            refused = refused or f"{candidate} is not executable"
        else:
            return candidate
    if refused and (len(candidates) == 1 or not refused.endswith("directory")):
        raise CannotRun(refused, 126)
    where = "there is no such file" if "/" in command else "there is no such program in PATH"
    name = command or "''"
    raise CannotRun(f"{name}: {where}", 127)


def _follow_scripts(path: str) -> tuple[tuple[str, ...], str | None, bool]:
    """Give the interpreters, the ELF file behind them (None if it cannot be read), and whether `path` is text that names no interpreter."""
    interpreters: list[str] = []
    current = path
    while True:
        try:
            with open(current, "rb") as file:
                line = file.read(256).partition(b"\n")[0]
        except OSError:
            return tuple(interpreters), None, False  # execute permission without read permission is enough to run
        if not line.startswith(b"#!"):
            is_text = not interpreters and not line.startswith(b"\x7fELF") and b"\0" not in line
            return ((_SHELL,), _SHELL, True) if is_text else (tuple(interpreters), current, False)
        words = line[2:].split()
        if not words or len(interpreters) == _MOST_INTERPRETERS:
            raise CannotRun(f"{path}: its first line names no interpreter that can run it", 126)
        current = os.fsdecode(words[0])
        if not os.path.isfile(current) or not os.access(current, os.X_OK):
            # As bash: the program was found, its interpreter was not.
            raise CannotRun(f"{path}: its interpreter {current} is missing or not executable", 126)
        interpreters.append(current)


def _find_obstacle(binary: str, recorder: str) -> tuple[Obstacle | None, str]:
    header = read_elf_header(binary)
    own = read_elf_header(recorder)
    obstacle = None
    detail = mine = ""
    if header is None or own is None:
        return None, ""
    if (header.machine, header.bits) != (own.machine, own.bits):
        obstacle, detail, mine = Obstacle.FOREIGN, header.machine_name, own.machine_name
    elif header.interpreter is None and not _is_dynamic_linker(binary):
        obstacle = Obstacle.STATIC
    elif header.interpreter and _is_musl(header.interpreter) != any(map(_is_musl, own.needed)):
        obstacle, detail, mine = Obstacle.OTHER_LIBC, os.path.basename(header.interpreter), ", ".join(own.needed)
    else:
        obstacle = _find_rights(binary)
    return obstacle, obstacle.value.format(detail=detail, own=mine) if obstacle else ""


def _find_rights(binary: str) -> Obstacle | None:
    status = os.stat(binary)
    if os.statvfs(binary).f_flag & os.ST_NOSUID:
        return None
    if status.st_mode & stat.S_ISUID and status.st_uid != os.geteuid():
        return Obstacle.SETUID
    if status.st_mode & stat.S_ISGID and status.st_mode & stat.S_IXGRP and status.st_gid != os.getegid():
        return Obstacle.SETGID
    if os.geteuid() != 0:
        try:
            os.getxattr(binary, "security.capability")
        except OSError:
            return None
        return Obstacle.CAPABLE
    return None


def _is_dynamic_linker(path: str) -> bool:
    # `ld.so PROGRAM` has no interpreter of its own and still honours LD_PRELOAD.
    return os.path.basename(os.path.realpath(path)).startswith(("ld-", "ld.so"))


def _is_musl(name: str) -> bool:
    return "musl" in name
