"""test_pypy_log -- what PYPYLOG=jit-backend-addr writes, and lines that make no sense"""

from __future__ import annotations

from pathlib import Path

from collector.target.dynamic_code import first_line
from collector.target.pypy_log import read_pypy_log

LOG = """[535c0de81f9e] {jit-backend-addr
Loop 1 (collatz;/src/a b.py:4-6~#4 LOAD_FAST) has address 0x7f1dfd0e2a5b to 0x7f1dfd0e2b90 (bootstrap 0x7f1dfd0e29d0)
       gc table: 0x7f1dfd0e2950
       function: 0x7f1dfd0e29d0
         resops: 0x7f1dfd0e2a5b
            end: 0x7f1dfd0e2d47
[535c0de8e96c] jit-backend-addr}
bridge out of Guard 0x7f1dfd2ab1d8 has address 0x7f1dfd0e2e50 to 0x7f1dfd0e2ef0
    jump target: 0x7f1dfd0e2e50
            end: 0x7f1dfd0e300f
            end: 0x7f1dfd0e4000
Loop 2 (re StrMatchIn at 25) has address 0x10 to 0x20 (bootstrap 0x10)
       function: 0x10
            end: 0x30
Loop 3 (backwards) has address 0x90 to 0xa0 (bootstrap 0x90)
       function: 0x90
            end: 0x80
Loop 4 (cut off) has address 0xc0
"""


def test_loops_and_bridges(tmp_path: Path) -> None:
    path = tmp_path / "pypy-1.log"
    path.write_text(LOG)
    code = read_pypy_log(str(path))
    assert [(one.start, one.end, one.name) for one in code] == [
        (0x7F1DFD0E29D0, 0x7F1DFD0E2D47, "collatz"), (0x7F1DFD0E2E50, 0x7F1DFD0E300F, "(bridge)"), (0x10, 0x30, "re StrMatchIn at 25"),
    ]  # fmt: skip
    assert (code[0].source, first_line(code[0]), code[0].alias) == ("/src/a b.py", 6, "collatz;/src/a b.py:4-6~#4 LOAD_FAST")
