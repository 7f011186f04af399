"""test_find_program -- what a command runs, and what keeps a recorder out of it"""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from collector.capture.elf_header import read_elf_header
from collector.capture.program import CannotRun, Obstacle, find_program

MAIN = "int main(void) { return 0; }"
Compile = Callable[..., Path]


def make_script(path: Path, first_line: str, mode: int = 0o755) -> str:
    path.write_text(f"{first_line}\necho hello\n")
    path.chmod(mode)
    return str(path)


@pytest.mark.parametrize("flags", [(), ("-pie",), ("-no-pie",)])
def test_dynamic_programs_can_be_recorded(compile_c: Compile, recorder: str, flags: tuple[str, ...]) -> None:
    program = find_program(str(compile_c(MAIN, *flags)), "", recorder)
    assert (program.obstacle, program.reason) == (None, "")


@pytest.mark.parametrize("flags", [("-static",), ("-static-pie",)])
def test_static(compile_c: Compile, recorder: str, flags: tuple[str, ...]) -> None:
    path = compile_c(MAIN, *flags)
    program = find_program(str(path), "", recorder)
    assert program.obstacle is Obstacle.STATIC
    assert program.reason == f"{path} is statically linked, so that no recorder can be preloaded into it"


def test_other_processor(compile_c: Compile, recorder: str) -> None:
    program = find_program(str(compile_c(MAIN, compiler="aarch64-linux-gnu-gcc")), "", recorder)
    assert program.obstacle is Obstacle.FOREIGN
    assert "(aarch64)" in program.reason


def test_32_bits(tmp_path: Path, compile_c: Compile, recorder: str) -> None:
    """An x86-64 program whose header is made to say i386, as no compiler for that need be here."""
    content = bytearray(compile_c(MAIN).read_bytes())
    content[18:20] = (3).to_bytes(2, "little")
    (tmp_path / "old").write_bytes(content)
    (tmp_path / "old").chmod(0o755)
    program = find_program(str(tmp_path / "old"), "", recorder)
    assert program.obstacle is Obstacle.FOREIGN
    assert "(i386)" in program.reason


def test_other_c_library(compile_c: Compile, recorder: str) -> None:
    path = compile_c(MAIN, "-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1")
    program = find_program(str(path), "", recorder)
    assert program.obstacle is Obstacle.OTHER_LIBC
    assert "(ld-musl-x86_64.so.1)" in program.reason


def test_the_dynamic_linker_is_no_static_program(compile_c: Compile, recorder: str) -> None:
    header = read_elf_header(str(compile_c(MAIN)))
    assert header is not None and header.interpreter
    assert find_program(header.interpreter, "", recorder).obstacle is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a program of another user")
@pytest.mark.parametrize(("mode", "obstacle"), [(0o4755, Obstacle.SETUID), (0o2755, Obstacle.SETGID), (0o755, None)])
def test_rights_of_others(compile_c: Compile, recorder: str, mode: int, obstacle: Obstacle | None) -> None:
    path = compile_c(MAIN)
    if os.statvfs(path).f_flag & os.ST_NOSUID:
        pytest.skip(f"{path} is on a file system that is mounted nosuid")
    os.chown(path, 65534, 65534)
    path.chmod(mode)
    assert find_program(str(path), "", recorder).obstacle is obstacle


def test_own_setuid_program_can_be_recorded(compile_c: Compile, recorder: str) -> None:
    """It gains nothing by its bit, so ld.so preloads into it."""
    path = compile_c(MAIN)
    path.chmod(0o4755)
    assert find_program(str(path), "", recorder).obstacle is None


