"""python_code -- what Python frames are called, and which native frames are the interpreter's own"""

from __future__ import annotations

import os
import re
from typing import Final

from collector.experiment.events import Interpreter
from collector.format import LineEncoding
from collector.load.naming import NamedPlace
from collector.profile.model import PYTHON, PYTHON_RELEASED
from collector.profile.names import is_no_file
from collector.target.address_space import AddressSpace, Mapping
from collector.target.python_lines import line_of

INTERPRETER: Final = "(interpreter)"
"""What stands for an interpreter that runs no function, and the module of all that is none."""

_LIBRARY = re.compile(r".*/(?:site-packages|dist-packages|lib(?:32|64)?/(?:python|pypy)\d[\d.]*t?)/(?=.)")
_INTERPRETER_FILE = re.compile(r"(lib)?python")
_C_LIBRARY = re.compile(r"libc[-.]|libpthread[-.]|ld-musl-|python")
_UNLOCKED_BIT = 2  # of a frame's address


def python_place(code: Mapping, address: int, directory: str) -> NamedPlace:
    """The place of a Python frame. `directory` is where the process was started: what relative file names count from."""
    name = code.name or "(unnamed)"
    kind = PYTHON_RELEASED if (address - code.start) & _UNLOCKED_BIT else PYTHON
    if code.source is None:
        return NamedPlace(name, INTERPRETER, kind="unknown")
    file = _absolute(code.source, directory)
    offset = (address - code.start) // 4 * 2
    line = line_of(LineEncoding.PAIRS if code.line_table is None else code.line_table, code.lines, code.first_line or 0, offset)
    module = module_name(file, directory) or "(unnamed)"
    raw_name = f"{name}:{code.first_line}" if _is_anonymous(name) else name
    return NamedPlace(name, module, None, file or None, line or None, code.first_line or None, offset, kind, raw_name=raw_name)


def _is_anonymous(name: str) -> bool:
    """Whether a file may have several functions of this name: `<lambda>`, `f.<locals>.<listcomp>`."""
    return name.endswith(">") and name != "<module>"


def module_name(file: str, directory: str) -> str:
    """A file as Python programs import it (`json/decoder.py`): without the directory of libraries, or that in which the process was started.

    Of other files the last two parts. What is no file (`<string>`, `<frozen os>`) keeps its name.
    """
    if is_no_file(file):
        return file
    library = _LIBRARY.match(file)
    if library:
        return file[library.end() :]
    prefix = directory.rstrip("/") + "/"
    return file.removeprefix(prefix) if file.startswith(prefix) and directory else "/".join(file.split("/")[-2:]).lstrip("/")


def _absolute(file: str, directory: str) -> str:
    return file if not file or is_no_file(file) or not directory else os.path.normpath(os.path.join(directory, file))


def is_closed_from_outside(interpreter: Interpreter | None) -> bool:
    """Whether nothing in memory leads from a thread's number to its Python functions, as in CPython before 3.11."""
    if interpreter is None or interpreter.name != "CPython" or interpreter.detail is not None:
        return False
    return re.match(r"3\.(9|10)\b", interpreter.version or "") is not None


def folded_mappings(interpreter: Interpreter | None, space: AddressSpace) -> list[Mapping]:
    """The files whose native code counts for the Python functions it runs: the interpreter's, and what lay at its place at another time.

    Only where these functions are recorded, and not in a program that has the interpreter and its own code in one file.
    """
    if interpreter is None or interpreter.detail is not None or interpreter.start is None or interpreter.end is None:
        return []
    start, end = interpreter.start, interpreter.end
    return [life for life in space if life.start < end and start < life.end and _INTERPRETER_FILE.match(os.path.basename(life.path))]


def is_c_library(path: str) -> bool:
    """Whether a module is one that starts programs and threads, which no caller of a Python function needs to be told of."""
    return _C_LIBRARY.match(os.path.basename(path)) is not None


def is_trampoline(place: NamedPlace) -> bool:
    """Whether it is the native code that `python -X perf` makes for a Python function, whose frame stands beside it."""
    return (place.alias or "").startswith("py::")


