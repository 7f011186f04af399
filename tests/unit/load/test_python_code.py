"""test_python_code -- Python frames between native ones, on experiments of a few records"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from both_ways import load_both_ways, load_plain
from small_experiment import (
    BASE,
    LIBPYTHON,
    PID,
    S,
    T0,
    ArithmeticSymbolizer,
    begin,
    clock,
    interpreter,
    mapping,
    python_code,
    python_frame,
    samples,
    write_log,
)
from writer import record

from collector.format import Kind
from collector.load.python_code import module_name
from collector.profile.model import PYTHON_KINDS, Profile
from collector.profile.names import find_functions
from collector.symbols.symbolizer import Location

LIB = "/usr/lib/libpython3.11.so.1.0"
C_LIBRARY = 0x7E8000000000
MAIN, EVAL, SORT = BASE + 0x1008, LIBPYTHON + 0x2008, LIBPYTHON + 0x3008  # addresses behind calls


def load_here(*paths: Path, **options: bool) -> Profile:
    return load_both_ways(*paths, symbolizer=ArithmeticSymbolizer(), **options)


def python_log(path: Path, *records: bytes, pid: int = PID, **begun: object) -> Path:
    """An experiment of one process in which a shared CPython runs."""
    write_log(path, f"{pid}.0.log", begin(pid, **begun), clock(), mapping("/bin/app"), mapping(LIB, LIBPYTHON, build_id=b"\x03"), *records)
    return path


def stacks_of(profile: Profile) -> dict[tuple[str, ...], int]:
    """Samples by stack, the root first; each frame as `function module:line`."""
    found: dict[tuple[str, ...], int] = {}
    for sample in profile.samples.samples:
        chain = []
        for frame in (profile.frames[number] for number in profile.samples.stacks[sample.stack].frames):
            function = profile.functions[frame.function]
            place = f"{profile.modules[function.module].name}:{frame.line}" if frame.kind in PYTHON_KINDS else profile.modules[function.module].name
            chain.append(f"{function.name} {place}")
        found[tuple(chain)] = found.get(tuple(chain), 0) + 1
    return found


CODES = (python_code(1, "<module>"), python_code(2, "A.run", first_line=10))
# main, <module> (instruction 3), A.run (instruction 4), their evaluator, and what it called.
IN_EVALUATOR = ([EVAL, python_frame(2, 8), python_frame(1, 6), MAIN], 0)
IN_SORT = ([SORT, EVAL, python_frame(2, 10), python_frame(1, 6), MAIN], 0)
IN_LIBRARY = ([BASE + 0x5000, SORT, EVAL, python_frame(2, 10), python_frame(1, 6), MAIN], 0)


def test_interpreter_frames_count_for_the_python_function_that_they_run(tmp_path: Path) -> None:
    log = interpreter(), *CODES, samples([IN_EVALUATOR, IN_SORT, IN_LIBRARY], [0, 1, 2, 2])
    profile = load_here(python_log(tmp_path, *log))
    assert stacks_of(profile) == {
        ("f1 app", "<module> src/app.py:4", "A.run src/app.py:14"): 1,
        ("f1 app", "<module> src/app.py:4", "A.run src/app.py:15"): 1,
        ("f1 app", "<module> src/app.py:4", "A.run src/app.py:15", "f5 app"): 2,
    }
    assert [(function.name, function.file, function.line) for function in profile.functions if function.file == "/src/app.py"] == [
        ("<module>", "/src/app.py", 1), ("A.run", "/src/app.py", 10)
    ]  # fmt: skip
    assert profile.processes[0].interpreter == "CPython 3.11.2" and not profile.messages


def test_interpreter_frames_are_shown_if_that_is_wanted(tmp_path: Path) -> None:
    log = interpreter(), *CODES, python_code(3, "(interpreter)", None), samples([IN_SORT, ([EVAL, MAIN, python_frame(3)], 0)], [0, 1])
    lib = LIB.rpartition("/")[2]
    assert stacks_of(load_here(python_log(tmp_path, *log), has_interpreter_frames=True)) == {
        ("f1 app", "<module> src/app.py:4", "A.run src/app.py:15", f"f2 {lib}", f"f3 {lib}"): 1,
        ("f1 app", f"f2 {lib}"): 1,
    }


def test_an_interpreter_that_runs_no_function_has_a_name(tmp_path: Path) -> None:
    codes = python_code(3, "(interpreter)", None), python_code(4, "(Python stack unreadable)", None)
    log = interpreter(), *codes, samples([([EVAL, python_frame(3)], 0), ([EVAL, python_frame(4)], 0)], [0, 1, 1])
    assert stacks_of(load_here(python_log(tmp_path, *log))) == {
        ("(interpreter) (interpreter)",): 1,
        ("(Python stack unreadable) (interpreter)",): 2,
    }


@pytest.mark.parametrize(
    ("told", "library"),
    [((interpreter("its version is not known"),), LIB), ((interpreter(start=0, end=0),), LIB), ((interpreter(),), "/usr/bin/blender"), ((), LIB)],
    ids=["its functions are not recorded", "its place is unknown", "a program of its own", "not told"],
)
def test_frames_are_folded_only_into_functions_of_a_known_interpreter(tmp_path: Path, told: tuple[bytes, ...], library: str) -> None:
    write_log(tmp_path, f"{PID}.0.log", begin(), clock(), mapping(library, LIBPYTHON), *told, *CODES, samples([IN_EVALUATOR], [0]))
    profile = load_here(tmp_path)
    evaluator = f"f2 {library.rpartition('/')[2]}"
    assert stacks_of(profile) == {("(no module) (no module)", "<module> src/app.py:4", "A.run src/app.py:14", evaluator): 1}


def test_functions_that_are_not_shown_are_a_warning(tmp_path: Path) -> None:
    profile = load_here(python_log(tmp_path, interpreter("Python 3.99 is not known"), samples([([EVAL, MAIN], 0)], [0])))
    assert [message.text for message in profile.messages] == ["Python functions are not shown: Python 3.99 is not known."]


def test_what_python_programs_call_is_shown_and_what_it_does_inside_is_not(tmp_path: Path) -> None:
    log = interpreter(), *CODES, samples([([LIBPYTHON + 0x2040, LIBPYTHON + 0x9010, *IN_EVALUATOR[0]], 0)], [0])
    assert stacks_of(load_here(python_log(tmp_path, *log))) == {
        ("f1 app", "<module> src/app.py:4", "A.run src/app.py:14", "list.sort libpython3.11.so.1.0"): 1
    }


def test_code_holds_before_it_is_told_and_other_mappings_change_nothing(tmp_path: Path) -> None:
    late = python_code(2, "A.run", first_line=10, at_ns=T0 + S)
    again = mapping(LIB, LIBPYTHON, at_ns=T0 + 2 * S, build_id=b"\x04")
    log = interpreter(), CODES[0], samples([IN_EVALUATOR], [0]), late, again, samples([IN_EVALUATOR], [0], at_ns=T0 + 3 * S)
    assert stacks_of(load_here(python_log(tmp_path, *log))) == {("f1 app", "<module> src/app.py:4", "A.run src/app.py:14"): 2}


def test_the_same_function_of_several_code_objects_and_processes_is_one(tmp_path: Path) -> None:
    for pid in (PID, PID + 1):
        twice = python_code(5, "A.run", first_line=10), python_code(6, "A.run", first_line=10)
        python_log(tmp_path, interpreter(), *twice, samples([([python_frame(5, pid % 2 * 2)], 0), ([python_frame(6)], 0)], [0, 1]), pid=pid)
    profile = load_here(tmp_path)
    assert len(profile.functions) == 1 and {frame.line for frame in profile.frames} == {10, 11}


def test_functions_without_a_name_are_told_apart_by_their_lines(tmp_path: Path) -> None:
    names = ["<lambda>", "<lambda>", "f.<locals>.<listcomp>", "f.<locals>.<listcomp>", "<module>", "<module>"]
    codes = [python_code(number, name, first_line=number) for number, name in enumerate(names, 1)]
    profile = load_here(python_log(tmp_path, interpreter(), *codes, samples([([python_frame(number)], 0) for number in range(1, 7)], range(6))))
    assert sorted((function.name, function.line) for function in profile.functions) == [
        ("<lambda>", 1), ("<lambda>", 2), ("<module>", 5), ("f.<locals>.<listcomp>", 3), ("f.<locals>.<listcomp>", 4)
    ]  # fmt: skip
    assert find_functions(profile, "<lambda>:2").found == tuple(index for index, function in enumerate(profile.functions) if function.line == 2)


class StartingSymbolizer(ArithmeticSymbolizer):
    """Function f1 of libc starts threads."""

    def locate_chains(self, path: str, *arguments: Any, **more: Any) -> dict[int, tuple[Location, ...]]:
        located = super().locate_chains(path, *arguments, **more)
        is_libc = path.endswith("/libc.so.6")
        return {at: (one._replace(function="start_thread"),) if is_libc and one.function == "f1" else (one,) for at, (one,) in located.items()}


@pytest.mark.parametrize("has_interpreter_frames", [False, True])
@pytest.mark.parametrize("again", [(), (mapping("/lib/libc.so.6", C_LIBRARY, at_ns=T0 + 9 * S, build_id=b""),)], ids=["", "mapped twice"])
def test_what_starts_threads_is_no_caller_of_a_python_function(tmp_path: Path, again: tuple[bytes, ...], has_interpreter_frames: bool) -> None:
    """Elsewhere, and where the thread is in it, it is shown."""
    start, memcpy = C_LIBRARY + 0x1008, C_LIBRARY + 0x2000
    stacks = samples([([memcpy, EVAL, python_frame(2, 8), start], 0), ([start], 0)], [0, 1])
    python_log(tmp_path, interpreter(), *CODES, mapping("/lib/libc.so.6", C_LIBRARY), *again, stacks)
    write_log(tmp_path, "7.0.log", begin(7), clock(), mapping("/lib/libc.so.6", C_LIBRARY), samples([([memcpy, start], 0)], [0], thread=7))
    profile = load_both_ways(tmp_path, symbolizer=StartingSymbolizer(), has_interpreter_frames=has_interpreter_frames)
    root = ("start_thread libc.so.6",)
    folded = (*root, "A.run src/app.py:14", "f2 libpython3.11.so.1.0") if has_interpreter_frames else ("A.run src/app.py:14",)
    assert stacks_of(profile) == {(*folded, "f2 libc.so.6"): 1, root: 1, (*root, "f2 libc.so.6"): 1}


def test_a_forked_child_has_its_parents_interpreter(tmp_path: Path) -> None:
    fork = record(Kind.PROCFORK, T0 + 10, 0, parent_pid=PID, child_pid=PID + 1)
    python_log(tmp_path, interpreter(), fork)
    write_log(tmp_path, f"{PID + 1}.0.log", begin(PID + 1, T0 + 20, ppid=PID), fork, clock(), mapping(LIB, LIBPYTHON), *CODES, samples([IN_EVALUATOR], [0], thread=PID + 1))
    profile = load_plain(tmp_path, symbolizer=ArithmeticSymbolizer())
    assert [stack[-1] for stack in stacks_of(profile)] == ["A.run src/app.py:14"]


def test_trampolines_stand_beside_the_functions_that_they_run(tmp_path: Path) -> None:
    objects = tmp_path / "objects"
    objects.mkdir()
    (objects / f"perf-{PID}.map").write_text("7e0000000000 10 py::A.run:/src/app.py\n7e0000000010 10 other\n")
    stack = [EVAL, python_frame(2, 8), 0x7E0000000006, EVAL, python_frame(1, 6), 0x7E0000000016, MAIN], 0
    profile = load_here(python_log(tmp_path, interpreter(), *CODES, samples([stack], [0])))
    assert [name.split()[0] for name in next(iter(stacks_of(profile)))] == ["f1", "other", "<module>", "A.run"]


@pytest.mark.parametrize(
    ("file", "directory", "name"),
    [
        ("/usr/lib/python3.11/json/decoder.py", "/", "json/decoder.py"),
        ("/root/.pyenv/versions/3.9.18/lib/python3.9/asyncio/base_events.py", "/root", "asyncio/base_events.py"),
        ("/opt/conda/lib/python3.12/site-packages/numpy/core/numeric.py", "/opt", "numpy/core/numeric.py"),
        ("/usr/lib/python3/dist-packages/apt/cache.py", "/", "apt/cache.py"),
        ("/opt/lib/python3.13t/os.py", "/", "os.py"),
        ("/work/project/app/views.py", "/work/project", "app/views.py"),
        ("/work/project/app/views.py", "/work/project/", "app/views.py"),
        ("/work/project/app/views.py", "/work/pro", "app/views.py"),
        ("/work/project/app/views.py", "", "app/views.py"),
        ("/a.py", "/", "a.py"),
        ("/a.py", "", "a.py"),
        ("<frozen importlib._bootstrap>", "/", "<frozen importlib._bootstrap>"),
        ("<string>", "/tmp", "<string>"),
    ],
)
def test_a_module_is_named_as_programs_import_it(file: str, directory: str, name: str) -> None:
    assert module_name(file, directory) == name


def test_relative_names_count_from_where_the_process_was_started(tmp_path: Path) -> None:
    codes = python_code(1, "f", "pkg/../tool.py"), python_code(2, "g", "<string>"), python_code(3, "h", "")
    profile = load_here(python_log(tmp_path, interpreter(), *codes, samples([([python_frame(n) for n in (1, 2, 3)], 0)], [0]), directory="/home/me"))
    assert sorted((function.name, function.file or "", profile.modules[function.module].name) for function in profile.functions) == [
        ("f", "/home/me/tool.py", "tool.py"), ("g", "<string>", "<string>"), ("h", "", "(unnamed)")
    ]  # fmt: skip
