"""test_pprof -- profiles of pprof: one that Go wrote, and others that are put together here"""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest
from imported import import_file, import_text

from collector.errors import ForeignProfileError
from collector.importing.protobuf import WireError, iter_fields, numbers_of, signed
from collector.importing.reading import read_profile
from collector.native_library import iter_paths
from collector.profile import aggregate
from collector.symbols.elf_image import ElfImage
from collector.symbols.symbolizer import Symbolizer

_GO = Path(__file__).with_name("profiles") / "go_cpu.pb.gz"


def varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def message(*fields: tuple[int, int | bytes | str | list[int]]) -> bytes:
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
            continue
        data = value.encode() if isinstance(value, str) else b"".join(map(varint, value)) if isinstance(value, list) else value
        out += varint(number << 3 | 2) + varint(len(data)) + data
    return out


class Texts:
    """The texts of a profile by number, the first one empty."""

    def __init__(self) -> None:
        self.all = [""]

    def __call__(self, text: str) -> int:
        if text not in self.all:
            self.all.append(text)
        return self.all.index(text)


def small_profile(sample_types: tuple[tuple[str, str], ...] = (("samples", "count"), ("cpu", "nanoseconds")), more: bytes = b"", first_ns: int = 20_000_001) -> bytes:
    """Two functions, one inlined in the other, called by a third; samples with labels, the first of `first_ns`."""
    text = Texts()
    parts = [message((1, message((1, text(name)), (2, text(unit))))) for name, unit in sample_types]
    count = len(sample_types)

    def sample(locations: list[int], values: list[int], *labels: bytes) -> bytes:
        return message((2, message((1, locations), (2, values[-count:]), *((3, label) for label in labels))))

    def label(key: str, value: str | int) -> bytes:
        return message((1, text(key)), (2, text(value)) if isinstance(value, str) else (3, value))

    parts += [
        sample([1, 2], [2, first_ns], label("thread", "worker"), label("tid", 77), label("request", "/a")),
        sample([1, 2], [1, 5], label("thread", "worker"), label("tid", 77), label("request", "/a"), label("bytes", 4096)),
        sample([2], [3, 30], label("thread", "main"), label("tid", 70)),
        sample([3, 2], [1, 7]),
        message((3, message((1, 1), (2, 0x400000), (3, 0x500000), (4, 0), (5, text("/opt/prog")), (6, text("zz-not-hexadecimal"))))),
        message((4, message((1, 1), (2, 1), (3, 0x401234), (4, message((1, 2), (2, 33))), (4, message((1, 1), (2, 12)))))),
        message((4, message((1, 2), (2, 1), (3, 0x402000), (4, message((1, 3), (2, 99)))))),
        message((4, message((1, 3), (2, 1), (3, 0x403000)))),
        message((5, message((1, 1), (2, text("outer")), (4, text("/src/a.c")), (5, 10)))),
        message((5, message((1, 2), (2, text("inner")), (4, text("/src/b.h")), (5, 30)))),
        message((5, message((1, 3), (2, text("main")), (4, text("/src/a.c")), (5, 90)))),
        message((9, 1_700_000_000_000_000_000), (10, 2_000_000_000), (11, message((1, text("cpu")), (2, text("nanoseconds")))), (12, 10_000_000)),
    ]
    return b"".join(parts) + more + b"".join(message((6, one)) for one in text.all)