def test_path_search_takes_the_first_that_can_be_run(tmp_path: Path, recorder: str) -> None:
    for directory in ("first", "second", "third"):
        (tmp_path / directory).mkdir()
    make_script(tmp_path / "first/tool", "#!/bin/sh", mode=0o644)
    make_script(tmp_path / "third/tool", "#!/bin/sh")
    search = ":".join(str(tmp_path / directory) for directory in ("first", "second", "third"))
    program = find_program("tool", search, recorder)
    assert program.path == str(tmp_path / "third/tool")
    assert program.interpreters == ("/bin/sh",)


def test_script_of_a_script(tmp_path: Path, recorder: str) -> None:
    inner = make_script(tmp_path / "inner", "#! /bin/sh -e")
    outer = make_script(tmp_path / "outer", f"#!{inner}")
    program = find_program(outer, "", recorder)
    assert program.interpreters == (inner, "/bin/sh")
    assert program.binary == "/bin/sh"


def test_script_of_a_static_interpreter(tmp_path: Path, compile_c: Compile, recorder: str) -> None:
    interpreter = compile_c(MAIN, "-static", name="interpreter")
    program = find_program(make_script(tmp_path / "script", f"#!{interpreter}"), "", recorder)
    assert program.obstacle is Obstacle.STATIC
    assert program.reason.startswith(f"{interpreter} is statically linked")


def test_text_without_interpreter_goes_to_the_shell(tmp_path: Path, recorder: str) -> None:
    program = find_program(make_script(tmp_path / "plain", ": nothing"), "", recorder)
    assert program.is_text
    assert program.start_with(["plain", "a"]) == ("/bin/sh", ["/bin/sh", str(tmp_path / "plain"), "a"])


@pytest.mark.parametrize(
    ("make", "status", "words"),
    [
        (lambda path: None, 127, "there is no such file"),
        (lambda path: path.mkdir(), 126, "is a directory"),
        (lambda path: make_script(path, "#!/bin/sh", mode=0o644), 126, "is not executable"),
        (lambda path: make_script(path, "#!/nosuch/interpreter"), 126, "its interpreter /nosuch/interpreter is missing"),
        (lambda path: make_script(path, f"#!{path}"), 126, "names no interpreter that can run it"),
        (lambda path: make_script(path, "#!"), 126, "names no interpreter"),
    ],
)
def test_what_cannot_be_run(tmp_path: Path, recorder: str, make: Callable[[Path], object], status: int, words: str) -> None:
    make(tmp_path / "thing")
    with pytest.raises(CannotRun, match=words) as caught:
        find_program(str(tmp_path / "thing"), "", recorder)
    assert caught.value.status == status


def test_status_is_the_one_of_a_shell(tmp_path: Path, recorder: str) -> None:
    """bash gives the same numbers for each of these."""
    (tmp_path / "directory").mkdir()
    make_script(tmp_path / "locked", "#!/bin/sh", mode=0o644)
    for name in ("nosuch", "directory", "locked"):
        shell = subprocess.run(["bash", "-c", f'"{tmp_path / name}"'], stderr=subprocess.DEVNULL)
        with pytest.raises(CannotRun) as caught:
            find_program(str(tmp_path / name), "", recorder)
        assert caught.value.status == shell.returncode


def test_not_in_path(recorder: str) -> None:
    with pytest.raises(CannotRun, match="no such program in PATH") as caught:
        find_program("no-such-program-anywhere", "/bin:/usr/bin", recorder)
    assert caught.value.status == 127


def test_damaged_headers_are_no_trouble(tmp_path: Path, compile_c: Compile) -> None:
    """Every answer is a header or None; nothing raises, nothing hangs."""
    original = compile_c(MAIN).read_bytes()[:4096]
    random_numbers = random.Random(1)
    damaged = tmp_path / "damaged"
    for _ in range(2000):
        content = bytearray(original)
        for _ in range(random_numbers.randrange(1, 8)):
            content[random_numbers.randrange(4, 1024)] = random_numbers.randrange(256)
        damaged.write_bytes(content[: random_numbers.choice([30, 60, 200, 4096])])
        read_elf_header(str(damaged))
