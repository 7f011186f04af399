"""test_signal_safety -- what a tick can reach calls nothing of the C library but what is safe in a signal handler"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Of the C library: these only read and write the memory they are given.
PURE = {"memcpy", "memset", "memchr", "memcmp", "memmem", "strlen", "strnlen", "strcmp", "strncmp", "strchr", "strrchr", "strcspn", "strstr"}
# And these are on the list of signal-safety(7), or a system call and nothing else.
SAFE = {"__errno_location", "prctl", "sigaddset", "sigdelset", "sigemptyset", "sigfillset", "sigismember", "sigorset", "fstat", "stat", "geteuid", "pread", "pwrite", "rename", "uname", "readlink"}
# The dynamic linker's answer to "which object is this?", made for signal handlers; and what the linker itself needs.
LINKER = {"_dl_find_object", "_GLOBAL_OFFSET_TABLE_", "__stack_chk_fail"}

# Functions of these files that only ordinary code calls, each with what it calls there.
ORDINARY = {
    "sample/clock_source": {"snprintf", "strerror", "__isoc99_sscanf", "__isoc23_sscanf", "clock_getres"},  # the self-test, at the start
    "experiment/directory": {"snprintf"},  # a log's names, when it is opened
    "target/code_finder": {"dl_iterate_phdr"},  # refresh, for C libraries without _dl_find_object
    "target/modules": {"dl_iterate_phdr"},  # the list at the start and after dlclose
    "base/clock": {"getauxval"},  # finds the vdso, once
    "base/os": {"getauxval"},  # the size of a page, once
    "base/real": {"dlsym"},  # all names are looked up at the start
    "control/signals": {"dlsym"},  # the same, by the inlined COL_REAL
}
FOLDERS = ("base", "experiment", "target", "sample")


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    for tool in ("make", "nm"):
        if not shutil.which(tool):
            pytest.skip(f"{tool} is not installed")
    build = tmp_path_factory.mktemp("objects")
    done = subprocess.run(["make", "-j4", "-C", ROOT / "libcollector_c", f"BUILD={build}", f"{build}/libcollector.so"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    source = build / "obj" / "recorder" / "src"
    return [*(path for folder in FOLDERS for path in sorted((source / folder).glob("*.o"))), source / "control" / "signals.o"]


def undefined(path: Path) -> set[str]:
    lines = subprocess.run(["nm", "-u", path], capture_output=True, text=True, check=True).stdout.split("\n")
    return {line.split()[-1].split("@")[0] for line in lines if line.strip()}


def test_only_safe_functions_are_called(objects: list[Path]) -> None:
    assert len(objects) > 40
    unsafe = {}
    for path in objects:
        name = f"{path.parent.name}/{path.stem}"
        foreign = {symbol for symbol in undefined(path) if not symbol.startswith("col_")}
        unsafe[name] = foreign - PURE - SAFE - LINKER - ORDINARY.get(name, set())
    assert not {name: symbols for name, symbols in unsafe.items() if symbols}