def test_a_profile_of_go(tmp_path):
    """The figures are those of `go tool pprof -top`: all 500 ms in main.leaf, of profiles/burn.go."""
    path = tmp_path / "go.pb.gz"
    path.write_bytes(_GO.read_bytes())
    found = import_file(path)
    assert found.functions() == {"main.leaf": (0.5, 0.5), **dict.fromkeys(("main.descend", "main.main.func1", "runtime/pprof.Do"), (0.0, 0.5))}
    assert {thread.name for thread in found.profile.threads} == {"worker=reader", "worker=writer"}
    assert sum(row.exclusive[3] for row in aggregate.functions(found.profile)) == 50
    assert {function.file.rpartition("/")[2] for function in found.profile.functions if function.file} == {"goprog.go", "runtime.go"}
    assert [process.clock.period_ns for process in found.profile.processes if process.clock] == [10_000_000]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_everything_that_it_says_is_in_the_experiment(tmp_path, pack):
    found = import_text(tmp_path, pack(small_profile()))
    assert found.stacks() == {("main:99", "outer:12", "+inner:33"): (20_000_006, 0), ("main:99",): (30, 0), ("main:99", "[unknown]"): (7, 0)}
    assert len(found.profile.samples.samples) == 7  # as its value `samples` counts
    assert {(thread.tid, thread.name) for thread in found.profile.threads} == {(77, "worker, request=/a"), (70, "main"), (78, "")}
    assert {(function.name, function.file, function.line) for function in found.profile.functions if function.file} == {
        ("outer", "/src/a.c", 10), ("inner", "/src/b.h", 30), ("main", "/src/a.c", 90)
    }  # fmt: skip
    assert {(frame.address, frame.kind) for frame in found.profile.frames} == {
        (0x401234, "native"), (0x401234, "inlined"), (0x402000, "native"), (0x403000, "native")
    }  # fmt: skip
    (recording,) = found.profile.recordings
    assert recording.wall_ns == 1_700_000_000_000_000_000 and recording.end_ns - recording.start_ns == 2_000_000_000
    assert [process.executable for process in found.profile.processes] == ["/opt/prog"]


def test_another_value(tmp_path):
    found = import_text(tmp_path, small_profile(), "--value", "samples")
    assert found.total_ns == 7_000_000 and "counts samples: 1 s stands for 1,000 of them" in found.messages()
    space = import_text(tmp_path, small_profile((("inuse_space", "bytes"),)), name="heap")
    assert space.total_ns == 20_000_043 and "counts bytes: 1 s stands for 1,000,000,000 of them" in space.messages()
    assert space.profile.recordings[0].has_sums
    with pytest.raises(ForeignProfileError, match="has no values 'wall', but samples or cpu"):
        read_profile(str(tmp_path / "profile"), None, "wall", None)


def test_what_has_no_name_is_looked_up_where_the_build_is_known(tmp_path):
    module = next(path for path in iter_paths() if os.path.exists(path))
    with ElfImage(module) as image:
        build_id = image.build_id or b""
    assert build_id, "the library was linked without a build id"
    address = next(at for at, name in Symbolizer().names_in_code(module, build_id).items() if name == "col_analysis_open")
    text = Texts()
    data = (
        message((1, message((1, text("cpu")), (2, text("nanoseconds")))), (2, message((1, [1]), (2, [5]))))
        + message((3, message((1, 1), (2, 0x7F0000000000), (3, 0x7F0000100000), (5, text(module)), (6, text(build_id.hex())))))
        + message((4, message((1, 1), (2, 1), (3, 0x7F0000000000 + address))))
        + b"".join(message((6, one)) for one in text.all)
    )
    assert list(import_text(tmp_path, data).functions()) == ["col_analysis_open"]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (small_profile()[:-9], "is damaged, cut off, or no profile of pprof"),
        (gzip.compress(small_profile())[:-20], "is damaged or cut off: it cannot be unpacked"),
        (small_profile(more=message((2, message((1, [9]), (2, [1, 1]))))), "a sample has the location 9, which there is not"),
        (small_profile(more=message((2, message((1, [1]), (2, [1]))))), "a sample lacks values"),
        (small_profile(more=message((2, message((1, [1]), (2, [1, -5]))))), "has values below 0"),
        (small_profile(more=message((2, message((1, [1]), (2, [1, (1 << 63) - 1]))))), "more than can be shown"),
    ],
)
def test_what_is_wrong_is_told(tmp_path, data, sentence):
    (tmp_path / "p").write_bytes(data)
    with pytest.raises(ForeignProfileError, match=sentence):
        read_profile(str(tmp_path / "p"), "pprof", None, None)


def test_the_wire_format():
    assert list(iter_fields(message((1, 300), (2, "ab"), (3, [1, 300])))) == [(1, 300), (2, b"ab"), (3, b"\x01\xac\x02")]
    assert list(iter_fields(b"\x0d\x01\x00\x00\x00\x11\x02" + bytes(7))) == [(1, 1), (2, 2)]
    assert numbers_of(b"\x01\xac\x02") == [1, 300] and numbers_of(7) == [7] and numbers_of(b"\x05\x06") == [5, 6]
    assert signed((1 << 64) - 2) == -2
    for bad in (b"\x00\x01", b"\x0a\x05ab", b"\x08" + b"\xff" * 11, b"\x0b", b"\x08\xff"):
        with pytest.raises(WireError):
            list(iter_fields(bad))
