"""test_java_code -- what frames of Java methods are called, on an experiment of a few records"""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from both_ways import load_both_ways
from small_experiment import BASE, PID, T0, ArithmeticSymbolizer, begin, clock, mapping, samples, write_log
from writer import record

from collector.format import Kind, MapAction, MapKind
from collector.profile.aggregate import functions
from collector.profile.model import JAVA, Profile

METHODS = 1 << 57


def java_method(number: int, name: str, *, source: str | None, lines: tuple[tuple[int, int], ...] = (), descriptor: str = "()V") -> bytes:
    """A method of 64 bytes of code; its frames are at `java_frame(number, bytecode)`."""
    start = METHODS + 0x1000 * number
    table = b"".join(struct.pack("<ii", 8 * offset, line) for offset, line in lines)
    return record(
        Kind.MAPPINGCHANGE, T0, 0, action=int(MapAction.INSERT), map_kind=int(MapKind.JAVA_METHOD), start=start, end=start + 8 * 64, bias=start,
        path="", build_id=b"", name=name, alias=descriptor, source=source, lines=table,
    )  # fmt: skip


def java_frame(number: int, bytecode: int, mode: int = 0) -> int:
    return METHODS + 0x1000 * number + 8 * bytecode + 2 * mode + 1


@pytest.fixture
def profile(tmp_path: Path) -> Profile:
    stack = (java_frame(1, 5, mode=2), java_frame(2, 20, mode=1), java_frame(3, 0), java_frame(4, 0), BASE + 0x1008)
    path = tmp_path / "a.expt"
    methods = (
        java_method(1, "java.util.HashMap.hash", source="HashMap.java", lines=((0, 338), (4, 339))),
        java_method(2, "java.util.HashMap.put", source="HashMap.java", lines=((0, 611), (20, 612)), descriptor="(I)V"),
        java_method(3, "Main$$Lambda$14+0x0000000800c03000.run", source=None),
        java_method(4, "Main.main", source="Main.java", lines=((0, 7),)),
    )
    write_log(path, f"{PID}.0.log", begin(), clock(), mapping(), *methods, samples([(stack, 0)], [0]))
    return load_both_ways(path, symbolizer=ArithmeticSymbolizer())


def test_methods_have_package_file_and_line(profile: Profile) -> None:
    rows = {row.function.name: row for row in functions(profile)}
    found = {name: (row.module.name, row.function.file, row.function.line) for name, row in rows.items() if row.module.name not in ("prog", "(no module)")}
    assert found == {
        "java.util.HashMap.hash": ("java.util", "java/util/HashMap.java", 338),
        "java.util.HashMap.put": ("java.util", "java/util/HashMap.java", 611),
        "Main$$Lambda$14.run": ("(default package)", None, None),
        "Main.main": ("(default package)", "Main.java", 7),
    }
    assert rows["java.util.HashMap.put"].function.raw_name == "java.util.HashMap.put(I)V"
    assert rows["java.util.HashMap.hash"].exclusive[0] > 0 and rows["java.util.HashMap.put"].exclusive[0] == 0


def test_frames_have_the_line_of_their_bytecode(profile: Profile) -> None:
    frames = {profile.functions[frame.function].name: frame for frame in profile.frames if frame.kind == JAVA}
    assert [(frames[name].line, frames[name].address) for name in ("java.util.HashMap.hash", "java.util.HashMap.put", "Main.main")] == [
        (339, 5), (612, 20), (7, 0),
    ]  # fmt: skip
