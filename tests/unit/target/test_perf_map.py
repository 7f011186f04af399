"""test_perf_map -- lines as V8, HotSpot, CPython and others write them, and lines that make no sense"""

from __future__ import annotations

import pytest

from collector.target.dynamic_code import first_line
from collector.target.perf_map import read_perf_map, split_name


@pytest.mark.parametrize(
    ("text", "name", "source", "line"),
    [
        ("JS:*fib /src/a.js:3:13", "fib", "/src/a.js", 3),
        ("JS:~fib file:///src/with blank.mjs:3:13", "fib", "/src/with blank.mjs", 3),
        ("LazyCompile:^Module._load node:internal/modules/cjs/loader:905:24", "Module._load", "node:internal/modules/cjs/loader", 905),
        ("JS:~ node:internal/main/run_main_module:1:1", "(anonymous)", "node:internal/main/run_main_module", 1),
        ("JS:o*fib file:///src/a.ts:1:15", "fib", "/src/a.ts", 1),
        ("JS:o+' ext:core/00_infra.js:7:2", "(anonymous)", "ext:core/00_infra.js", 7),
        ("JS:^once https://there.example/a/mod.ts:9:1", "once", "https://there.example/a/mod.ts", 9),
        ("JS:*o /src/a.js:3:13", "o", "/src/a.js", 3),
        ("JS:*get size /src/a.js:3:13", "get size", "/src/a.js", 3),
        ("Builtin:ArrayPrototypeJoin", "Builtin:ArrayPrototypeJoin", None, None),
        ("JS:*", "JS:*", None, None),
        ("py::Table.insert:/src/table.py", "Table.insert", "/src/table.py", None),
        ("TRACE_5::src/a.lua:31", "TRACE_5", "src/a.lua", 31),
        ("int BusyJava.collatz(long)", "int BusyJava.collatz(long)", None, None),
        ("void [app] Program::Main(string[])[Optimized]", "void [app] Program::Main(string[])[Optimized]", None, None),
    ],
)
def test_names_are_taken_apart_where_their_compiler_is_known(text: str, name: str, source: str | None, line: int | None) -> None:
    assert split_name(text) == (name, source, line)


def test_a_map(tmp_path) -> None:
    path = tmp_path / "perf-1.map"
    path.write_bytes(
        b"7f0000001000 40 JS:*fib /src/a.js:3:13\n"
        b"0x7f0000002000 0x20 a name with  blanks \n"
        b"zzz 10 no number\n7f00 0 empty\n7f00\n\n"
        b"ffffffffffffffff 10 wraps\n"
        b"7f0000003000 10 bytes \xff\xfe\n"
        b"7f0000004000 10 cut of"
    )
    functions = read_perf_map(str(path))
    assert [(f.start, f.end - f.start, f.name) for f in functions] == [
        (0x7F0000001000, 0x40, "fib"), (0x7F0000002000, 0x20, "a name with  blanks"),
        (0x7F0000003000, 0x10, "bytes \udcff\udcfe"), (0x7F0000004000, 0x10, "cut of"),
    ]
    assert (functions[0].alias, functions[0].source, first_line(functions[0])) == ("JS:*fib /src/a.js:3:13", "/src/a.js", 3)
    assert (functions[1].alias, functions[1].source, functions[1].born) == (None, None, 0)


def test_a_long_line_does_not_take_long(tmp_path) -> None:
    path = tmp_path / "perf-1.map"
    path.write_bytes(b"7f00 10 JS:*" + b"/ " * 2000 + b"\n")
    assert len(read_perf_map(str(path))) == 1
