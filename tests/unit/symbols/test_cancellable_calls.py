"""test_cancellable_calls -- the makers of system calls in a stripped C library are known by their code, and no other function"""

from __future__ import annotations

import platform
import shutil
import subprocess
from pathlib import Path

import pytest

from collector.symbols.cancellable_calls import name_cancellable_calls
from collector.symbols.function_table import build_function_table
from collector.symbols.module_record import open_file
from collector.symbols.terms import CANCELLABLE_CALLS

SOURCE = Path(__file__).parents[2] / "targets" / "cancellable_library.c"

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="not an x86-64 processor: the code is that of one")


@pytest.mark.parametrize("flags", ["-O2", "-O1 -fno-omit-frame-pointer", "-O2 -fcf-protection=none"])
def test_they_are_named_where_symbols_are_gone(tmp_path: Path, flags: str) -> None:
    if not shutil.which("gcc") or not shutil.which("objcopy"):
        pytest.skip("this system has no gcc and objcopy")
    whole, stripped = tmp_path / "whole.so", tmp_path / "libc.so.6"
    subprocess.run(["gcc", "-shared", "-fPIC", "-DLIBRARY", *flags.split(), SOURCE, "-o", whole], check=True)
    subprocess.run(["objcopy", "--strip-all", whole, stripped], check=True)
    symbols = {line.split()[2]: int(line.split()[0], 16) for line in subprocess.check_output(["nm", whole], text=True).splitlines() if len(line.split()) == 3}
    with open_file(str(stripped), "image") as image:
        table = build_function_table(image)
        names = name_cancellable_calls(image, table)
        assert names == {symbols[name]: name for name in CANCELLABLE_CALLS}
        named = table.with_names(names)
        assert [named.range_at(named.index_of(symbols[name])).name for name in (*CANCELLABLE_CALLS, "other", "nap")] == [*CANCELLABLE_CALLS, "", "nap"]
    with open_file(str(whole), "image") as image:
        assert name_cancellable_calls(image, build_function_table(image)) == {}
