"""test_remote -- stacks of threads that wait, from outside: each must be what the thread's own unwinder saw just before"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import compiled
import pytest
from compiled import SANITIZED, WARNINGS
from test_unwind import SOURCE, TARGETS, THOROUGH, UNWINDER, run

HERE = Path(__file__).parent
WALKER = [
    *(f"experiment/{name}" for name in ("crc32", "directory", "event_fields", "log_windows", "log_writer", "msgpack", "open_slots", "record", "sparse_file")),
    *(f"target/{name}" for name in ("exported_symbols", "python_code", "python_layout", "python_locations", "python_runtime", "remote_interpreter")),
    *(f"sample/{name}" for name in ("python_frames", "python_stack", "remote_process")),
]
NAME_COUNT = 61  # of waiting.c: some threads tell twice, the second time from farther down
KILLED_WITH_US = 1  # PR_SET_PDEATHSIG
SECONDS = 60
COMPLETE, UNREADABLE, BAD_PC, BAD_FRAME = 0, 4, 5, 6  # of StackEnd


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not shutil.which("gcc"):
        pytest.skip("no gcc: the unwinder cannot be compiled")
    return tmp_path_factory.mktemp("remote")


def linked(directory: Path, name: str, *options: str) -> Path:
    """tests/c/NAME.c with the walker."""
    return compiled.program(directory.parent, HERE / f"{name}.c", [*UNWINDER, *(SOURCE / f"{part}.c" for part in WALKER)], *options, more=WARNINGS)


def looker(directory: Path, *options: str) -> Path:
    """tests/c/remote_stacks.c."""
    return linked(directory, "remote_stacks", *options)


@cache
def waiting(directory: Path, compiler: str, *options: str) -> Path:
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler}")
    source = TARGETS / ("waiting.cpp" if compiler == "g++" else "waiting.c")
    target = directory / "-".join([source.stem, compiler, *(option.lstrip("-") for option in options)])
    run([compiler, "-g", "-w", *options, source, "-o", target, "-lpthread"])
    return target


@contextmanager
def running(command: list[str | Path], directory: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A program that ends when its standard input does, or with us."""
    libc = ctypes.CDLL(None)
    child = subprocess.Popen(command, cwd=directory, stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=lambda: libc.prctl(KILLED_WITH_US, 9))
    try:
        yield child
    finally:
        child.kill()
        child.communicate()


@dataclass(frozen=True, slots=True)
class Stack:
    """Leaf first."""

    end: int
    pcs: tuple[int, ...]

    def comes_from(self, callers: tuple[int, ...]) -> bool:
        """True if it ends with these return addresses and is complete. Frames that no call has led to count from the instruction behind (unwind.h)."""
        outer = self.pcs[-len(callers) :]
        are_same = len(outer) == len(callers) and all(pc - told in (0, 1) for pc, told in zip(outer, callers, strict=True))
        return self.end == COMPLETE and are_same and 1 <= len(self.pcs) - len(callers) <= 16


def parsed(output: str) -> dict[int, Stack]:
    lines = [line.split() for line in output.splitlines() if line]
    return {int(thread): Stack(int(end), tuple(int(pc, 16) for pc in pcs)) for thread, end, *pcs in lines}


def expected(child: subprocess.Popen[bytes], count: int) -> dict[int, tuple[str, tuple[int, ...]]]:
    """By thread: what it waits for, and its return addresses. Each thread tells them before it waits; the last line of a thread counts."""
    assert child.stdout is not None
    told = {}
    names: set[str] = set()
    while len(names) < count:
        thread, name, *pcs = child.stdout.readline().decode().split()
        told[int(thread)] = name, tuple(int(pc, 16) for pc in pcs)
        names.add(name)
    return told


def wrong_stacks(command: list[str | Path], told: dict[int, tuple[str, tuple[int, ...]]]) -> dict[str, Stack | None]:
    """Those that never were what they should be, while every thread comes to its wait and stays there."""
    until = time.monotonic() + SECONDS
    wrong: dict[str, Stack | None] = {"": None}
    while wrong and time.monotonic() < until:
        seen = parsed(run(command))
        wrong = {name: seen.get(thread) for thread, (name, pcs) in told.items() if thread not in seen or not seen[thread].comes_from(pcs)}
    return wrong


