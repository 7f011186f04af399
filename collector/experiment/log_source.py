"""log_source -- where the bytes of a log come from: a file by its path, a descriptor, or nobody (they are fed); and where its frames end

A log that is being written is a sparse file of its greatest length, and the last sixteenth of it holds the open frames (docs/format.md). It is cut
to the length of its frames at the end; the log of a killed process stays untruncated until somebody moves its open frames.
"""

from __future__ import annotations

import errno
import os
import stat

from collector.errors import ExperimentError, ExperimentNotFoundError
from collector.format import OPEN_MAGIC, OPEN_SLOT_BYTES, OPEN_TAIL_BYTES
from collector.named_tuple import NamedTuple
from collector.regular_file import open_regular

READ_BYTES = 1 << 20


class Hole(NamedTuple):
    """Zeros that are not on the disk: up to `end`, or (is_tail) up to the apparent end of the file."""

    end: int
    is_tail: bool


TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    class LogSource(Protocol):
        """What the reader needs of a source of bytes."""

        can_rewind: bool

        def read(self, offset: int) -> bytes | Hole | None:
            """The bytes at `offset`; b"" at the end of the data; None if there are none right now (EAGAIN)."""

        def close(self) -> None:
            """Give back what it holds."""


class PathSource:
    """A log file by its path. Opened anew at each read, so that a thousand logs can be read side by side.

    may_follow: the path may be a symbolic link, because a user named it and not an experiment.
    """

    can_rewind = True

    def __init__(self, path: str | os.PathLike[str], read_bytes: int = READ_BYTES, *, may_follow: bool = False) -> None:
        self.path = os.fspath(path)
        self._read_bytes = read_bytes
        self._may_follow = may_follow

    def read(self, offset: int) -> bytes | Hole | None:
        """See LogSource. Raises ExperimentError with one sentence if the file cannot be read."""
        try:
            descriptor = open_regular(self.path, may_follow=self._may_follow)
            try:
                return read_frames_at(descriptor, offset, self._read_bytes)
            finally:
                os.close(descriptor)
        except FileNotFoundError as error:
            raise ExperimentNotFoundError(f"there is no log at {self.path}") from error
        except OSError as error:
            raise ExperimentError(f"the log {self.path} cannot be read: {error.strerror}") from error

    def close(self) -> None:
        """Nothing is held."""


class DescriptorSource:
    """A descriptor that the caller opened and will close: a file from its current position on, a pipe, a socket."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        try:
            self.can_rewind = stat.S_ISREG(os.fstat(descriptor).st_mode)
            self._start = os.lseek(descriptor, 0, os.SEEK_CUR) if self.can_rewind else 0
        except OSError as error:
            raise ExperimentError(f"descriptor {descriptor} cannot be read: {error.strerror}") from error

    def read(self, offset: int) -> bytes | Hole | None:
        """See LogSource. A file is read without moving its position."""
        try:
            if not self.can_rewind:
                return os.read(self._descriptor, READ_BYTES)
            position = os.lseek(self._descriptor, 0, os.SEEK_CUR)
            try:
                data = read_frames_at(self._descriptor, self._start + offset, READ_BYTES)
            finally:  # holes are found by moving it
                os.lseek(self._descriptor, position, os.SEEK_SET)
        except BlockingIOError:
            return None
        except OSError as error:
            raise ExperimentError(f"descriptor {self._descriptor} cannot be read: {error.strerror}") from error
        return Hole(data.end - self._start, data.is_tail) if isinstance(data, Hole) else data

    def close(self) -> None:
        """The descriptor stays the caller's."""


def read_frames_at(descriptor: int, offset: int, size: int) -> bytes | Hole:
    """The same as `read_at` for a log, which ends where its open frames begin."""
    end = find_area(descriptor)
    if end is None:
        # A buffer of the whole size costs more than most logs are long.
        return read_at(descriptor, offset, max(1, min(size, os.fstat(descriptor).st_size - offset)))
    if offset >= end:
        return b""
    data = read_at(descriptor, offset, size)
    if isinstance(data, Hole):
        return Hole(end, True) if data.end >= end else data
    return data[: end - offset]


def read_at(descriptor: int, offset: int, size: int) -> bytes | Hole:
    """The data at `offset` of a file, or the hole that is there. b"" behind the end."""
    try:
        data_start = os.lseek(descriptor, offset, os.SEEK_DATA)
    except OSError as error:
        if error.errno == errno.ENXIO:
            apparent_end = os.fstat(descriptor).st_size
            return Hole(apparent_end, True) if apparent_end > offset else b""
        if error.errno == errno.EINVAL:  # a file system without holes
            data_start = offset
        else:
            raise
    if data_start > offset:
        return Hole(data_start, False)
    # Up to the next hole: its zeros would be read and passed byte by byte, which takes longer than all else in a short log.
    try:
        data_end = os.lseek(descriptor, offset, os.SEEK_HOLE)
    except OSError:
        data_end = offset + size
    return os.pread(descriptor, max(1, min(size, data_end - offset)), offset)


def area_offset(size: int) -> int:
    """Where the open frames begin in an untruncated log of `size` bytes."""
    return size - max(size // 16 // OPEN_SLOT_BYTES, 1) * OPEN_SLOT_BYTES


def find_area(descriptor: int) -> int | None:
    """Where the open frames of a log begin; None if it was cut, or is no file. Raises OSError."""
    size = os.fstat(descriptor).st_size
    if size < 2 * OPEN_SLOT_BYTES or size % OPEN_SLOT_BYTES:
        return None
    offset = area_offset(size)
    is_untruncated = not any(os.pread(descriptor, OPEN_TAIL_BYTES, size - OPEN_TAIL_BYTES)) and os.pread(
        descriptor, len(OPEN_MAGIC), offset
    ) in (OPEN_MAGIC, bytes(len(OPEN_MAGIC)))
    return offset if is_untruncated else None


def is_untruncated(path: str) -> bool:
    """True if a log was not brought to its end: it is being written, or its process was killed. False if there is no such file."""
    try:
        descriptor = open_regular(path)
    except OSError:
        return False
    try:
        return find_area(descriptor) is not None
    except OSError:
        return False
    finally:
        os.close(descriptor)
