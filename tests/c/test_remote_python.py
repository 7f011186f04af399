"""test_remote_python -- Python functions of threads that wait, from outside: what the program itself says of them"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from test_remote import build, looker, parsed, running
from test_unwind import TARGETS, run

from collector.experiment.events import MappingChange
from collector.experiment.log_reader import EventReader
from collector.target.python_lines import line_of

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "live"))
from pythons import Interpreter, find_interpreters

FIRST_ADDRESS = 1 << 56  # of Python code: libcollector_c/src/target/python_code.h
KNOWN_FROM = (3, 11)
__all__ = ["build"]


def interpreters() -> list[Interpreter]:
    return [interpreter for interpreter in find_interpreters() if interpreter.numbers >= KNOWN_FROM]


class Functions:
    """What a log tells of Python code."""

    def __init__(self, log: Path) -> None:
        with EventReader(log) as reader:
            self._changes = [event for event in reader if isinstance(event, MappingChange)]

    def place(self, address: int) -> tuple[str, int | None]:
        """Name and line of a frame's address, which is that of a return."""
        (code,) = (change for change in self._changes if change.start < address <= change.end)
        line = line_of(code.line_table, code.lines, code.first_line or 0, (address - 1 - code.start) // 4 * 2)
        return code.name, line


@pytest.mark.parametrize("interpreter", interpreters(), ids=lambda interpreter: interpreter.title)
def test_python_functions(build: Path, tmp_path: Path, interpreter: Interpreter) -> None:
    with running([interpreter.path, TARGETS / "python" / "waiting.py"], tmp_path) as child:
        assert child.stdout is not None
        told = {int(thread): [tuple(frame) for frame in stack] for thread, stack in json.loads(child.stdout.readline()).items()}
        seen = parsed(run([looker(build, "-O2"), "-p", tmp_path / "log", str(child.pid)]))
    functions = Functions(next((tmp_path / "log").glob("*.log")))
    for thread, stack in told.items():
        places = [functions.place(pc) for pc in seen[thread].pcs if pc >= FIRST_ADDRESS]
        assert places == stack
        assert seen[thread].end == 0
        assert any(pc < FIRST_ADDRESS for pc in seen[thread].pcs[-2:]), "the thread does not begin in C"
