"""test_jitdump -- dumps byte by byte: loads, moves, lines, other orders of bytes, other clocks, damage"""

from __future__ import annotations

import random
import struct
from pathlib import Path

import pytest

from collector.format import MapAction
from collector.target.jitdump import JitDump, read_jitdump


class Dump:
    """Writes a jitdump."""

    def __init__(self, order: str = "<", flags: int = 0) -> None:
        self.order = order
        self.data = struct.pack(order + "IIIIIIQQ", 0x4A695444, 1, 40, 62, 0, 7, 1, flags)

    def record(self, kind: int, time: int, body: bytes) -> Dump:
        self.data += struct.pack(self.order + "IIQ", kind, 16 + len(body), time) + body
        return self

    def load(self, time: int, address: int, name: str, code: bytes, size: int | None = None) -> Dump:
        head = struct.pack(self.order + "IIQQQQ", 7, 7, address, address, len(code) if size is None else size, 0)
        return self.record(0, time, head + name.encode("utf-8", "surrogateescape") + b"\0" + code)

    def move(self, time: int, old: int, new: int, size: int) -> Dump:
        return self.record(1, time, struct.pack(self.order + "IIQQQQQ", 7, 7, 0, old, new, size, 0))

    def lines(self, time: int, address: int, entries: list[tuple[int, int, bytes]], padding: int = 0) -> Dump:
        body = struct.pack(self.order + "QQ", address, len(entries))
        body += b"".join(struct.pack(self.order + "QII", place, line, 0) + name + b"\0" for place, line, name in entries)
        return self.record(2, time, body + bytes(padding))

    def read(self, directory: Path) -> JitDump:
        path = directory / "jit-7.dump"
        path.write_bytes(self.data)
        return read_jitdump(str(path))


def table(change) -> list[tuple[int, int]]:
    return list(struct.iter_unpack("<ii", change.lines))


@pytest.mark.parametrize("order", "<>")
def test_a_function_with_code_and_lines(tmp_path: Path, order: str) -> None:
    dump = Dump(order).lines(5, 0x1000, [(0x1000, 12, b"/src/a.x"), (0x1004, 10, b"\xff"), (0x1006, 99, b"/src/inlined.x")])
    dump.load(6, 0x1000, "fib", b"\x90" * 8)
    (change,) = dump.read(tmp_path).changes
    assert (change.time, change.start, change.end, change.name, change.source) == (6, 0x1000, 0x1008, "fib", "/src/a.x")
    assert table(change) == [(0, 12), (4, 10)]
    assert change.code == b"\x90" * 8


def test_a_function_that_moves_keeps_its_name_code_and_lines(tmp_path: Path) -> None:
    dump = Dump().lines(1, 0x1000, [(0x1000, 3, b"/a"), (0x1002, 4, b"/a")]).load(2, 0x1000, "f", b"\x90" * 4).move(9, 0x1000, 0x2000, 4)
    first, gone, again = dump.move(10, 0x5000, 0x6000, 4).read(tmp_path).changes
    assert (gone.action, gone.start, gone.time) == (MapAction.DELETE, 0x1000, 9)
    assert (again.start, again.time, again.name, again.code, table(again)) == (0x2000, 9, "f", first.code, table(first))


def test_lines_that_are_too_high_by_an_elf_header(tmp_path: Path) -> None:
    dump = Dump().lines(1, 0x1000, [(0x1040, 3, b"/a"), (0x1042, 4, b"/a")]).load(2, 0x1000, "f", b"\x90" * 4)
    dump.lines(3, 0x2000, [(0x2040, 8, b"/a")]).load(4, 0x2000, "g", b"\x90" * 200)
    assert [table(change) for change in dump.read(tmp_path).changes] == [[(0, 3), (2, 4)], [(0, 8)]]


def test_lines_whose_file_name_is_garbage_of_the_right_length(tmp_path: Path) -> None:
    garbage = [b"\x19H\x01" + bytes(5), b"\0\xff\0\0/x\0\1", b"\0\0\0\0\0\0\0\0"]
    entries = [(0x1040 + 4 * number, 7 + number, name) for number, name in enumerate(garbage)]
    dump = Dump().lines(1, 0x1000, entries, padding=5).load(2, 0x1000, "JS:*f /src/a.j:7:1", b"\x90" * 10)
    (change,) = dump.read(tmp_path).changes
    assert (change.name, change.source, table(change)) == ("f", "/src/a.j", [(0, 7), (4, 8), (8, 9)])


def test_a_dump_with_the_processors_time_has_none_of_ours(tmp_path: Path) -> None:
    dump = Dump(flags=1).load(123456, 0x1000, "f", b"\x90\xc3").read(tmp_path)
    assert not dump.is_timed
    assert [(function.name, function.born, function.died, function.code) for function in dump.untimed()] == [("f", 0, None, b"\x90\xc3")]


def test_reading_ends_at_the_close_and_where_the_file_was_cut(tmp_path: Path) -> None:
    dump = Dump().load(1, 0x1000, "f", b"\x90\xc3").record(7, 2, b"unknown").load(2, 0x2000, "g", b"\xc3")
    whole = dump.data
    assert [change.name for change in dump.read(tmp_path).changes] == ["f", "g"]
    dump.record(3, 3, b"").load(4, 0x3000, "after the end", b"\xc3")
    assert [change.name for change in dump.read(tmp_path).changes] == ["f", "g"]
    dump.data = whole[:-1]
    assert [change.name for change in dump.read(tmp_path).changes] == ["f"]


def test_nonsense_is_passed_over(tmp_path: Path) -> None:
    dump = Dump().load(1, 0x1000, "huge", b"", size=1 << 40).load(1, (1 << 64) - 1, "wraps", b"\xc3\xc3").record(0, 1, b"short").load(2, 0x2000, "good", b"\xc3")
    assert [change.name for change in dump.read(tmp_path).changes] == ["good"]
    (tmp_path / "jit-7.dump").write_bytes(b"no dump at all, but long enough to have been one")
    with pytest.raises(ValueError, match="no jitdump"):
        read_jitdump(str(tmp_path / "jit-7.dump"))


def test_damage_anywhere_raises_nothing(tmp_path: Path) -> None:
    rng = random.Random(4)
    dump = Dump().lines(1, 0x1000, [(0x1000, 3, b"/a"), (0x1002, 4, b"/a")]).load(2, 0x1000, "f", b"\x90" * 4).move(9, 0x1000, 0x2000, 4)
    sound = dump.data
    for _ in range(500):
        damaged = bytearray(sound)
        for _ in range(rng.randrange(1, 6)):
            damaged[rng.randrange(40, len(damaged))] = rng.randrange(256)
        dump.data = bytes(damaged)
        dump.read(tmp_path)
