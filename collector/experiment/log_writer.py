"""log_writer -- events into a log, from Python: the launcher's own log is written here, and imported profiles

The C half writes the logs of the recorded processes (libcollector_c/src/experiment); the format is docs/format.md.
It knows frames and msgpack by itself, because the reader's modules take longer to import than many programs run.
"""

from __future__ import annotations

import errno
import os
import struct
import zlib
from collections.abc import Iterable, Sequence

import msgpack

from collector import format
from collector.regular_file import create_private

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_HEADER = struct.Struct(">BIB4sI")
_CRCS = struct.Struct(">II")
_FULL_BYTES = 1 << 18  # of records that share a frame
_LENGTH_FROM = 6  # the ext length counts from behind the type byte


class LogWriter:
    """A log that grows by one frame for each event.

    A write that fails is not raised, so that a full disk does not end a recording: the first error is kept in
    `error`, and later events are dropped.
    """

    def __init__(self, path: str) -> None:
        """Make the log. OSError if that cannot be done or something of that name is there."""
        self._path = os.path.abspath(path)
        self._descriptor = create_private(path, os.O_APPEND)
        # Names and arguments are bytes to the system; Python holds odd ones as surrogates.
        self._pack = msgpack.Packer(unicode_errors="surrogateescape").pack
        self._frame_count = 0
        self.error: OSError | None = None

    def append(self, kind: format.Kind, time_ns: int, *fields: Any, thread: int = 0) -> None:
        """Write one event with the fields of its kind, in the order of format.FIELDS."""
        self.append_all([[int(kind), time_ns, thread, *fields]])

    def append_all(self, records: Iterable[Sequence[Any]]) -> None:
        """Write many records, of kind, time, thread and fields each, several in a frame."""
        payload = bytearray()
        for record in records:
            packed = self._pack(record)
            if payload and len(payload) + len(packed) > _FULL_BYTES:
                self._write(_build_frame(self._frame_count, bytes(payload)))
                payload.clear()
            payload += packed
        if payload:
            self._write(_build_frame(self._frame_count, bytes(payload)))

    def close(self, time_ns: int, user_ns: int | None, system_ns: int | None, sample_count: int = 0) -> None:
        """End the log in order. One that was deleted meanwhile is there again then."""
        reason = int(format.CloseReason.EXIT)
        self.append(format.Kind.CLOSELOG, time_ns, reason, sample_count, self._frame_count, 0, user_ns, system_ns)
        try:
            if os.fstat(self._descriptor).st_nlink == 0:
                _copy(self._descriptor, self._path)
        except OSError as error:
            self.error = self.error or error
        os.close(self._descriptor)

    def _write(self, frame: bytes) -> None:
        if self.error is not None:
            return
        try:
            rest = memoryview(frame)
            while rest:  # where there is room for a part, the next call says why not for all
                written = os.write(self._descriptor, rest)
                if not written:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                rest = rest[written:]
            self._frame_count += 1
        except OSError as error:
            self.error = error


def _build_frame(sequence: int, payload: bytes) -> bytes:
    length = format.FRAME_HEADER_BYTES - _LENGTH_FROM + len(payload)
    if length > format.FRAME_MAX_BYTES:
        raise ValueError(f"{len(payload)} bytes do not fit a frame")
    header = _HEADER.pack(format.FRAME_EXT_CODE, length, format.FRAME_EXT_TYPE, format.FRAME_SYNC, sequence)
    return header + _CRCS.pack(zlib.crc32(header), zlib.crc32(payload)) + payload


def _copy(descriptor: int, path: str) -> None:
    """Make a new log of what was written to a descriptor."""
    source = os.open(f"/proc/self/fd/{descriptor}", os.O_RDONLY | os.O_CLOEXEC)
    try:
        target = create_private(path)
        try:
            while os.sendfile(target, source, None, 1 << 20):
                continue
        finally:
            os.close(target)
    finally:
        os.close(source)
