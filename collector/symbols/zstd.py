"""zstd -- the beginning of a zstd stream, by whatever here can decompress it

The interpreter's own module (Python 3.14), the packages pyzstd and zstandard, the program zstd: the first that is there. None of them is
looked for before it is needed.
"""

from __future__ import annotations

import io
import subprocess
import tempfile
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from collector.errors import SymbolError

_PROGRAM = "zstd"
_PIECE_BYTES = 1 << 20
_LARGEST_WINDOW_BYTES = 1 << 27  # of the program and of the other modules unless they are told


def iter_decompressed(data: bytes, most_bytes: int) -> Iterator[bytes]:
    """Up to `most_bytes` (at least 1) of what `data` holds, piece by piece. SymbolError where it is damaged, or nothing here can read it."""
    try:
        for piece in _iter_pieces(data):
            yield piece[:most_bytes]
            most_bytes -= len(piece)
            if most_bytes <= 0:
                break
    except FileNotFoundError:
        raise SymbolError("reading zstd takes Python 3.14, the package zstandard (or pyzstd), or the program zstd (apt install zstd)") from None
    except SymbolError:
        raise
    except Exception as error:  # each module has an error of its own
        raise SymbolError(str(error).rstrip(".") or "its zstd stream is damaged") from error


def _iter_pieces(data: bytes) -> Iterator[bytes]:
    module = next(_iter_modules(), None)
    if module is None:
        yield from _by_program(data)
    elif module.__name__ == "zstandard":
        reader = module.ZstdDecompressor(max_window_size=_LARGEST_WINDOW_BYTES).stream_reader(io.BytesIO(data))
        while piece := reader.read(_PIECE_BYTES):
            yield bytes(piece)
    else:
        stream = module.ZstdDecompressor()
        while piece := stream.decompress(data, max_length=_PIECE_BYTES):
            data = b""
            yield bytes(piece)
            if stream.eof:
                break


def _iter_modules() -> Iterator[Any]:
    for name in ("compression.zstd", "pyzstd", "zstandard"):
        try:
            yield import_module(name)
        except ImportError:
            continue


def _by_program(data: bytes) -> Iterator[bytes]:
    """What the program writes; it is ended where nobody wants more."""
    with tempfile.TemporaryFile(prefix="collector-") as packed, tempfile.TemporaryFile(prefix="collector-") as complaints:
        packed.write(data)
        packed.seek(0)
        with subprocess.Popen([_PROGRAM, "-d", "-c", "-q"], stdin=packed, stdout=subprocess.PIPE, stderr=complaints) as program:
            try:
                while piece := program.stdout.read(_PIECE_BYTES) if program.stdout else b"":
                    yield piece
            except GeneratorExit:
                program.kill()  # whatever else there may be
                raise
        if program.returncode:
            complaints.seek(0)
            lines = complaints.read(4096).decode("utf-8", "replace").split("\n")
            raise SymbolError(lines[0].removeprefix("zstd: ").rstrip(". ") or "its zstd stream is damaged")
