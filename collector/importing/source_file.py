"""source_file -- the bytes of a profile: a file or standard input, unpacked if gzip packed it, and never more than a reader asked for"""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from typing import BinaryIO, Final, cast

from collector.errors import ForeignProfileError
from collector.regular_file import open_binary

HEAD_BYTES: Final = 1 << 16
_CHUNK_BYTES: Final = 1 << 22
_LONGEST_PIECE_BYTES: Final = 1 << 26  # of text: a line, or what belongs to one sample
_MOST_BYTES: Final = 1 << 29  # of what has to be in memory as a whole
_GZIP: Final = b"\x1f\x8b"


class SourceFile:
    """A profile's file. Errors are ForeignProfileErrors, whose sentence begins with its name."""

    def __init__(self, path: str) -> None:
        """Open it; `-` is standard input."""
        self.name = "standard input" if path == "-" else path
        try:
            raw = cast(BinaryIO, sys.stdin.buffer) if path == "-" else open_binary(path, may_follow=True)
        except FileNotFoundError:
            raise ForeignProfileError(f"there is no file {path}") from None
        except (OSError, ValueError) as error:
            raise self.refuse(f"cannot be read: {getattr(error, 'strerror', None) or error}") from error
        buffered = io.BufferedReader(cast(io.RawIOBase, raw), _CHUNK_BYTES)
        self.is_packed = buffered.peek(2)[:2] == _GZIP
        self._file: BinaryIO = cast(BinaryIO, gzip.GzipFile(fileobj=buffered)) if self.is_packed else cast(BinaryIO, buffered)
        self.head = self._read(HEAD_BYTES)
        """Its first bytes."""

    def refuse(self, reason: str) -> ForeignProfileError:
        """The error that says why it is not read."""
        return ForeignProfileError(f"{self.name} {reason}")

    def read_all(self) -> bytes:
        """All of it."""
        rest = self._read(_MOST_BYTES)
        if len(rest) >= _MOST_BYTES:
            raise self.refuse(f"has more than {_MOST_BYTES >> 20} MiB, which is more than is read at once")
        return self.head + rest

    def pieces(self, separator: bytes) -> Iterator[list[bytes]]:
        """The pieces between separators, a list at a time."""
        rest, chunk = b"", self.head
        while chunk:
            *pieces, rest = (rest + chunk).split(separator)
            if len(rest) > _LONGEST_PIECE_BYTES:
                raise self.refuse(f"is no profile: there are {_LONGEST_PIECE_BYTES >> 20} MiB without an end of line")
            yield pieces
            chunk = self._read(_CHUNK_BYTES)
        if rest:
            yield [rest]

    def _read(self, count: int) -> bytes:
        """So many bytes, fewer only at the end."""
        try:
            return self._file.read(count) or b""
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise self.refuse("is damaged or cut off: it cannot be unpacked") from error
        except OSError as error:
            raise self.refuse(f"cannot be read: {(error.strerror or str(error)).lower()}") from error


def text_of(data: bytes) -> str:
    """Names as they are: bytes that are no UTF-8 are kept as surrogates."""
    return data.decode("utf-8", "surrogateescape")