@pytest.mark.parametrize(
    ("compiler", "options"),
    [
        ("gcc", ("-O0",)),
        ("gcc", ("-O2",)),
        ("gcc", ("-O2", "-fno-omit-frame-pointer")),
        ("gcc", ("-O2", "-static")),
        ("gcc", ("-O1", "-no-pie", "-fcf-protection=none")),
        ("clang", ("-O0",)),
        ("clang", ("-O2",)),
    ],
    ids=lambda value: value if isinstance(value, str) else "".join(value),
)
def test_every_wait(build: Path, tmp_path: Path, compiler: str, options: tuple[str, ...]) -> None:
    with running([waiting(build, compiler, *options)], tmp_path) as child:
        told = expected(child, NAME_COUNT)
        assert not wrong_stacks([looker(build, "-O2"), str(child.pid)], told)


def test_memory_where_the_call_is_refused(build: Path, tmp_path: Path) -> None:
    with running([waiting(build, "gcc", "-O0")], tmp_path) as child:
        told = expected(child, NAME_COUNT)
        assert not wrong_stacks([looker(build, "-O2"), "-f", str(child.pid)], told)


@pytest.mark.parametrize("request_line", ["look\n", "changed\n"], ids=["noticed", "told"])
def test_another_program_in_the_same_process(build: Path, tmp_path: Path, request_line: str) -> None:
    """The walker notices by itself that a pc lies in no code it knows, or is told."""
    program = waiting(build, "gcc", "-O2")
    with (
        running(["bash", "-c", f"read line; exec {program}"], tmp_path) as child,
        subprocess.Popen([looker(build, "-O2"), "-i", str(child.pid)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as tool,
    ):
        assert child.stdin and tool.stdin and tool.stdout

        def look(line: str) -> dict[int, Stack]:
            assert tool.stdin and tool.stdout
            tool.stdin.write(line)
            tool.stdin.flush()
            return parsed("".join(iter(tool.stdout.readline, "\n")))

        until = time.monotonic() + SECONDS
        while (first := look("look\n").get(child.pid)) is None or first.end != COMPLETE:
            assert time.monotonic() < until, first
        child.stdin.write(b"go on\n")
        child.stdin.flush()
        name, callers = expected(child, NAME_COUNT)[child.pid]
        while (stack := look(request_line).get(child.pid)) is None or not stack.comes_from(callers):
            assert time.monotonic() < until, (name, stack)
        tool.stdin.close()


BUSY = """
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static int down(unsigned *seed, int depth)
{
    char *local = __builtin_alloca(16 + rand_r(seed) % 300);
    memset(local, depth, 16);
    if (depth > 0)
        return down(seed, depth - 1) + local[3];
    nanosleep(&(struct timespec){0, rand_r(seed) % 100000}, NULL);
    void *library = rand_r(seed) % 8 == 0 ? dlopen("libresolv.so.2", RTLD_NOW) : NULL;
    return library != NULL ? dlclose(library) : 0;
}
static void *run(void *seed)
{
    for (unsigned number = (unsigned)(size_t)seed;;)
        down(&number, rand_r(&number) % 60);
    return NULL;
}
int main(void)
{
    pthread_t thread;
    for (size_t i = 0; i < 6; i++)
        pthread_create(&thread, NULL, run, (void *)i);
    char byte;
    return (int)read(0, &byte, 1);
}
"""


def test_a_process_that_changes_all_the_time(build: Path, tmp_path: Path) -> None:
    """Stacks may be torn then, but nothing is read past its end, and there is an answer to each look."""
    (tmp_path / "busy.c").write_text(BUSY)
    run(["gcc", "-O2", "-w", tmp_path / "busy.c", "-o", tmp_path / "busy", "-lpthread", "-ldl"])
    tool = looker(build, *SANITIZED)  # the process changes all the time that this is compiled, too
    with running([tmp_path / "busy"], tmp_path) as child:
        words = run([tool, "-n", "300" if THOROUGH else "150", str(child.pid)]).split()
    ends = [int(word) for word in words[words.index("ends") + 1 :]]
    assert sum(ends) == int(words[words.index("walks") + 1]) > 0
    assert ends[COMPLETE] > 0.5 * sum(ends), words


@pytest.mark.parametrize("seed", ["1", "2"])
def test_a_process_that_lies(build: Path, seed: str) -> None:
    """Tables, headers, code and stack changed at random: each walk ends, in every way there is, and reads no more than it has copied."""
    count = 1600 if THOROUGH else 800
    ends = [int(word) for word in run([linked(build, "remote_fuzz", *SANITIZED), str(count), seed]).split()]
    assert sum(ends) == count
    assert all(ends[end] > 0 for end in (COMPLETE, UNREADABLE, BAD_PC, BAD_FRAME)), ends
