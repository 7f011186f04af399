"""destination -- the directory that a recording goes into: named, claimed, never overwritten unasked"""

from __future__ import annotations

import os
import stat

from collector.capture.event_holder import SOCKET_FILE
from collector.capture.job_directory import cannot_make, is_mark, is_node_directory
from collector.errors import ExperimentExistsError, RecordError, UsageError
from collector.regular_file import make_private_directory, open_binary

_LOG_START = b"\xc9"  # every log begins with a frame, an ext 32 of msgpack
_OWN_NAMES = ("launch.log", "node.log", "waits.log", "metrics.tsv", "objects", "archive", SOCKET_FILE)


def claim_directory(name: str | None, program: str, is_overwritten: bool) -> str:
    """Make the directory of a new experiment and give its absolute path.

    Without a name it is PROGRAM.N.expt in the working directory, with the first N that is free.
    ExperimentExistsError if the name is taken and not to be overwritten; RecordError if nothing can be written there.
    """
    if name is None:
        return _claim_next(os.path.basename(program))
    path = _absolute(name)
    if is_overwritten and os.path.lexists(path):
        remove_experiment(path)
    try:
        make_private_directory(path)
    except FileExistsError:
        raise ExperimentExistsError(f"{name} is there already; choose another name, or overwrite it with -O {name}") from None
    except OSError as error:
        raise cannot_make(name, error) from None
    return path


def next_name(program: str) -> str:
    """Give the name that `claim_directory` would choose now."""
    base = os.path.basename(program)
    number = 1
    while os.path.lexists(f"{base}.{number}.expt"):
        number += 1
    return f"{base}.{number}.expt"


def remove_experiment(path: str) -> None:
    """Delete an experiment. UsageError, with nothing deleted, if there is anything in it that no recorder writes."""
    if not is_experiment(path):
        raise UsageError(f"{path} is not an experiment, so -O does not touch it; choose another name")
    try:
        for entry in _walk_files(path):
            os.unlink(entry)
        for directory, _, _ in os.walk(path, topdown=False):
            os.rmdir(directory)
    except OSError as error:
        raise cannot_make(path, error, "overwritten") from None


def is_experiment(path: str) -> bool:
    """Say whether a directory holds an experiment and nothing else; an empty directory counts as one."""
    if os.path.islink(path) or not os.path.isdir(path):
        return False
    try:
        with os.scandir(path) as entries:
            return all(_is_own(entry) for entry in entries)
    except OSError:
        return False


def _is_own(entry: os.DirEntry[str]) -> bool:
    if entry.is_dir(follow_symlinks=False) and is_node_directory(entry.path):
        return all(is_experiment(os.path.join(entry.path, name)) for name in os.listdir(entry.path) if name.startswith("rank."))
    if is_mark(entry.name):
        return entry.is_file(follow_symlinks=False)
    if entry.name not in _OWN_NAMES and not _is_of_a_process(entry.name):
        return False
    if entry.name == "objects":
        with os.scandir(entry.path) as copies:
            return entry.is_dir(follow_symlinks=False) and all(copy.is_file(follow_symlinks=False) for copy in copies)
    if entry.name == "archive":
        return entry.is_dir(follow_symlinks=False) and all(_is_plain_directory(directory) for directory, _, _ in os.walk(entry.path))
    if entry.name == SOCKET_FILE:
        return stat.S_ISSOCK(entry.stat(follow_symlinks=False).st_mode)
    if ".no-log." in entry.name and entry.is_dir(follow_symlinks=False):
        return not os.listdir(entry.path)
    if not entry.is_file(follow_symlinks=False):
        return False
    if entry.name.endswith(".tsv"):
        return True
    with open_binary(entry.path) as log:
        return log.read(1) in (b"", b"\0", _LOG_START)


def _is_of_a_process(name: str) -> bool:
    """Whether it is the name of a log, or of what a process leaves that could make none: PID.N.log, PID.no-log.N."""
    pid, _, rest = name.partition(".")
    number = rest.removeprefix("no-log.") if rest.startswith("no-log.") else rest.removesuffix(".log")
    return pid.isdecimal() and number.isdecimal() and number != rest


def _is_plain_directory(path: str) -> bool:
    """Whether it holds nothing but files and directories."""
    with os.scandir(path) as entries:
        return all(entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False) for entry in entries)


def _walk_files(path: str) -> list[str]:
    return [
        os.path.join(directory, name)
        for directory, _, names in os.walk(path)
        for name in names
        if stat.S_IFMT(os.lstat(os.path.join(directory, name)).st_mode) in (stat.S_IFREG, stat.S_IFSOCK)
    ]


def _absolute(name: str) -> str:
    try:
        return os.path.abspath(name)
    except FileNotFoundError:
        raise RecordError(f"{name} cannot be made: the working directory was removed; give an absolute path with -o") from None


def _claim_next(base: str) -> str:
    while True:
        path = _absolute(next_name(base))
        try:
            make_private_directory(path)
            return path
        except FileExistsError:
            continue  # somebody else was quicker
        except OSError as error:
            raise cannot_make(path, error) from None
