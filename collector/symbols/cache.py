"""cache -- what was once found out about a module, kept by its build id

A build id names one exact build, so what is stored under it never becomes wrong. A record is
a small JSON header, then arrays of numbers and bytes, then a checksum: quick to load, and
nothing in it can run (pickle could). The cache may be deleted at any time, may be damaged
and may be unwritable: the only consequence is work done again.
Layout: DIRECTORY/symbols-VERSION/<key>/<record>; a record appears by an atomic rename.
"""

from __future__ import annotations

import contextlib
import os
import struct
import sys
import zlib
from array import array
from collections.abc import Mapping
from typing import Any, TypeAlias

from collector.regular_file import read_regular

VERSION = 10
_MAGIC = b"collector symbols " + bytes([VERSION, sys.byteorder == "big"]) + b"\n"
_LENGTHS = struct.Struct("<II")  # CRC-32 of all that follows, bytes of the JSON header
LARGEST_CACHE_BYTES = 1 << 30

Record: TypeAlias = "tuple[dict[str, Any], dict[str, array[int]]]"


def default_directory() -> str:
    """$XDG_CACHE_HOME/collector, else ~/.cache/collector."""
    base = os.environ.get("XDG_CACHE_HOME") or ""
    return os.path.join(base if os.path.isabs(base) else os.path.expanduser("~/.cache"), "collector")


def signature_of(path: str) -> list[int] | None:
    """What changes when a file does: [size in bytes, time of change in ns]; None where there is none."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return [status.st_size, status.st_mtime_ns]


class SymbolCache:
    """Records by key (a build id in hexadecimal digits) and name; no method raises for a bad disk."""

    def __init__(self, directory: str | os.PathLike[str] | None = None) -> None:
        self.directory = os.path.join(directory or default_directory(), f"symbols-{VERSION}")
        self._has_written = False

    def load(self, key: str, name: str) -> Record | None:
        """(header, arrays) as they were stored, or None when there is no sound record."""
        try:
            return _decode(read_regular(os.path.join(self.directory, key, name), LARGEST_CACHE_BYTES))
        except (OSError, ValueError, KeyError, TypeError, struct.error, AttributeError):
            return None

    def store(self, key: str, name: str, header: Mapping[str, Any], arrays: Mapping[str, array[int]]) -> None:
        """Write a record; where that is impossible, nothing happens."""
        import tempfile

        folder = os.path.join(self.directory, key)
        temporary = None
        try:
            os.makedirs(os.path.dirname(folder), exist_ok=True)
            os.makedirs(folder, exist_ok=True, mode=0o700)
            handle, temporary = tempfile.mkstemp(prefix=".new-", dir=folder)
            with os.fdopen(handle, "wb") as stream:
                stream.write(_encode(header, arrays))
            os.replace(temporary, os.path.join(folder, name))
            self._has_written = True
        except OSError:
            if temporary is not None:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)

    def touch(self, key: str) -> None:
        """Note that `key` was of use now; `trim` throws away what was not for longest."""
        with contextlib.suppress(OSError):
            os.utime(os.path.join(self.directory, key))

    def trim(self, limit_bytes: int = LARGEST_CACHE_BYTES) -> None:
        """Bring the cache below `limit_bytes` if this process added to it, oldest modules first."""
        if not self._has_written:
            return
        import shutil

        try:
            folders = [(f.stat().st_mtime, sum(r.stat().st_size for r in os.scandir(f)), f.path)
                       for f in os.scandir(self.directory) if f.is_dir()]
        except OSError:  # another process is trimming too
            return
        excess = sum(size for _, size, _ in folders) - limit_bytes
        for _, size, folder in sorted(folders):
            if excess <= 0:
                break
            shutil.rmtree(folder, ignore_errors=True)
            excess -= size


def _encode(header: Mapping[str, Any], arrays: Mapping[str, array[int]]) -> bytes:
    import json  # those who only ask for signatures have no use for it

    shapes = [(name, values.typecode, len(values)) for name, values in arrays.items()]
    text = json.dumps({"header": header, "arrays": shapes}).encode()
    body = text + b"".join(values.tobytes() for values in arrays.values())
    checksum = zlib.crc32(body, len(text))
    return _MAGIC + _LENGTHS.pack(checksum, len(text)) + body


def _decode(data: bytes) -> Record:
    """Raises ValueError when the bytes are not a record of this version."""
    import json

    body_at = len(_MAGIC) + _LENGTHS.size
    if not data.startswith(_MAGIC):
        raise ValueError("not a record of this version")
    checksum, text_bytes = _LENGTHS.unpack_from(data, len(_MAGIC))
    body = memoryview(data)[body_at:]
    if zlib.crc32(body, text_bytes) != checksum:
        raise ValueError("damaged record")
    described = json.loads(bytes(body[:text_bytes]))
    arrays: dict[str, array[int]] = {}
    position = text_bytes
    for name, typecode, count in described["arrays"]:
        size_bytes = count * array(typecode).itemsize
        values = array(typecode)
        values.frombytes(body[position:position + size_bytes])
        arrays[name] = values
        position += size_bytes
    header: dict[str, Any] = described["header"]
    return header, arrays
