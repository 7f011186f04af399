"""regular_file -- opens the files of an experiment: regular ones only, and never waiting for anybody; makes new ones for their owner alone

A name found in an experiment may belong to anything: a pipe that nobody writes to, a device that never ends, a link to either.
"""

from __future__ import annotations

import errno
import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO


def open_regular(path: str | os.PathLike[str], *, may_follow: bool = False, is_writable: bool = False) -> int:
    """A descriptor of the regular file at `path`. OSError with a sentence's end as its strerror if it is none, or cannot be opened.

    may_follow: symbolic links are followed; inside an experiment they are not.
    """
    # Looked at before it is opened, because opening a device may do something, and afterwards, because it may have been exchanged.
    _check(path, os.stat(path, follow_symlinks=may_follow))
    flags = (os.O_RDWR if is_writable else os.O_RDONLY) | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
    descriptor = os.open(path, flags if may_follow else flags | os.O_NOFOLLOW)
    try:
        _check(path, os.fstat(descriptor))
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def open_binary(path: str | os.PathLike[str], *, may_follow: bool = False) -> BinaryIO:
    """The same as a file object for reading."""
    return os.fdopen(open_regular(path, may_follow=may_follow), "rb")


def read_regular(path: str | os.PathLike[str], most_bytes: int, *, may_follow: bool = False) -> bytes:
    """All bytes of a regular file. OSError if it cannot be read, or holds more than `most_bytes`."""
    with open_binary(path, may_follow=may_follow) as file:
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise OSError(errno.EFBIG, f"it has more than {most_bytes >> 20} MiB", os.fspath(path))
    return data


def create_private(path: str | os.PathLike[str], flags: int = 0) -> int:
    """A descriptor for writing a new file that only its owner may read. OSError if something of that name is there."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | flags, 0o600)
    _give_owner(descriptor, os.fstat(descriptor))
    return descriptor


def make_private_directory(path: str | os.PathLike[str]) -> None:
    """Make a directory that only its owner may use. OSError as of mkdir(2)."""
    os.mkdir(path, 0o700)
    give_owner(path)


def give_owner(path: str | os.PathLike[str]) -> None:
    """Let the owner read and write a file, or use a directory, where the umask of who made it withheld that. Nothing that is not ours is touched."""
    try:
        descriptor = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return
    try:
        _give_owner(descriptor, os.fstat(descriptor))
    finally:
        os.close(descriptor)


def _give_owner(descriptor: int, status: os.stat_result) -> None:
    wanted = {stat.S_IFREG: 0o600, stat.S_IFDIR: 0o700}.get(stat.S_IFMT(status.st_mode), 0)
    if status.st_mode & wanted != wanted and status.st_uid == os.geteuid():
        os.chmod(f"/proc/self/fd/{descriptor}", status.st_mode & 0o7777 | wanted)


def describe_irregular(mode: int) -> str | None:
    """What a file of this st_mode is, for the user; None if it is a regular one."""
    if stat.S_ISREG(mode):
        return None
    kinds = {stat.S_IFDIR: "a directory", stat.S_IFLNK: "a symbolic link", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
    return kinds.get(stat.S_IFMT(mode), "a device")


def _check(path: str | os.PathLike[str], status: os.stat_result) -> None:
    kind = describe_irregular(status.st_mode)
    if kind is not None:
        raise OSError(errno.EINVAL, f"it is {kind}, not a regular file", os.fspath(path))
